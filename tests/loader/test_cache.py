"""Units on disk: read back as they were, or not at all."""

import json
import os
import stat
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cypher.schema import Diagnostic
from loader import cache
from loader.unit import Unit
from tests.loader.rawclass import RawClass, unit_of

DIGEST = "0123456789abcdef" * 4
OTHER = "fedcba9876543210" * 4


@pytest.fixture
def unit() -> Unit:
    raw = RawClass(superclass="no/Such\udc80".encode("utf-8", "replace").decode())
    call = raw.pool.method("b/C", "go", "(La;)La;")
    raw.method(b"\x2a\xb8" + struct.pack(">H", call) + b"\xb0", "(La;)La;").method(b"\x57\xb1", name="bad")
    found = unit_of(raw)
    found.diagnostics.append(Diagnostic("X", "note", "a lone \ud800", "none", "archive", "entry", "m", 3))
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "heliograph"


def file_of(root: Path) -> Path:
    """Returns the one file of the cache."""
    (path,) = (root / "units").iterdir()
    return path


def same(one: Unit, other: Unit) -> bool:
    """Returns whether two units are equal, down to the types of their arrays."""
    arrays = list(zip(cache._arrays(one), cache._arrays(other), strict=True))
    equal = all(
        first == second and left.dtype == right.dtype and np.array_equal(left, right)
        for (first, left), (second, right) in arrays
    )
    return equal and one.diagnostics == other.diagnostics


def assert_refused(root: Path, unit: Unit) -> None:
    """Asserts that the file is passed over with a note, and then replaced."""
    report: list[Diagnostic] = []
    assert cache.load(root, DIGEST, report) is None
    assert [(each.code, each.severity) for each in report] == [("CACHE-BAD", "note")]
    assert cache.store(root, DIGEST, unit, report)
    again = cache.load(root, DIGEST)
    assert again is not None
    assert same(unit, again)


def test_what_is_stored_is_loaded(root: Path, unit: Unit) -> None:
    report: list[Diagnostic] = []
    assert cache.load(root, DIGEST, report) is None
    assert cache.store(root, DIGEST, unit, report)
    found = cache.load(root, DIGEST, report)
    assert found is not None
    assert same(unit, found)
    assert cache.load(root, OTHER, report) is None
    assert report == []


def test_every_array_of_a_unit_is_kept(unit: Unit) -> None:
    assert {name for name, _ in cache._arrays(unit)} == cache._names()
    assert {name.split("/")[0] for name in cache._names()} == {each.name for each in fields(Unit)} - {
        "diagnostics"
    }


def test_loaded_arrays_cannot_be_written_to(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    found = cache.load(root, DIGEST)
    assert found is not None
    with pytest.raises(ValueError, match="read-only"):
        found.class_type[0] = 7


def test_s10_nobody_else_may_read(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (root, root / "units", file_of(root))]
    assert modes == [0o700, 0o700, 0o600]
    root.chmod(0o777)
    cache.store(root, DIGEST, unit)
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


def test_d01_each_flipped_bit_is_noticed(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    path = file_of(root)
    whole = path.read_bytes()
    for place in [*range(256), *range(256, len(whole), 4099)]:
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        assert cache.load(root, DIGEST) is None, place
    assert_refused(root, unit)


def test_d01_each_truncation_is_noticed(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    path = file_of(root)
    whole = path.read_bytes()
    for size in [0, 1, 39, 40, 4096, len(whole) // 2, len(whole) - 4096, len(whole) - 1]:
        path.write_bytes(whole[:size])
        assert_refused(root, unit)
    path.write_bytes(whole + bytes(4096))
    assert_refused(root, unit)
    path.write_bytes(bytes(len(whole)))
    assert_refused(root, unit)


def test_exchanged_blocks_are_noticed(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    path = file_of(root)
    whole = path.read_bytes()
    blocks = [whole[at : at + 4096] for at in range(0, len(whole), 4096)]
    filled = [number for number, block in enumerate(blocks) if any(block)][-2:]
    blocks[filled[0]], blocks[filled[1]] = blocks[filled[1]], blocks[filled[0]]
    path.write_bytes(b"".join(blocks))
    assert_refused(root, unit)


@pytest.mark.parametrize("content", [b"\x80\x04]\x94.", b"\x93NUMPY\x01\x00", b"PK\x03\x04" + bytes(5000)])
def test_d02_other_formats_are_refused(root: Path, unit: Unit, content: bytes) -> None:
    cache.store(root, DIGEST, unit)
    file_of(root).write_bytes(content)
    assert_refused(root, unit)


def rewritten(root: Path, change: Callable[[Any], Any]) -> None:
    """Writes the file with another index, and the checksum that goes with it."""
    path = file_of(root)
    whole = path.read_bytes()
    magic, size, _, *sums = cache._HEADER.unpack_from(whole)
    start = cache._HEADER.size
    index = json.dumps(change(json.loads(whole[start : start + size]))).encode()
    index += b" " * (-(start + len(index)) % 4096)
    header = cache._HEADER.pack(magic, len(index), zlib.crc32(index), *sums)
    path.write_bytes(header + index + whole[start + size :])


def test_a_right_index_is_read_however_it_is_written(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    rewritten(root, lambda index: dict(reversed(index.items())))
    assert cache.load(root, DIGEST) is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda _: {},
        lambda _: [],
        lambda index: {**index, "sections": index["sections"][1:]},
        lambda index: {**index, "sections": [*index["sections"], ["more", "int32", 0, 0]]},
        lambda index: {**index, "sections": [[name, "object", at, size] for name, _, at, size in index["sections"]]},
        lambda index: {**index, "sections": [[name, kind, 1 << 40, size] for name, kind, _, size in index["sections"]]},
        lambda index: {**index, "sections": [[name, kind, -8, 1] for name, kind, _, _ in index["sections"]]},
        lambda index: {**index, "diagnostics": [["too", "few"]]},
    ],
)  # fmt: skip
def test_d01_an_index_that_is_another_versions(root: Path, unit: Unit, change: Callable[[Any], Any]) -> None:
    cache.store(root, DIGEST, unit)
    rewritten(root, change)
    assert_refused(root, unit)


def test_d02_s10_links_and_pipes_are_refused(root: Path, unit: Unit, tmp_path: Path) -> None:
    cache.store(root, DIGEST, unit)
    path = file_of(root)
    moved = path.rename(tmp_path / "moved")
    path.symlink_to(moved)
    assert_refused(root, unit)
    path.unlink()
    os.mkfifo(path)
    assert_refused(root, unit)
    path.unlink()
    path.mkdir()
    assert cache.load(root, DIGEST) is None


def test_d02_s10_a_folder_that_is_a_link_is_neither_read_nor_written(
    root: Path, unit: Unit, tmp_path: Path
) -> None:
    cache.store(root, DIGEST, unit)
    moved = root.rename(tmp_path / "moved")
    root.symlink_to(moved)
    report: list[Diagnostic] = []
    assert cache.load(root, DIGEST, report) is None
    assert not cache.store(root, OTHER, unit, report)
    assert [each.code for each in report] == ["CACHE-BAD", "CACHE-WRITE"]
    assert cache.entries(root) == []
    assert cache.clear(root) == 0
    assert len(list((moved / "units").iterdir())) == 1


def test_d03_a_cache_that_cannot_be_written_is_a_warning(root: Path, unit: Unit) -> None:
    root.parent.mkdir(parents=True)
    root.write_text("a file in the way")
    report: list[Diagnostic] = []
    assert not cache.store(root, DIGEST, unit, report)
    assert [(each.code, each.severity) for each in report] == [("CACHE-WRITE", "warning")]


def test_d03_a_full_disk_leaves_nothing_behind(
    root: Path, unit: Unit, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.store(root, DIGEST, unit)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    report: list[Diagnostic] = []
    assert not cache.store(root, OTHER, unit, report)
    assert "No space left" in report[0].text
    monkeypatch.undo()
    assert [each.digest for each in cache.entries(root)] == [DIGEST]
    assert len(list((root / "units").iterdir())) == 1


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from loader import cache
from tests.loader.rawclass import RawClass, unit_of
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
report = []
kept = cache.store(Path(sys.argv[1]), "ab" * 20, unit_of(RawClass()), report)
print(kept, [(each.code, each.severity) for each in report])
"""


def test_d03_a_disk_that_is_full_half_way(root: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(root)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.stdout == "False [('CACHE-WRITE', 'warning')]\n", done.stderr
    assert list((root / "units").iterdir()) == []


def test_d03_several_writers_and_readers(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    failures: list[str] = []

    def work() -> None:
        for _ in range(10):
            report: list[Diagnostic] = []
            found = cache.load(root, DIGEST, report)
            if found is None or not same(unit, found) or not cache.store(root, DIGEST, unit, report):
                failures.append(str(report))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(cache.entries(root)) == 1


def test_a_mapped_unit_outlives_its_file(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    found = cache.load(root, DIGEST)
    assert cache.clear(root) > 0
    assert cache.entries(root) == []
    assert found is not None
    assert same(unit, found)


def test_d01_units_of_other_versions_are_listed_and_replaced(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    old = file_of(root).rename(root / "units" / f"{DIGEST}-v0.unit")
    assert cache.load(root, DIGEST) is None
    assert [(each.digest, each.current, each.size) for each in cache.entries(root)] == [
        (DIGEST, False, old.stat().st_size)
    ]
    cache.store(root, DIGEST, unit)
    assert [each.current for each in cache.entries(root)] == [True]


def test_d03_what_an_interrupted_writer_left_goes(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    left = root / "units" / "abc.part"
    left.write_bytes(b"half")
    cache.store(root, DIGEST, unit)
    assert left.exists()  # somebody may be writing it
    os.utime(left, (1, 1))
    cache.store(root, DIGEST, unit)
    assert not left.exists()


def test_foreign_files_stay(root: Path, unit: Unit) -> None:
    cache.store(root, DIGEST, unit)
    (root / "units" / "notes.txt").write_text("mine")
    cache.clear(root)
    assert file_of(root).name == "notes.txt"


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "ABCDEF0123", "g" * 64, "0" * 200])
def test_what_is_no_digest_is_no_file_name(root: Path, digest: str) -> None:
    with pytest.raises(ValueError, match="digest"):
        cache.load(root, digest)


def test_the_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.default_root() == tmp_path / "heliograph"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.default_root() == tmp_path / "home" / ".cache" / "heliograph"
