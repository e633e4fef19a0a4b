"""The zip reader sees what a real JVM sees: on built archives, on whole jars and on mutants."""

import hashlib
import random
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loader.archives import Limits, NoInput, open_inputs
from loader.containers import Opener
from loader.source import Refused
from tests.badinputs.zips import End, Item, build, class_file, manifest
from tests.loader import jvm

pytestmark = pytest.mark.skipif(jvm.JAVA is None, reason="needs a JVM")

ONE, TWO = class_file("A", "one"), class_file("A", "two")


def zip64(size: int, *values: int) -> bytes:
    return struct.pack(f"<HH{len(values)}q", 1, size, *values)


def versions(*names: str) -> list[Item]:
    return [Item(f"META-INF/versions/{name}".encode(), class_file("A", name)) for name in names]


MULTI = manifest(Multi_Release="true")

# What a JVM loads as class A, and whether we may see a class where it refuses.
ARCHIVES: dict[str, bytes] = {
    "plain": build([Item(b"A.class", ONE)]),
    "stored": build([Item(b"A.class", ONE, method=0)]),
    "twice": build([Item(b"A.class", ONE), Item(b"A.class", TWO)]),
    "checksum": build([Item(b"A.class", ONE, crc=1)]),
    "local-name": build([Item(b"A.class", ONE, local_name=b"B.class")]),
    "other-local-name": build([Item(b"B.class", ONE, local_name=b"A.class")]),
    "local-extra": build([Item(b"A.class", ONE, local_extra=bytes(300))]),
    "directory": build([Item(b"A.class/", ONE)]),
    "directory-first": build([Item(b"A.class/", ONE), Item(b"A.class", TWO)]),
    "directory-last": build([Item(b"A.class", ONE), Item(b"A.class/", TWO)]),
    "directory-empty": build([Item(b"A.class", ONE), Item(b"A.class/")]),
    "directory-twice": build([Item(b"A.class/", ONE), Item(b"A.class/", TWO)]),
    "short": build([Item(b"A.class", ONE, size=10)]),
    "long": build([Item(b"A.class", ONE, size=len(ONE) + 1)]),
    "upper": build([Item(b"A.CLASS", ONE)]),
    "absolute": build([Item(b"/A.class", ONE)]),
    "dots": build([Item(b"x/../A.class", ONE)]),
    "link": build([Item(b"A.class", ONE, made_by=3 << 8, attributes=0xA1FF << 16)]),
    "prefix": build([Item(b"A.class", ONE)], prefix=b"#!/bin/sh\nexec java -jar $0\n"),
    "offsets-from-file": build([Item(b"A.class", ONE)], prefix=bytes(7)),
    "junk": build([Item(b"A.class", ONE)]) + bytes(100),
    "much-junk": build([Item(b"A.class", ONE)]) + bytes(70_000),
    "comment": build([Item(b"A.class", ONE)], End(comment=b"PK\5\6" * 5000)),
    "cut": build([Item(b"A.class", ONE)])[:-5],
    "count": build([Item(b"A.class", ONE), Item(b"B", b"")], End(count=60_000)),
    "count-0": build([Item(b"A.class", ONE)], End(count=0)),
    "end-offset": build([Item(b"A.class", ONE)], End(offset=0xFFFFFFF0)),
    "directory-length": build([Item(b"A.class", ONE)], End(length=0xFFFFFFF0)),
    "zip64-end": build([Item(b"A.class", ONE)], End(zip64=True)),
    "zip64-size": build([Item(b"A.class", ONE, size=0xFFFFFFFF, extra=zip64(8, len(ONE)))]),
    "zip64-negative": build([Item(b"A.class", ONE, size=0xFFFFFFFF, extra=zip64(8, -1))]),
    "zip64-short": build([
        Item(b"A.class", ONE),
        Item(b"B", b"x", size=0xFFFFFFFF, compressed_size=0xFFFFFFFF, offset=0xFFFFFFFF, extra=zip64(8, 0)),
    ]),
    "zip64-compressed": build([
        Item(b"A.class", ONE), Item(b"B", b"x", compressed_size=0xFFFFFFFF, extra=zip64(8, -1)),
    ]),
    "zip64-compressed-16": build([
        Item(b"A.class", ONE), Item(b"B", b"x", compressed_size=0xFFFFFFFF, extra=zip64(16, 5, -1)),
    ]),
    "zip64-offset": build([
        Item(b"A.class", ONE),
        Item(b"B", b"x", size=0xFFFFFFFF, compressed_size=0xFFFFFFFF, offset=0xFFFFFFFF, extra=zip64(24, 40, 0, -1)),
    ]),
    "zip64-long": build([Item(b"A.class", ONE, extra=zip64(4000, 1))]),
    "encrypted": build([Item(b"A.class", ONE), Item(b"B", b"x", flags=0x801)]),
    "method": build([Item(b"A.class", ONE), Item(b"B", b"x", method=99, compressed=b"x")]),
    "encoding": build([Item(b"A.class", ONE), Item(b"\xff")]),
    "encoding-unflagged": build([Item(b"A.class", ONE), Item(b"\xff", flags=0)]),
    "surrogate": build([Item(b"A.class", ONE), Item(b"\xed\xa0\x80")]),
    "version": build([MULTI, Item(b"A.class", ONE), *versions("9/A.class", "99/A.class")]),
    "version-8": build([MULTI, Item(b"A.class", ONE), *versions("8/A.class")]),
    "version-7": build([MULTI, Item(b"A.class", ONE), *versions("7/A.class")]),
    "version-09": build([MULTI, Item(b"A.class", ONE), *versions("09/A.class")]),
    "version-directory": build([MULTI, Item(b"A.class", ONE), *versions("9/A.class/")]),
    **{
        f"version-directory-and-{at}": build([
            MULTI, Item(b"A.class", ONE), *versions("9/A.class/"), Item(f"META-INF/{name}".encode(), TWO),
        ])
        for at, name in enumerate((
            "versions/9/B.class", "versions/9/", "versions/9/x.txt", "VERSIONS/9/a", "versions/09/A.class",
            "versions/10/A.class/", "versions/10/A.class", "versions/9/A.class", "versions/9/b/B.class/",
        ))
    },
    "version-before-directory": build([MULTI, *versions("9/A.class"), Item(b"A.class/", ONE)]),
    "version-directory-last": build([MULTI, *versions("9/A.class", "9/A.class/")]),
    "version-directory-first": build([MULTI, *versions("9/A.class/", "9/A.class")]),
    "version-directory-later": build([MULTI, *versions("10/A.class/", "9/A.class")]),
    "version-only": build([MULTI, *versions("9/A.class")]),
    "version-order": build([MULTI, *versions("10/A.class", "9/A.class"), Item(b"A.class", ONE)]),
    "version-case": build([MULTI, Item(b"A.class", ONE), Item(b"meta-inf/versions/9/A.class", TWO)]),
    "version-nested": build([MULTI, *versions("11/META-INF/versions/9/A.class"), Item(b"A.class", ONE)]),
    "version-unflagged": build([manifest(), Item(b"A.class", ONE), *versions("9/A.class")]),
    "version-false": build([manifest(Multi_Release="yes"), Item(b"A.class", ONE), *versions("9/A.class")]),
    "version-space": build([manifest(Multi_Release="true "), Item(b"A.class", ONE), *versions("9/A.class")]),
    "version-broken": build([
        Item(b"META-INF/MANIFEST.MF", b"Multi-Release: tr\n ue\n\n"), Item(b"A.class", ONE), *versions("9/A.class"),
    ]),
    "version-unended": build([
        Item(b"META-INF/MANIFEST.MF", b"Multi-Release: true\nX: y"), Item(b"A.class", ONE), *versions("9/A.class"),
    ]),
    "version-section": build([
        Item(b"META-INF/MANIFEST.MF", b"X: y\n\nMulti-Release: true\n\n"), Item(b"A.class", ONE),
        *versions("9/A.class"),
    ]),
    "manifest-case": build([
        Item(b"Meta-Inf/manifest.mf", b"MULTI-RELEASE: TRUE\n\n"), Item(b"A.class", ONE), *versions("9/A.class"),
    ]),
    "manifest-malformed": build([Item(b"META-INF/MANIFEST.MF", b"no attribute\n\n"), Item(b"A.class", ONE)]),
    "manifest-twice": build([MULTI, manifest(), Item(b"A.class", ONE), *versions("9/A.class")]),
}  # fmt: skip

# Where the JVM refuses the entry or the archive, but what is there can be read: seen, with a diagnostic.
LENIENT = {"short", "long", "count"}

NAMES = ["A", "a.B", "a b", "-", "A\0B", "a\\B", "A\u202eB", "ä.Ö", "META-INF.A", "package-info",
         "C:\\A", ".A", "a..B", "A;", "[A", "x.y.z.Ü", "a.class"]  # fmt: skip


def seen(path: Path, release: int) -> dict[str, bytes] | None:
    """Returns the classes that we see, None if the archive is refused."""
    try:
        archive, *_nested = Opener(Limits(), release, []).open(path, str(path), "application")
    except Refused:
        return None
    return dict(archive.classes())


def test_the_same_class_of_built_archives(tmp_path: Path) -> None:
    questions = []
    for name, data in ARCHIVES.items():
        (tmp_path / name).write_bytes(data)
        questions.append(f"load {tmp_path / name} {b'A'.hex()}")
    answers = dict(zip(ARCHIVES, jvm.ask(questions, tmp_path), strict=True))
    release = jvm.version()
    different = {}
    for name, answer in answers.items():
        ours = (seen(tmp_path / name, release) or {}).get("A.class")
        found = "!" if ours is None else next(
            (each for each in ("one", "two", *_version_values()) if class_file("A", each) == ours), "other"
        )  # fmt: skip
        same = found == answer or (answer.startswith("!") and (found == "!" or name in LENIENT))
        if not same:
            different[name] = (answer, found)
    assert not different


def _version_values() -> Iterator[str]:
    for each in ("7", "8", "9", "10", "99", "09"):
        yield f"{each}/A.class"
        yield f"{each}/A.class/"
    yield "11/META-INF/versions/9/A.class"


def test_files_are_read_as_streams_give_them(tmp_path: Path) -> None:
    listed = b"a.One\nb.Two\n"
    items = {
        f"META-INF/services/{size}-{method}": Item(b"", listed, method, size=size)
        for size in (0, 1, 6, 12, 13, 0xFFFFFFF0)
        for method in (0, 8)
    }
    path = tmp_path / "x.jar"
    path.write_bytes(build([replace(item, name=name.encode()) for name, item in items.items()]))
    (archive,) = Opener(Limits(), 17, []).open(path, "x.jar", "application")
    answers = jvm.ask([f"read {path} {name.encode().hex()}" for name in items], tmp_path)
    assert [bytes.fromhex(each) for each in answers] == [archive.read(name) for name in items]


def test_the_same_names_are_classes(tmp_path: Path) -> None:
    questions = []
    for at, name in enumerate(NAMES):
        internal = name.replace(".", "/")
        (tmp_path / f"{at}.jar").write_bytes(
            build([Item(f"{internal}.class".encode(), class_file(internal, "x"))])
        )
        questions.append(f"load {tmp_path / f'{at}.jar'} {name.encode().hex()}")
    answers = jvm.ask(questions, tmp_path)
    for at, (name, answer) in enumerate(zip(NAMES, answers, strict=True)):
        classes = seen(tmp_path / f"{at}.jar", 17)
        assert classes is not None
        assert bool(classes) == (answer == "x"), (name, answer)


def test_the_same_classes_of_real_jars(tmp_path: Path) -> None:
    home = Path(jvm.JAVA or "").resolve().parent.parent
    jars = [str(each) for each in sorted(home.glob("**/*.jar"))]
    jars += [str(each) for each in sorted(Path.home().glob(".m2/repository/**/*.jar"))[:40]]
    if not jars:
        pytest.skip("no jars on this machine")
    _compare(jars, tmp_path, Counter())


@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_no_mutant_hides_a_class(count: int, tmp_path: Path) -> None:
    chance = random.Random(count)
    seeds = [data for data in ARCHIVES.values() if len(data) < 5000]
    paths = []
    for at in range(count):
        path = tmp_path / f"{at}.jar"
        path.write_bytes(_mutant(chance, chance.choice(seeds), seeds))
        paths.append(str(path))
    verdicts: Counter[str] = Counter()
    _compare(paths, tmp_path, verdicts)
    assert verdicts["both refuse"] > count // 100
    assert verdicts["both read"] > count // 100


def _compare(paths: list[str], directory: Path, verdicts: Counter[str]) -> None:
    """Asserts that each class which the JVM reads is seen, with the same bytes."""
    release = jvm.version()
    for path, answer in zip(paths, jvm.ask([f"list {path}" for path in paths], directory), strict=True):
        ours = seen(Path(path), release)
        theirs = _listed(answer)
        if theirs is None or ours is None:
            assert theirs is None, f"only we refuse {path}"
            verdicts["both refuse" if ours is None else "only the JVM refuses"] += 1
            continue
        verdicts["both read"] += 1
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in ours.items()}
        for name, content in theirs.items():
            # The entry of the manifest's directory is found under its own name, but by no class of this name.
            if content != "!" and _may_be_loaded(name):
                assert hashes.get(name) == content, f"{name!r} of {path}"


def _listed(answer: str) -> dict[str, str] | None:
    if answer == "refused":
        return None
    pairs = (each.split(":") for each in answer.split()[1:])
    return {bytes.fromhex(name).decode(): content for name, content in pairs}


def _may_be_loaded(name: str) -> bool:
    parts = name.removesuffix(".class").split("/")
    return not name.startswith("META-INF/versions/") and all(
        part and not set(part) & set(".;[") for part in parts
    )


def _mutant(chance: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Returns `data` with one or two changes of the kinds that files suffer, most of them in the directory."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 2)):
        start = out.rfind(b"PK\1\2") if chance.random() < 0.7 else 0
        at = chance.randrange(max(start, 0), len(out) + 1)
        width = chance.choice((1, 2, 4, 8))
        kind = chance.randrange(7)
        if kind == 0 and at < len(out):
            out[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            out[at : at + width] = chance.choice((b"\xff", b"\0", b"\x7f", b"\x80")) * width
        elif kind == 2:
            out[at : at + width] = chance.randbytes(width)
        elif kind == 3:
            del out[at : at + chance.randint(1, 60)]
        elif kind == 4:
            out[at:at] = out[at : at + chance.randint(1, 60)]
        elif kind == 5:
            del out[chance.randrange(len(out) + 1) if chance.random() < 0.2 else len(out) - 1 :]
        else:
            other = chance.choice(others)
            cut = chance.randrange(len(other))
            out[at:] = other[cut:]
    return bytes(out)


def test_an_input_that_the_jvm_refuses_ends_the_run(tmp_path: Path) -> None:
    path = tmp_path / "x.jar"
    path.write_bytes(ARCHIVES["encoding"])
    with pytest.raises(NoInput, match="no class to analyse"):
        open_inputs([str(path)])
