"""The jimage reader: whole JDKs, compressed images, and images that lie."""

import random
import shutil
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from loader.archives import Archive, Limits, Refused
from loader.containers import Opener
from loader.jdk import JdkNotFound, find_jdk
from loader.source import FileSource
from tests.badinputs.jimages import Resource, build
from tests.badinputs.zips import class_file

OBJECT = Resource("java.base", "java/lang", "Object", "class", class_file("java/lang/Object"))
OTHER = Resource("m", "", "A", "class", class_file("A"))


def opened(tmp_path: Path, data: bytes, limits: Limits | None = None) -> Archive:
    path = tmp_path / "modules"
    path.write_bytes(data)
    (archive,) = Opener(limits or Limits(), 17, []).open(path, "modules", "jdk")
    return archive


def codes(archive: Archive) -> list[str]:
    return [each.code for each in archive.diagnostics]


@pytest.mark.parametrize("order", ["<", ">"])
def test_a30_both_byte_orders(tmp_path: Path, order: str) -> None:
    archive = opened(tmp_path, build([OBJECT, OTHER], order))
    assert dict(archive.classes()) == {"java/lang/Object.class": OBJECT.data, "A.class": OTHER.data}
    assert archive.read("java/lang/Object.class") == OBJECT.data
    assert archive.read("B.class") is None
    assert not archive.diagnostics


def test_each_module_keeps_its_declaration(tmp_path: Path) -> None:
    modules = [Resource(name, "", "module-info", "class", name.encode()) for name in ("a", "b")]
    archive = opened(tmp_path, build([*modules, Resource("a", "x", "y", "properties", b"text")]))
    assert dict(archive.classes()) == {"a/module-info.class": b"a", "b/module-info.class": b"b"}
    assert archive.resources() == ["x/y.properties"]
    assert archive.read("x/y.properties") == b"text"


@pytest.mark.parametrize("order", ["<", ">"])
def test_a30_deflated_resources(tmp_path: Path, order: str) -> None:
    resources = [
        Resource("m", "", "A", "class", OTHER.data, stages=stages) for stages in (["zip"], ["zip"] * 2)
    ]
    for resource in resources:
        assert dict(opened(tmp_path, build([resource], order)).classes()) == {"A.class": OTHER.data}


@pytest.mark.parametrize(
    "resource",
    [
        Resource("m", "", "A", "class", OTHER.data, stages=["lzma"]),
        Resource("m", "", "A", "class", OTHER.data, stages=["zip"] * 9),
        Resource(
            "m", "", "A", "class", OTHER.data, raw=struct.pack("<IQQIiB", 0xCAFEFAFA, 9, 9, 9999, -1, 1)
        ),
        Resource("m", "", "A", "class", OTHER.data, raw=b"short"),
        Resource("m", "", "A", "class", OTHER.data, offset=1 << 40),
        Resource("m", "", "A", "class", OTHER.data, offset=(1 << 63) - 1),
        Resource("m", "", "A", "class", OTHER.data, size=1 << 40),
    ],
)
def test_a30_an_entry_that_cannot_be_read_is_left_out(tmp_path: Path, resource: Resource) -> None:
    archive = opened(tmp_path, build([OBJECT, resource]))
    assert dict(archive.classes()) == {"java/lang/Object.class": OBJECT.data}
    assert codes(archive) == ["ARC-JIMAGE"]


@pytest.mark.parametrize(
    "location",
    [
        b"\xff\x01\0",  # an unknown kind
        b"\x18",  # cut off
        bytes([3 << 3 | 7]) + b"\xff" * 8 + b"\0",  # negative
        bytes([3 << 3 | 1]) + b"\xff\xff" + b"\0",  # a name outside the strings
        bytes([3 << 3, 1]) * 9 + b"\0",  # more attributes than kinds
        b"\0",  # no name
    ],
)
def test_a30_a_malformed_location_is_left_out(tmp_path: Path, location: bytes) -> None:
    archive = opened(tmp_path, build([OBJECT, OTHER], location=location))
    assert dict(archive.classes()) == {"java/lang/Object.class": OBJECT.data}
    assert codes(archive) == ["ARC-JIMAGE"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        build([OBJECT], magic=0xCAFEBABE),
        build([OBJECT], version=2 << 16),
        build([OBJECT])[:27],
        build([OBJECT])[:60],
        build([OBJECT], table=0xFFFFFFFF),
    ],
)
def test_a30_a_malformed_header_refuses_the_image(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(Refused) as refused:
        opened(tmp_path, data)
    assert refused.value.diagnostic.code == "ARC-JIMAGE"


def test_a30_a_hash_table_that_leads_in_circles_is_not_followed(tmp_path: Path) -> None:
    image = build([OBJECT, OTHER])
    redirects = struct.pack("<2i", -1, 0)
    assert image[28:36] == bytes(8)
    archive = opened(tmp_path, image[:28] + redirects + image[36:])
    assert dict(archive.classes()) == {"java/lang/Object.class": OBJECT.data, "A.class": OTHER.data}


def test_a30_nothing_outside_the_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    read = FileSource.read

    def watched(source: FileSource, offset: int, length: int) -> bytes:
        found = read(source, offset, length)
        asked.append((offset, offset + len(found)))
        return found

    monkeypatch.setattr(FileSource, "read", watched)
    far = [
        Resource("m", "", "B", "class", OTHER.data, offset=(1 << 63) - 1),
        Resource("m", "", "C", "class", OTHER.data, size=1 << 40),
    ]
    image = build([OBJECT, *far])
    assert len(list(opened(tmp_path, image).classes())) == 1
    assert asked
    assert all(0 <= start <= end <= len(image) for start, end in asked)


def test_large_resources_are_not_read(tmp_path: Path) -> None:
    big = Resource("m", "", "B", "class", bytes(5000))
    bomb = Resource("m", "", "C", "class", bytes(50_000), stages=["zip"], size=50)
    archive = opened(tmp_path, build([OBJECT, big, bomb]), Limits(entry_bytes=4000))
    assert dict(archive.classes()) == {"java/lang/Object.class": OBJECT.data}
    assert codes(archive) == ["ARC-ENTRY-SIZE", "ARC-ENTRY-SIZE"]


@pytest.mark.parametrize("count", [500, pytest.param(3000, marks=pytest.mark.slow)])
def test_mutants_are_read_or_refused(tmp_path: Path, count: int) -> None:
    chance = random.Random(count)
    seed = build([OBJECT, OTHER, Resource("m", "x", "y", "class", OTHER.data, stages=["zip"])])
    outcomes = set()
    for _ in range(count):
        data = bytearray(seed)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(data))
            if chance.random() < 0.1:
                del data[at:]
                break
            data[at] = chance.choice((0, 0xFF, 0x7F, data[at] ^ 1 << chance.randrange(8)))
        try:
            archive = opened(tmp_path, bytes(data or b"\0"))
            outcomes.add((len(dict(archive.classes())), bool(archive.diagnostics)))
        except Refused:
            outcomes.add((-1, True))
    assert {(-1, True), (3, False), (2, True)} <= outcomes


def test_the_whole_jdk_is_read() -> None:
    try:
        jdk = find_jdk()
    except JdkNotFound:
        pytest.skip("needs a JDK")
    if jdk.kind != "jimage":
        pytest.skip("needs a JDK of release 9 or later")
    (archive,) = Opener(Limits(), jdk.version, []).open(jdk.files[0], "jdk", "jdk")
    count = 0
    for name, data in archive.classes():
        assert data.startswith(b"\xca\xfe\xba\xbe"), name
        count += 1
    assert count == len(archive.class_names()) > 5000
    assert not archive.diagnostics
    listed = _listed_by_the_jdk(jdk.home, jdk.files[0])
    if listed is not None:
        assert {
            name.split("/")[-1] if "module-info" in name else name for name in archive.class_names()
        } == listed


def _listed_by_the_jdk(home: Path, image: Path) -> set[str] | None:
    """Returns the class files that the JDK's own tool lists, without their modules."""
    tool = home / "bin" / "jimage"
    if not tool.is_file():
        return None
    listing = subprocess.run([tool, "list", image], check=True, capture_output=True, text=True).stdout
    found, package = set(), ""
    for line in listing.splitlines():
        if line.startswith("    "):
            name = line.strip()
            if name.endswith(".class"):
                found.add(name if name == "module-info.class" else package + name)
        elif line.startswith("Module: "):
            package = ""
        elif line.strip():
            package = line.strip() + "/"
    return {each.replace(".", "/", each.count(".") - 1) for each in found}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["1"])  # shares strings; 2 deflates, as above
def test_images_that_jlink_compressed(tmp_path: Path, level: str) -> None:
    jlink = shutil.which("jlink")
    if jlink is None:
        pytest.skip("needs jlink")
    jdk = find_jdk()
    line: list[str | Path] = [
        jlink,
        "--add-modules",
        "java.logging",
        "--output",
        tmp_path / "image",
        f"--compress={level}",
    ]
    done = subprocess.run(line, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("jlink doesn't compress here")
    image = tmp_path / "image"
    (compressed,) = Opener(Limits(), 17, []).open(image / "lib" / "modules", "c", "jdk")
    (original,) = Opener(Limits(), 17, []).open(jdk.files[0], "o", "jdk")
    extracted = tmp_path / "extracted"
    subprocess.run(
        [jdk.home / "bin" / "jimage", "extract", "--dir", extracted, image / "lib" / "modules"], check=True
    )
    expected = _by_name(extracted)
    read = dict(compressed.classes())
    assert not compressed.diagnostics
    assert read == expected
    assert set(read) <= set(original.class_names())


def _by_name(directory: Path) -> dict[str, bytes]:
    found: Iterable[Path] = directory.glob("*/**/*.class")
    contents = {}
    for path in found:
        module, *parts = path.relative_to(directory).parts
        name = "/".join(parts)
        contents[f"{module}/{name}" if name == "module-info.class" else name] = path.read_bytes()
    return contents
