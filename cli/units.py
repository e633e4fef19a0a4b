"""Units of archives: from the cache, or translated and kept there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cli.folders import cache_root
from cli.progress import Progress
from cypher.schema import Diagnostic
from loader import cache
from loader.archives import Archive
from loader.manifest import Manifest
from loader.translate import translate
from loader.unit import Unit


def units_of(
    archives: Sequence[Archive], cached: bool, progress: Progress, report: list[Diagnostic]
) -> list[Unit]:
    """Returns the unit of each archive; its diagnostics hold what was found while the archive was read.

    What is odd about the cache is added to `report`.
    """
    return [_unit_of(each, cached, progress, report) for each in archives]


def _unit_of(archive: Archive, cached: bool, progress: Progress, report: list[Diagnostic]) -> Unit:
    if not cached:
        return _translated(archive, progress)
    root = cache_root()
    unit = cache.load(root, archive.digest, report)
    if unit is None:
        unit = _translated(archive, progress)
        cache.store(root, archive.digest, unit, report)
        return unit
    progress.detail(f"{archive.label}: translated before")
    # The archive may have had another name then.
    unit.diagnostics = [replace(each, archive=archive.label) for each in unit.diagnostics]
    return unit


def _translated(archive: Archive, progress: Progress) -> Unit:
    number = len(archive.class_names())
    progress.detail(f"{archive.label}: translating {number:,} classes")
    with progress.bar(f"reading {archive.label}", number) as advance:
        unit = translate(
            archive.classes(),
            archive.label,
            lambda done: advance(done, f"{done:,} of {number:,} classes"),
            archive.services(),
            Manifest(archive.manifest),
        )
    unit.diagnostics = [*archive.diagnostics, *unit.diagnostics]
    return unit
