"""`heliograph sites`: the reflective calls of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cli.exits import usage
from cli.naming import MethodName, Names
from cli.openings import Openings, sentence
from cli.present import write_line, write_styled
from cli.run import Run
from cli.site_flows import SiteFlows, target_name
from cli.summary import application_sites
from cli.text import quoted, short_name
from cypher.schema import NONE
from engine import heap
from engine.openness import CORRECT_CASTS, SPECIFICATION
from engine.result import PARTIAL, RESOLVED, UNRESOLVED, NameSource, ReflectiveSite, Result

_SHOWN = 4  # targets, constants and unknown values of a call
# What may come to a call, as JSON lists it.
SOURCES = 20
# The targets of which it says why the call has them.
DERIVATIONS = 100
_LEANS = {CORRECT_CASTS: "by casts", SPECIFICATION: "as specified"}
_STYLES = {RESOLVED: "green", PARTIAL: "yellow", UNRESOLVED: "red"}


class SiteRow(NamedTuple):
    """A reflective call by name. `sources` are (kind, text): constants, and what is unknown."""

    caller: MethodName
    line: int
    offset: int
    api: str
    status: str
    targets: tuple[str, ...]
    reason: str
    sources: tuple[tuple[str, str], ...]
    site: ReflectiveSite

    @property
    def name(self) -> str:
        """Returns the name of the site by its bytecode offset."""
        return f"{self.caller}@{self.offset}"

    def document(self, flows: SiteFlows, openings: Openings, whole: bool) -> dict[str, Any]:
        """Returns the row for programs, with what flows to the call, why it has its targets, and why it is open.

        Unless it is to be `whole`, that is so of the SOURCES nearest and the first DERIVATIONS.
        """
        sources, omitted = flows.sources(self.site, None if whole else SOURCES)
        derivations, underived = flows.derivations(self.site, None if whole else DERIVATIONS)
        return {
            "site": self.name,
            "caller": self.caller.qualified,
            "callerDescriptor": self.caller.descriptor,
            "line": self.line,
            "offset": self.offset,
            "api": self.api,
            "status": self.status,
            "targets": list(self.targets),
            "derivations": derivations,
            "derivationsOmitted": underived,
            "reason": self.reason,
            "assumes": list(self.site.assumes),
            "causes": list(openings.causes(self.site)),
            "sources": sources,
            "sourcesOmitted": omitted,
        }


def rows(run: Run, everything: bool, status: str | None = None) -> list[SiteRow]:
    """Returns the reflective calls of application code, or of all code, by name. Raises `Failure`."""
    if status not in (None, RESOLVED, PARTIAL, UNRESOLVED):
        raise usage(f"there is no status {status}: choose {RESOLVED}, {PARTIAL} or {UNRESOLVED}")
    result, names = run.result, run.names
    chosen: Sequence[ReflectiveSite] = result.reflective if everything else application_sites(result, names)
    sites = np.array([each.site for each in chosen], np.int32)
    methods, offsets = result.sites.method[sites], result.sites.offset[sites]
    lines = names.lines(methods, offsets)
    found = [
        _row(result, names, each, method, offset, line)
        for each, method, offset, line in zip(
            chosen, methods.tolist(), offsets.tolist(), lines.tolist(), strict=True
        )
        if status in (None, each.status)
    ]
    return sorted(
        found, key=lambda each: (each.caller.qualified, each.line, each.caller.descriptor, each.offset)
    )


def _row(result: Result, names: Names, site: ReflectiveSite, method: int, offset: int, line: int) -> SiteRow:
    targets = tuple(sorted(target_name(names, each) for each in site.targets))
    sources = tuple(dict.fromkeys(_source(result, names, each) for each in site.sources))
    caller = names.method(method)
    return SiteRow(caller, line, offset, site.api, site.status, targets, site.reason, sources, site)


def documents(
    run: Run, found: Sequence[SiteRow], *, whole: bool = False, facts: bool = False
) -> list[dict[str, Any]]:
    """Returns the calls for programs; all that is known of each if they are to be `whole`.

    With `facts`, steps name the rows of the run that say so.
    """
    flows, openings = SiteFlows(run, facts=facts), Openings(run)
    return [each.document(flows, openings, whole) for each in found]


def _source(result: Result, names: Names, source: NameSource) -> tuple[str, str]:
    """Returns kind and text of a source; the text of an unknown one says where it begins."""
    return source.kind, source.text if source.kind == "constant" or source.obj < 0 else _origin(
        result, names, source.obj
    )


def _origin(result: Result, names: Names, obj: int) -> str:
    objects = result.objects
    kind, method = int(objects.kind[obj]), int(objects.method[obj])
    type_ = names.type(int(objects.type[obj]))
    if kind in (heap.NATIVE, heap.UNKNOWN) and method != NONE and int(objects.offset[obj]) == NONE:
        return f"returned by native {names.method(method)}"
    if kind == heap.ENTRY:
        return f"{type_} from outside the program"
    if method == NONE:
        return type_
    line = names.line(method, int(objects.offset[obj]))
    return f"{type_} of {names.method(method).qualified}{f':{line}' if line >= 0 else ''}"


def write(run: Run, found: Sequence[SiteRow], everything: bool) -> None:
    """Prints the calls, each with its targets, what is unknown of it and why it is open, and the counts by status."""
    if not found:
        more = "" if everything else "; --all shows those in libraries"
        write_line(f"no reflective call{more}")
        return
    openings = Openings(run)
    for row in found:
        write_styled(_headline(row))
        if because := sentence(openings.causes(row.site)):
            write_line(f"    open: {because}")
        for line in _details(row):
            write_line(f"    {line}")
    counts = Counter(each.status for each in found)
    parts = ", ".join(f"{counts[each]} {each}" for each in (RESOLVED, PARTIAL, UNRESOLVED))
    write_line()
    write_line(f"{len(found)} reflective call{'s' if len(found) != 1 else ''}: {parts}")


def _headline(row: SiteRow) -> Iterator[tuple[str, str]]:
    """Yields the parts of the line of a call, with their styles."""
    yield f"{row.caller.qualified}:{row.line}" if row.line >= 0 else row.name, "bold"
    yield f"  {short_name(row.api)}  ", ""
    yield row.status, _STYLES[row.status]
    if row.reason or row.site.assumes:
        yield (
            f" ({', '.join([row.reason] * bool(row.reason) + [_LEANS[each] for each in row.site.assumes])})",
            "",
        )


def _details(row: SiteRow) -> Iterator[str]:
    """Yields the lines below that of a call, a few of each kind."""
    constants = [quoted(text) for kind, text in row.sources if kind == "constant"] if not row.targets else []
    unknown = [f"may be {text}" for kind, text in row.sources if kind == "unknown" and not row.site.assumes]
    for lines in ([f"→ {each}" for each in row.targets], constants, unknown):
        yield from lines[:_SHOWN]
        if len(lines) > _SHOWN:
            yield f"… {len(lines) - _SHOWN} more"
