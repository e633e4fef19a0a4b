"""Which entries of a container are read, under which names and roles: at the edges of each decision."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cypher.schema import Diagnostic
from loader import containers, manifest
from loader.containers import APPLICATION, JDK, LIBRARY, Archive, Opener, jimage_view
from loader.source import Changed, Limits, Refused
from loader.views import Layout, View, is_class, layout_of, nested_archives, view
from tests.badinputs import jimages
from tests.badinputs.jimages import Resource
from tests.badinputs.zips import Item, build, class_file
from tests.loader.test_zip_edges import Memory

A, B = class_file("A"), class_file("B")


# --- names on the class path
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A.class", True), ("a/b/A.class", True), (".class", False), ("a/.class", False), ("/A.class", False),
        ("a//A.class", False), ("a.b/A.class", False), ("a;/A.class", False), ("[A.class", False),
        ("C:A.class", False), ("CC:A.class", True), ("a/C:A.class", True), ("A.class/", False), ("A.clas", False),
    ],
)  # fmt: skip
def test_names_of_classes(name: str, expected: bool) -> None:
    assert is_class(name) == expected


def seen(*names: str, **options: object) -> tuple[dict[str, str], list[str], int]:
    found = view(names, **options)  # type: ignore[arg-type]
    return found.classes, list(found.resources), found.ignored


def test_a_prefix_is_cut_off_and_leaves_the_others_out() -> None:
    names = ("p/A.class", "p/a/B.class", "p/x.txt", "q/C.class", "p", "D.class", "p/y/")
    assert seen(*names, prefix="p/") == ({"A.class": "p/A.class", "a/B.class": "p/a/B.class"}, ["x.txt"], 0)
    classes, resources, ignored = seen(*names)
    assert list(classes) == ["p/A.class", "p/a/B.class", "q/C.class", "D.class"]
    assert (resources, ignored) == (["p/x.txt", "p"], 0)
    assert seen(*names, excluded=("p/", "q/"))[0] == {"D.class": "D.class"}
    assert seen(*names, prefix="p/", excluded=("p/a/",))[0] == {"A.class": "p/A.class"}


def test_what_is_called_like_the_prefix_has_no_name() -> None:
    assert seen("p/", "p/x", prefix="p/") == ({}, ["x"], 0)
    assert seen("p", "px", prefix="p") == ({}, ["x"], 0)


def test_what_is_no_class_is_a_resource_unless_it_is_a_directory() -> None:
    assert seen("A.txt", "a/", "..class", "A.CLASS", ".class/", "x.class/y") == (
        {}, ["A.txt", "..class", "A.CLASS", ".class", "x.class/y"], 0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("names", "entry"),
    [
        (("A.class/",), "A.class/"),
        (("A.class", "A.class/"), "A.class"),
        (("A.class/", "A.class"), "A.class"),
    ],
)
def test_class_that_is_called_like_a_directory(names: tuple[str, ...], entry: str) -> None:
    assert seen(*names) == ({"A.class": entry}, [], 0)


V = "META-INF/versions/"


@pytest.mark.parametrize(
    ("names", "release", "entry", "ignored"),
    [
        (("A.class", V + "9/A.class"), 0, "A.class", 1),
        (("A.class", V + "9/A.class"), 8, "A.class", 1),
        (("A.class", V + "9/A.class"), 9, V + "9/A.class", 0),
        (("A.class", V + "8/A.class"), 9, V + "8/A.class", 0),
        (("A.class", V + "8/A.class"), 8, V + "8/A.class", 0),
        (("A.class", V + "7/A.class"), 9, "A.class", 1),
        (("A.class", V + "09/A.class"), 9, "A.class", 1),
        (("A.class", V + "123456789/A.class"), 1 << 40, V + "123456789/A.class", 0),
        (("A.class", V + "1234567890/A.class"), 1 << 40, "A.class", 1),
        (("A.class", V + "9/META-INF/A.class"), 9, "A.class", 1),
        (("A.class", V + "9/META-INF/A.class/"), 9, "A.class", 1),
        (("A.class", V + "A.class"), 9, "A.class", 1),
        (("A.class", V + "x.txt"), 9, "A.class", 0),
        (("A.class", V + "9/"), 9, "A.class", 0),
        ((V + "9/A.class", "A.class"), 9, V + "9/A.class", 0),
        ((V + "9/A.class", V + "10/A.class", V + "8/A.class"), 10, V + "10/A.class", 0),
        ((V + "9/A.class", V + "10/A.class", V + "8/A.class"), 9, V + "9/A.class", 1),
        (("A.class", "Meta-Inf/versions/9/A.class"), 9, "A.class", 0),
        # Those that are called like directories count if a version is looked for at all, and none is called so.
        (("A.class", V + "9/A.class/"), 9, "A.class", 1),
        (("A.class", V + "9/A.class/", V + "9/B.class"), 9, V + "9/A.class/", 0),
        ((V + "9/B.class", V + "9/A.class/", "A.class"), 9, V + "9/A.class/", 0),
        (("A.class", V + "9/A.class/", "meta-INF/VERSIONS/9/x"), 9, V + "9/A.class/", 0),
        (("A.class", V + "9/A.class/", "Xeta-INF/versions/9/x"), 9, "A.class", 1),
        (("A.class", V + "9/A.class/", V + "9/x/"), 9, "A.class", 1),
        (("A.class", V + "9/A.class/", V + "10/x"), 9, "A.class", 1),
        (("A.class", V + "9/A.class/", V + "9/x"), 8, "A.class", 1),
        (("A.class", V + "9/A.class/", V + "9/x"), 0, "A.class", 1),
        (("A.class", V + "9/A.class/", V + "9/A.class"), 9, V + "9/A.class", 1),
        ((V + "9/A.class", V + "9/A.class/"), 9, V + "9/A.class", 1),
        ((V + "10/A.class", V + "9/A.class/", V + "9/B.class"), 10, V + "10/A.class", 1),
        ((V + "9/A.class", V + "10/A.class/", V + "10/B.class"), 10, V + "10/A.class/", 0),
        ((V + "9/A.class/", V + "10/A.class/", V + "9/B.class", V + "10/B.class"), 10, V + "10/A.class/", 0),
        ((V + "10/A.class/", V + "9/A.class/", V + "9/B.class", V + "10/B.class"), 10, V + "10/A.class/", 1),
        (("A.class", V + "9/a.b.class/", V + "9/B.class"), 9, "A.class", 1),
    ],
)
def test_class_of_a_release(names: tuple[str, ...], release: int, entry: str, ignored: int) -> None:
    classes, _, count = seen(*names, release=release)
    assert (classes.get("A.class"), count) == (entry, ignored)


def test_resources_have_versions_too() -> None:
    assert view(["x", V + "9/x", V + "9/y", "META-INF/z"], release=9) == View(
        {}, {"x": V + "9/x", "y": V + "9/y", "META-INF/z": "META-INF/z"}, 0
    )
    assert view([V + "9/x", "x"], release=9).resources == {"x": V + "9/x"}
    assert view(["x", V + "9/x", V + "9"]).resources == {"x": "x"}


@pytest.mark.parametrize(
    ("names", "suffix", "boot", "expected"),
    [
        ((), "", "", Layout("jar", "", False)),
        (("A.class",), ".jar", "BOOT-INF/classes/", Layout("jar", "", False)),
        (("BOOT-INF/classes/",), ".jar", "", Layout("boot", "BOOT-INF/classes/", True)),
        (("a", "BOOT-INF/lib/x", "b"), ".jar", "other/", Layout("boot", "other/", True)),
        (("BOOT-INF/x",), ".jar", "", Layout("jar", "", False)),
        (("a", "WEB-INF/classes/", "b"), ".jar", "", Layout("war", "WEB-INF/classes/", False)),
        (("WEB-INF/lib/a",), ".jar", "x/", Layout("war", "WEB-INF/classes/", True)),
        (("WEB-INF/x",), ".jar", "", Layout("jar", "", False)),
        ((), ".war", "", Layout("war", "WEB-INF/classes/", False)),
        (("a", "META-INF/application.xml", "b"), ".jar", "", Layout("ear", None, False)),
        (("META-INF/application.xml2",), ".jar", "", Layout("jar", "", False)),
        (("META-INF/a.xml",), ".jar", "", Layout("jar", "", False)),
        (("META-INF/z.xml",), ".jar", "", Layout("jar", "", False)),
        ((), ".ear", "", Layout("ear", None, False)),
        (("WEB-INF/lib/a", "BOOT-INF/lib/b"), ".war", "", Layout("boot", "BOOT-INF/classes/", True)),
        (("BOOT-INF/lib/b", "WEB-INF/lib/a"), ".ear", "", Layout("boot", "BOOT-INF/classes/", True)),
        (("META-INF/application.xml", "WEB-INF/lib/a"), ".ear", "", Layout("war", "WEB-INF/classes/", False)),
    ],
)
def test_layouts(names: tuple[str, ...], suffix: str, boot: str, expected: Layout) -> None:
    assert layout_of(names, suffix, boot) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "jar",
            [("a.jar", False), ("b.WAR", False), ("x/c.ear", False), ("d.rar", False), ("x/e.zip", False),
             ("WEB-INF/lib/f.jar", False), ("WEB-INF/lib-provided/g.jar", False), ("WEB-INF/lib/x/h.jar", False),
             ("BOOT-INF/i.jar", False), ("x/BOOT-INF/j.jar", False), ("x/k.War", False)],
        ),
        ("war", [("WEB-INF/lib/f.jar", False), ("WEB-INF/lib-provided/g.jar", False)]),
        (
            "boot",
            [("WEB-INF/lib/f.jar", False), ("WEB-INF/lib-provided/g.jar", False), ("WEB-INF/lib/x/h.jar", False),
             ("BOOT-INF/i.jar", False)],
        ),
        (
            "ear",
            [("a.jar", True), ("b.WAR", True), ("x/c.ear", False), ("d.rar", True), ("x/e.zip", False),
             ("WEB-INF/lib/f.jar", False), ("WEB-INF/lib-provided/g.jar", False), ("WEB-INF/lib/x/h.jar", False),
             ("BOOT-INF/i.jar", False), ("x/BOOT-INF/j.jar", False), ("x/k.War", True)],
        ),
    ],
)  # fmt: skip
def test_archives_inside(kind: str, expected: list[tuple[str, bool]]) -> None:
    names = [name for name, _ in JAR_ENTRIES]
    assert nested_archives(["A.class", "jar", *names, "x.jar/", "x.jars"], kind) == expected


JAR_ENTRIES = [
    (name, False)
    for name in (
        "a.jar", "b.WAR", "x/c.ear", "d.rar", "x/e.zip", "WEB-INF/lib/f.jar", "WEB-INF/lib-provided/g.jar",
        "WEB-INF/lib/x/h.jar", "BOOT-INF/i.jar", "x/BOOT-INF/j.jar", "x/k.War",
    )
]  # fmt: skip


# --- manifests
@pytest.mark.parametrize(
    ("data", "attributes", "multi_release"),
    [
        (b"", {}, False),
        (b"A: b\n", {"A": "b"}, False),
        (b"A: b", {}, False),
        (b"A: b\nC: d", {"A": "b"}, False),
        (b"A: b\r\nC: d\rE: f\n", {"A": "b", "C": "d", "E": "f"}, False),
        (b"A: b\n c\n  d\n", {"A": "bc d"}, False),
        (b" A: b\nC: d\n", {}, False),
        (b"A: b\nno\nC: d\n", {"A": "b"}, False),
        (b"A: b\n\nC: d\n", {"A": "b"}, False),
        (b"\nA: b\n", {}, False),
        (b"A: b\na: c\n", {"a": "c"}, False),
        (b"A: \xff\n", {"A": "�"}, False),
        (b"A:b\n", {}, False),
        (b"Multi-Release: true\n", {"Multi-Release": "true"}, True),
        (b"Multi-Release: true\n\nno\n", {"Multi-Release": "true"}, True),
        (b"multi-RELEASE: TRUE\n", {"multi-RELEASE": "TRUE"}, True),
        (b"Multi-Release: false\n", {"Multi-Release": "false"}, False),
        (b"Multi-Release: true \n", {"Multi-Release": "true "}, False),
        (b"Multi-Release: tr\n ue\n", {"Multi-Release": "true"}, False),
        (b"Multi-Release: tr\n ue\nX: multi-release: true\n", {"Multi-Release": "true", "X": "multi-release: true"}, True),
        (b"Multi-Release: true\nno\n", {"Multi-Release": "true"}, False),
        (b"Multi-Release: true\nMulti-Release: no\n", {"Multi-Release": "no"}, False),
        (b"X: y\n\nMulti-Release: true\n", {"X": "y"}, False),
    ],
)  # fmt: skip
def test_main_attributes(data: bytes, attributes: dict[str, str], multi_release: bool) -> None:
    found = manifest.parse(data)
    assert (dict(found.attributes), found.multi_release) == (attributes, multi_release)
    assert list(found.attributes) == list(attributes)


def test_attributes_are_asked_for_in_any_case() -> None:
    found = manifest.parse(b"Main-Class: a.B\nX: y\n")
    assert (found.get("main-class"), found.get("MAIN-CLASS"), found.get("Main")) == ("a.B", "a.B", "")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"Main-Class: a.B \n", "a.B"),
        (b"Main-Class: a.B\nStart-Class: a.C \n", "a.C"),
        (b"Main-Class: a.B\nStart-Class:  \n", "a.B"),
        (b"Main-Class:  \n", None),
        (b"", None),
    ],
)
def test_main_class(data: bytes, expected: str | None) -> None:
    assert manifest.parse(data).main_class == expected


def test_agents() -> None:
    data = b"Agent-Class: a.B \nPremain-Class: a.C\nLauncher-Agent-Class: a.B\n"
    assert manifest.parse(data).agents == ("a.C", "a.B")
    assert manifest.EMPTY.agents == ()


# --- what an opener makes of an archive
Shape = list[tuple[str, str, list[str]]]


def shape(archives: list[Archive]) -> Shape:
    """Returns label, role and names of classes of each archive."""
    return [(each.label, each.role, each.class_names()) for each in archives]


def opened(
    data: bytes, name: str = "x.jar", role: str = APPLICATION, limits: Limits | None = None, release: int = 17
) -> tuple[list[Archive], list[Diagnostic]]:
    """Returns the archives of one in memory, and what is found on opening it."""
    report: list[Diagnostic] = []
    opener = Opener(limits or Limits(), release, report)
    return opener._archive(Memory(data, name), role, Path(name).suffix, 0), report


def reported(found: list[Diagnostic]) -> list[tuple[str, str, str, str, str]]:
    return [(each.code, each.severity, each.effect, each.archive, each.entry) for each in found]


def jar(*names: str) -> bytes:
    return build([Item(name.encode(), A) for name in names])


def manifest_of(*lines: str) -> Item:
    return Item(manifest.NAME.encode(), "".join(f"{line}\n" for line in lines).encode())


def test_jar() -> None:
    archives, report = opened(build([manifest_of("X: y"), Item(b"A.class", A), Item(b"r", b"1")]))
    assert shape(archives) == [("x.jar", APPLICATION, ["A.class"])]
    (archive,) = archives
    assert list(archive.classes()) == [("A.class", A)]
    assert (archive.resources(), archive.manifest) == ([manifest.NAME, "r"], {"X": "y"})
    assert (archive.read("A.class"), archive.read("r"), archive.read("s")) == (A, b"1", None)
    assert (report, archive.diagnostics) == ([], [])


def test_reading_checks_and_gives_back_memory() -> None:
    source = Memory(jar("A.class"))
    (archive,) = Opener(Limits(), 17, [])._archive(source, APPLICATION, ".jar", 0)
    assert source.done == ["drop"]
    classes = archive.classes()
    next(classes)
    assert source.done == ["drop"]
    assert list(classes) == []
    assert source.done == ["drop", "check", "drop"]


def test_archive_that_changes_while_it_is_read() -> None:
    source = Memory(jar("A.class", "B.class"))
    (archive,) = Opener(Limits(), 17, [])._archive(source, APPLICATION, ".jar", 0)
    classes = archive.classes()
    next(classes)
    source.data = source.data[:-1] + b"x"
    with pytest.raises(Changed) as ended:
        list(classes)
    assert reported(list(ended.value.diagnostics)) == [("ARC-CHANGED", "error", "soundness", "x.jar", "")]
    # The digest is that of the beginning.
    (other,) = Opener(Limits(), 17, [])._archive(Memory(source.data), APPLICATION, ".jar", 0)
    assert archive.digest != other.digest


def test_what_cannot_be_read_is_left_out_and_told_once() -> None:
    items = [
        Item(b"A.class", compressed=b"\xff", size=1), Item(b"B.class", B), Item(b"r", compressed=b"\xff", size=1),
        Item(b"C.class", A, crc=0), Item(b"C.class", B, crc=0),
    ]  # fmt: skip
    (archive,), report = opened(build(items))
    for _ in range(2):
        assert list(archive.classes()) == [("B.class", B), ("C.class", B)]
        assert archive.read("A.class") is None
        assert reported(archive.diagnostics) == [
            ("ARC-CORRUPT", "warning", "soundness", "x.jar", "A.class"),
            ("ARC-CRC", "warning", "none", "x.jar", "C.class"),
            ("ARC-DUP-ENTRY", "warning", "precision", "x.jar", "C.class"),
        ]
    assert archive.read("r") is None
    assert [each.entry for each in archive.diagnostics] == ["A.class", "C.class", "C.class", "r"]
    assert report == []


def test_services() -> None:
    items = [
        Item(b"META-INF/services/a.B", b"c.D"), Item(b"META-INF/services/e.F", compressed=b"\xff", size=1),
        Item(b"META-INF/services/g.H", b""), Item(b"services/a.B", b""), Item(b"META-INF/a.B", b""),
    ]  # fmt: skip
    (archive,), _ = opened(build(items))
    assert list(archive.services()) == [("META-INF/services/a.B", b"c.D"), ("META-INF/services/g.H", b"")]


@pytest.mark.parametrize("method", [0, 8])
@pytest.mark.parametrize("size", [0, 1, 3, 6, 7, 1 << 20])
def test_what_is_no_class_is_read_whole_whatever_size_is_declared(method: int, size: int) -> None:
    listed = b"c.D\ne.F"
    items = [
        Item(b"META-INF/services/a.B", listed, method, size=size), Item(b"A.class", A, method, size=9),
    ]  # fmt: skip
    (archive,), _ = opened(build(items))
    assert list(archive.services()) == [("META-INF/services/a.B", listed)]
    assert archive.read("A.class") == A[:9]
    expected = [] if size == 7 else [("ARC-SIZE", "precision" if size > 7 else "none")]
    found = [(each.code, each.effect) for each in archive.diagnostics if each.entry != "A.class"]
    assert found == expected


def test_what_is_no_class_is_read_up_to_the_limit_of_an_entry() -> None:
    limits = Limits(entry_bytes=10)
    (archive,), _ = opened(build([Item(b"r", bytes(11), size=1)]), limits=limits)
    assert archive.read("r") is None
    assert reported(archive.diagnostics) == [("ARC-ENTRY-SIZE", "warning", "soundness", "x.jar", "r")]
    (archive,), _ = opened(build([Item(b"r", bytes(10), size=1)]), limits=limits)
    assert archive.read("r") == bytes(10)


@pytest.mark.parametrize(("most", "number"), [(30, 3), (29, 2), (20, 2), (9, 0)])
def test_files_that_list_providers_have_a_limit_together(
    most: int, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containers, "_MOST_SERVICES", most)
    (archive,), _ = opened(build([Item(b"META-INF/services/%d" % each, bytes(10)) for each in range(3)]))
    assert len(list(archive.services())) == number
    entry = [("ARC-BUDGET", "warning", "soundness", "x.jar", f"META-INF/services/{number}")]
    assert reported(archive.diagnostics) == (entry if number < 3 else [])


def test_digest_depends_on_the_view() -> None:
    def digest(name: str = "x.jar", release: int = 17, data: bytes = jar("A.class")) -> str:
        return opened(data, name, release=release)[0][0].digest

    assert digest() == digest("y.jar") == digest(release=9)
    multi = build([manifest_of("Multi-Release: true"), Item(b"A.class", A)])
    assert digest(data=multi) != digest(data=multi, release=9)
    assert digest() != digest("x.war")
    boot = build([Item(b"BOOT-INF/classes/A.class", A), Item(b"B.class", A)])
    assert len({each.digest for each in opened(boot)[0]}) == 2


@pytest.mark.parametrize(
    ("lines", "release", "entry"),
    [
        (("Multi-Release: true",), 9, V + "9/A.class"),
        (("Multi-Release: true",), 8, "A.class"),
        (("Multi-Release: false",), 9, "A.class"),
    ],
)
def test_release_counts_in_multi_release_jars(lines: tuple[str, ...], release: int, entry: str) -> None:
    items = [
        manifest_of(*lines),
        Item(b"A.class", b"A.class"),
        Item((V + "9/A.class").encode(), (V + "9/A.class").encode()),
    ]
    for name in ("x.jar", "x.zip", "x"):
        archives, report = opened(build(items), name, release=release)
        assert list(archives[0].classes()) == [("A.class", entry.encode())]
        if entry == "A.class":
            assert reported(report) == [("ARC-RELEASE", "note", "none", name, "")]
            which = f"a release above {release}" if lines == ("Multi-Release: true",) else "certain releases"
            assert report[0].text == f"1 class files for {which} are ignored"
        else:
            assert report == []
    # Only in jars.
    archives, _ = opened(
        build([*items, Item(b"WEB-INF/classes/" + V.encode() + b"9/B.class", B)]), release=release
    )
    assert shape(archives) == [("x.jar!WEB-INF/classes", APPLICATION, [])]


@pytest.mark.parametrize(
    ("name", "is_signature"),
    [
        ("META-INF/X.SF", True), ("META-INF/x.rsa", True), ("META-INF/X.DSA", True), ("META-INF/X.EC", True),
        ("META-INF/a/X.SF", False), ("X.SF", False), ("meta-inf/X.SF", False), ("META-INF/X.SFX", False),
    ],
)  # fmt: skip
def test_signatures_are_noted(name: str, is_signature: bool) -> None:
    data = build([Item(name.encode()), Item(b"A.class", A)])
    for role in (APPLICATION, LIBRARY):
        assert reported(opened(data, role=role)[1]) == (
            [("ARC-SIGNED", "note", "none", "x.jar", "")] if is_signature else []
        )
    assert opened(data, role=JDK)[1] == []


def test_war() -> None:
    items = [
        Item(b"WEB-INF/classes/A.class", A), Item(b"WEB-INF/lib/b.jar", jar("B.class")), Item(b"C.class", A),
        Item(b"WEB-INF/lib/c/d.jar", jar("D.class")), Item(b"e.jar", jar("E.class")),
    ]  # fmt: skip
    expected = [
        ("x.war!WEB-INF/classes", APPLICATION, ["A.class"]), ("x.war!WEB-INF/lib/b.jar", LIBRARY, ["B.class"]),
    ]  # fmt: skip
    archives, report = opened(build(items), "x.war")
    assert (shape(archives), report) == (expected, [])
    # One that Spring Boot can start has its launcher at the root.
    archives, _ = opened(build([manifest_of("Spring-Boot-Classes: WEB-INF/classes/"), *items]), "x.war")
    assert shape(archives) == [expected[0], ("x.war", LIBRARY, ["C.class"]), expected[1]]
    assert shape(opened(build(items), "x.war", role=LIBRARY)[0]) == [
        (label, LIBRARY, names) for label, _, names in expected
    ]
    assert {role for _, role, _ in shape(opened(build(items), "x.war", role=JDK)[0])} == {JDK}


def test_spring_boot() -> None:
    items = [
        Item(b"BOOT-INF/classes/A.class", A), Item(b"BOOT-INF/lib/b.jar", jar("B.class")), Item(b"l/L.class", A),
        Item(b"WEB-INF/C.class", A), Item((V + "9/D.class").encode(), A),
    ]  # fmt: skip
    archives, report = opened(build(items))
    assert shape(archives) == [
        ("x.jar!BOOT-INF/classes", APPLICATION, ["A.class"]), ("x.jar", LIBRARY, ["l/L.class"]),
        ("x.jar!BOOT-INF/lib/b.jar", LIBRARY, ["B.class"]),
    ]  # fmt: skip
    assert report == []
    assert shape(opened(build(items[:2]))[0])[1:] == [("x.jar!BOOT-INF/lib/b.jar", LIBRARY, ["B.class"])]
    other = build([manifest_of("Spring-Boot-Classes: o/"), items[0], Item(b"o/A.class", A)])
    assert shape(opened(other)[0]) == [
        ("x.jar!o", APPLICATION, ["A.class"]),
        ("x.jar", LIBRARY, ["o/A.class"]),
    ]


def test_versioned_entries_count_in_jars_only(tmp_path: Path) -> None:
    for root in ("BOOT-INF", "WEB-INF"):
        names = (f"{root}/classes/A.class", f"{root}/classes/{V}9/A.class", f"{root}/lib/b.jar")
        data = build(
            [manifest_of("Multi-Release: true"), *(Item(each.encode(), each.encode()) for each in names)]
        )
        assert list(opened(data)[0][0].classes()) == [("A.class", names[0].encode())]
        # Unpacked, one has its libraries all the same.
        folder = filled(tmp_path / root, **{each.replace(".", "_"): jar("B.class") for each in names})
        archives = Opener(Limits(), 17, []).open(folder, "x", APPLICATION)
        assert shape(archives)[-1] == (f"x!{root}/lib/b.jar", LIBRARY, ["B.class"])


def test_two_roots_of_an_archive_have_their_own_diagnostics() -> None:
    items = [Item(b"BOOT-INF/classes/A.class", A, crc=0), Item(b"B.class", A, crc=0)]
    first, second = opened(build(items))[0]
    assert list(first.classes()) == [("A.class", A)]
    assert [each.entry for each in first.diagnostics] == ["BOOT-INF/classes/A.class"]
    assert second.diagnostics == []
    assert list(second.classes()) == [("B.class", A)]
    assert [each.entry for each in second.diagnostics] == ["B.class"]


def test_ear() -> None:
    items = [
        Item(b"META-INF/application.xml"), Item(b"a.jar", jar("A.class")), Item(b"lib/b.jar", jar("B.class")),
        Item(b"w/c.war", jar("WEB-INF/classes/C.class")), Item(b"D.class", A),
    ]  # fmt: skip
    archives, report = opened(build(items), "x.ear")
    assert shape(archives) == [
        ("x.ear!a.jar", APPLICATION, ["A.class"]), ("x.ear!lib/b.jar", LIBRARY, ["B.class"]),
        ("x.ear!w/c.war!WEB-INF/classes", APPLICATION, ["C.class"]),
    ]  # fmt: skip
    assert report == []


def test_equal_archives_inside_are_read_once_per_role() -> None:
    inner = jar("A.class")
    items = [
        Item(b"META-INF/application.xml"), Item(b"a.jar", inner), Item(b"b.jar", inner), Item(b"lib/c.jar", inner),
        Item(b"lib/d.jar", inner, method=0),
    ]  # fmt: skip
    assert [each.label for each in opened(build(items), "x.ear")[0]] == ["x.ear!a.jar", "x.ear!lib/c.jar"]
    # The outermost counts as none of them.
    assert len(opened(build([Item(b"A.class", A), Item(b"a.jar", inner), Item(b"b.jar", inner)]))[0]) == 2


@pytest.mark.parametrize(
    ("nesting", "found", "where", "count"),
    [(3, 1, "", 0), (2, 0, "x.jar!2.jar!1.jar", 1), (1, 0, "x.jar!2.jar", 3), (0, 0, "x.jar", 4)],
)
def test_archives_inside_are_read_so_deep(
    nesting: int, found: int, where: str, count: int, tmp_path: Path
) -> None:
    data = jar("D.class")
    for level, beside in enumerate((0, 2, 3)):
        others = [Item(f"{level}-{at}.jar".encode(), b"x") for at in range(beside)]
        data = build([Item(f"{level}.jar".encode(), data), *others])
    (tmp_path / "x.jar").write_bytes(data)
    report: list[Diagnostic] = []
    opener = Opener(Limits(nesting=nesting), 17, report)
    archives = opener.open(tmp_path / "x.jar", "x.jar", APPLICATION)
    assert sum(bool(each.class_names()) for each in archives) == found
    deep = [each for each in report if each.code == "ARC-NEST"]
    assert reported(deep) == ([("ARC-NEST", "warning", "soundness", "x.jar", "")] if count else [])
    if count:
        assert deep[0].text == (f"{count} archives, as in {where}, are nested too deeply and are not read")
    # Those of one path aren't counted with those of the next.
    report.clear()
    (tmp_path / "y.jar").write_bytes(jar("A.class"))
    opener.open(tmp_path / "y.jar", "y.jar", APPLICATION)
    assert report == []


def test_archives_inside_that_are_refused_or_damaged() -> None:
    items = [
        Item(b"a.jar", b"nothing"), Item(b"b.jar", compressed=b"\xff", size=1), Item(b"c.jar", jar("C.class")),
        Item(b"d.jmod", jar("D.class")), Item(b"e.zip", b""),
    ]  # fmt: skip
    archives, report = opened(build(items))
    assert shape(archives) == [("x.jar", APPLICATION, []), ("x.jar!c.jar", LIBRARY, ["C.class"])]
    assert reported(report) == [
        ("ARC-NOT-ZIP", "warning", "soundness", "x.jar!a.jar", ""),
        ("ARC-CORRUPT", "warning", "soundness", "x.jar!b.jar", ""),
        ("ARC-EMPTY", "warning", "soundness", "x.jar!e.zip", ""),
    ]


def test_suffixes_inside_count_in_any_case() -> None:
    items = [Item(b"a.WAR", jar("A.class", "B.class")), Item(b"b.War", jar("A.class"))]
    assert shape(opened(build(items))[0]) == [
        ("x.jar", APPLICATION, []), ("x.jar!a.WAR!WEB-INF/classes", LIBRARY, []),
        ("x.jar!b.War!WEB-INF/classes", LIBRARY, []),
    ]  # fmt: skip


def test_jmod() -> None:
    data = b"JM\1\0" + build([
        Item(b"classes/A.class", A), Item(b"lib/B.class", A), Item(b"classes/t", b"1"), Item(b"classes//a"),
        Item(b"x.jar", jar("C.class")),
    ])  # fmt: skip
    for name in ("x.jmod", "x.jar"):
        archives, report = opened(data, name, JDK)
        assert shape(archives) == [(name, JDK, ["A.class"])]
        assert archives[0].manifest == {}
        assert archives[0].resources() == ["t", "/a"]
        assert reported(report) == [("ARC-NAME", "warning", "none", name, "classes//a")]
        assert archives[0].diagnostics == []
    assert opened(data)[0][0].digest != opened(jar("A.class"))[0][0].digest
    for bad, name in (
        (data[4:], "x.jmod"),
        (data[:-1], "x.jmod"),
        (data[:-1], "x.jar"),
        (b"JM\1\1" + data[4:], "x.jmod"),
    ):
        with pytest.raises(Refused) as ended:
            opened(bad, name)
        assert ended.value.diagnostic.code == "ARC-JMOD"
    with pytest.raises(Refused) as ended:
        opened(data[4:-1])
    assert ended.value.diagnostic.code == "ARC-NOT-ZIP"


# --- budgets
def test_budgets_count_classes_archives_inside_and_all_archives(tmp_path: Path) -> None:
    stored = [Item(b"A.class", bytes(100), 0), Item(b"r", bytes(1000), 0)]
    data = build(stored)
    inner = build([*stored, Item(b"a.jar", data, 0)])
    whole = 100 + len(data) + 100  # the classes outside, the archive and its classes
    for limits, fits in (
        (Limits(inflated_per_run=whole), True), (Limits(inflated_per_run=whole - 1), False),
        (Limits(inflated_per_run=100 + len(data)), False), (Limits(inflated_per_run=100 + len(data) - 1), None),
        (Limits(inflated_per_run=100), None), (Limits(inflated_per_run=99), None),
        (Limits(inflated_per_archive=len(data)), True), (Limits(inflated_per_archive=len(data) - 1), None),
    ):  # fmt: skip
        if fits is None:
            with pytest.raises(Refused) as ended:
                opened(inner, limits=limits)
            assert ended.value.diagnostic.code == "ARC-BUDGET"
            continue
        archives, report = opened(inner, limits=limits)
        assert len(archives) == 1 + fits
        assert reported(report) == (
            [] if fits else [("ARC-BUDGET", "warning", "soundness", "x.jar!a.jar", "")]
        )
    # An entry counts no further than it may be read, and one that may be an archive further than a class.
    limits = Limits(inflated_per_run=21, entry_bytes=9, nested_bytes=10)
    archives, report = opened(
        build([Item(b"A.class", bytes(100), 0), Item(b"a.jar", bytes(100), 0)]), limits=limits
    )
    assert reported(report) == [("ARC-NOT-ZIP", "warning", "soundness", "x.jar!a.jar", "")]
    # A second archive of a run has what the first left.
    report = []
    (tmp_path / "x.jar").write_bytes(data)
    opener = Opener(Limits(inflated_per_run=199), 17, report)
    opener.open(tmp_path / "x.jar", "x.jar", APPLICATION)
    with pytest.raises(Refused) as ended:
        opener.open(tmp_path / "x.jar", "x.jar", APPLICATION)
    assert ended.value.diagnostic.text == "would inflate beyond the limit of the run"
    # A jmod has a budget, too.
    jmod = b"JM\1\0" + build([Item(b"classes/A.class", bytes(100), 0)])
    assert opened(jmod, limits=Limits(inflated_per_run=100))[0]
    with pytest.raises(Refused):
        opened(jmod, limits=Limits(inflated_per_run=99))


def test_oddities_are_told_though_the_archive_is_refused() -> None:
    report: list[Diagnostic] = []
    data = build([Item(b"A.class", bytes(100), 0), Item(b"a//b")])
    for name, content in (("x.jar", data), ("x.jmod", b"JM\1\0" + data)):
        opener = Opener(Limits(inflated_per_archive=99 if name == "x.jar" else 1 << 20), 17, report)
        if name == "x.jar":
            with pytest.raises(Refused):
                opener._archive(Memory(content, name), APPLICATION, ".jar", 0)
        else:
            opener._archive(Memory(content, name), APPLICATION, ".jmod", 0)
    assert [each.code for each in report] == ["ARC-NAME", "ARC-NAME"]


# --- manifests of archives
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("META-INF/MANIFEST.MF",), "0"), (("meta-inf/manifest.mf",), "0"), ((), None),
        (("META-INF/MANIFEST.MF", "META-INF/manifest.mf"), "1"), (("META-INF/MANIFEST.MF2",), None),
        (("META-INF/MANIFEST.M",), None), (("META-INF/MANIFEST.MG",), None), (("META-INF/MANIFEST.ME",), None),
        (("META-INF/MANIFEST.MF", "META-INF/MANIFEST.MG"), "0"),
        # The upper case of one letter may be two.
        (("META-INF/MANIFEST.MF", "META-INF/MANIFEﬆ.MF"), "0"),
    ],
)  # fmt: skip
def test_manifest_is_found_in_any_case(names: tuple[str, ...], expected: str | None) -> None:
    items = [Item(name.encode(), b"At: %d\n" % at) for at, name in enumerate(names)]
    (archive,), _ = opened(build([*items, Item(b"A.class", A)]))
    assert archive.manifest == ({} if expected is None else {"At": expected})


def test_versions_do_not_count_if_the_manifest_is_shorter_than_it_declares() -> None:
    content = b"Multi-Release: true\nX: y\n"
    versioned = (V + "9/A.class").encode()
    for more, found in ((0, b"2"), (1, b"1")):
        name = manifest.NAME.encode()
        items = [Item(name, content, size=len(content) + more), Item(b"A.class", b"1"), Item(versioned, b"2")]
        archive = opened(build(items))[0][0]
        assert list(archive.classes()) == [("A.class", found)]
        assert archive.manifest == {"Multi-Release": "true", "X": "y"}


def test_manifest_that_cannot_be_read() -> None:
    data = build([Item(manifest.NAME.encode(), compressed=b"\xff", size=1), Item(b"A.class", A)])
    (archive,), report = opened(data)
    assert (archive.manifest, archive.class_names(), report) == ({}, ["A.class"], [])


# --- files and directories
def test_what_a_path_may_be(tmp_path: Path) -> None:
    opener = Opener(Limits(), 17, [])
    with pytest.raises(Refused) as ended:
        opener.open("", "x", APPLICATION)
    assert (ended.value.diagnostic.code, ended.value.diagnostic.archive) == ("IN-MISSING", "x")
    for name, code in (("none.jar", "IN-MISSING"), ("a\0b", "IN-UNREADABLE")):
        with pytest.raises(Refused) as ended:
            opener.open(tmp_path / name, "x", APPLICATION)
        assert ended.value.diagnostic.code == code
    (tmp_path / "x.jar").write_bytes(jar("A.class"))
    (tmp_path / "x.WAR").write_bytes(jar("A.class"))
    (tmp_path / "a.jar").write_bytes(jar("A.class"))
    for path in (tmp_path / "x.jar", str(tmp_path / "x.jar"), tmp_path / "a.jar"):
        assert shape(opener.open(path, "label", LIBRARY)) == [("label", LIBRARY, ["A.class"])]
    assert shape(opener.open(tmp_path / "x.WAR", "label", LIBRARY)) == [
        ("label!WEB-INF/classes", LIBRARY, [])
    ]
    with pytest.raises(Refused) as ended:
        Opener(Limits(archive_bytes=10), 17, []).open(tmp_path / "x.jar", "x", APPLICATION)
    assert ended.value.diagnostic.code == "ARC-BUDGET"


def filled(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def test_directories(tmp_path: Path) -> None:
    report: list[Diagnostic] = []
    opener = Opener(Limits(), 17, report)
    inner = jar("B.class")
    classes = filled(tmp_path / "out", a__A_class=A, x_jar=inner, **{"META-INF__versions__9__A_class": A})
    (classes / "META-INF" / "MANIFEST.MF").write_bytes(b"Multi-Release: true\nX: y\n")
    (archive,) = opener.open(classes, "out", APPLICATION)
    assert shape([archive]) == [("out", APPLICATION, ["a/A.class"])]
    assert list(archive.classes()) == [("a/A.class", A)]
    assert (archive.read("a/A.class"), archive.read("x.jar"), archive.read("b")) == (A, inner, None)
    assert archive.manifest == {"Multi-Release": "true", "X": "y"}
    assert reported(report) == [("ARC-RELEASE", "note", "none", "out", "")]
    assert report.pop().text == "1 class files for certain releases are ignored"
    # Without classes of its own it is taken as its jars, not those further in.
    jars = filled(tmp_path / "dist", b_jar=inner, a_jar=jar("A.class"), in__c_jar=jar("C.class"), r_txt=b"")
    assert shape(opener.open(jars, "dist", LIBRARY)) == [
        ("dist", LIBRARY, []), ("dist!a.jar", LIBRARY, ["A.class"]), ("dist!b.jar", LIBRARY, ["B.class"]),
    ]  # fmt: skip
    # A directory isn't one of those inside another that may be known already.
    assert len(opener.open(jars, "dist", LIBRARY)) == 1
    war = filled(
        tmp_path / "x.war", **{"WEB-INF__classes__A_class": A, "WEB-INF__lib__b_jar": jar("C.class")}
    )
    assert shape(opener.open(war, "x.war", APPLICATION)) == [
        ("x.war!WEB-INF/classes", APPLICATION, ["A.class"]), ("x.war!WEB-INF/lib/b.jar", LIBRARY, ["C.class"]),
    ]  # fmt: skip
    assert report == []


def test_directory_of_jars_is_of_the_application(tmp_path: Path) -> None:
    jars = filled(tmp_path / "dist", b_jar=jar("B.class"))
    archives = Opener(Limits(), 17, []).open(jars, "dist", APPLICATION)
    assert shape(archives) == [("dist", APPLICATION, []), ("dist!b.jar", APPLICATION, ["B.class"])]


def test_directory_tells_what_it_leaves_out(tmp_path: Path) -> None:
    folder = filled(tmp_path / "out", A_class=A)
    os.mkfifo(folder / "pipe")
    report: list[Diagnostic] = []
    (archive,) = Opener(Limits(), 17, report).open(folder, "out", APPLICATION)
    assert reported(report) == [("IN-NOT-FILE", "warning", "soundness", "out", "pipe")]
    assert archive.diagnostics == []


def test_directory_whose_file_is_too_large(tmp_path: Path) -> None:
    folder = filled(tmp_path / "out", A_class=A, B_class=b"1")
    (archive,) = Opener(Limits(entry_bytes=2), 17, []).open(folder, "out", APPLICATION)
    assert list(archive.classes()) == [("B.class", b"1")]
    assert reported(archive.diagnostics) == [("ARC-ENTRY-SIZE", "warning", "soundness", "out", "A.class")]


# --- jimages
def test_jimage(tmp_path: Path) -> None:
    data = jimages.build([
        Resource("m", "a", "A", "class", A), Resource("m", "", "module-info", "class", B),
        Resource("m", "", "r", "txt", b"1"), Resource("n", "", "module-info", "class", A),
    ])  # fmt: skip
    (tmp_path / "modules").write_bytes(data)
    (tmp_path / "other").write_bytes(data)
    for name in ("modules", "other"):
        (archive,) = Opener(Limits(), 17, []).open(tmp_path / name, "label", JDK)
        assert (archive.label, archive.role, archive.manifest) == ("label", JDK, {})
        assert sorted(archive.classes()) == [
            ("a/A.class", A), ("m/module-info.class", B), ("n/module-info.class", A),
        ]  # fmt: skip
        assert archive.resources() == ["r.txt"]
    (tmp_path / "modules").write_bytes(jar("A.class"))
    with pytest.raises(Refused) as ended:
        Opener(Limits(), 17, []).open(tmp_path / "modules", "label", JDK)
    assert ended.value.diagnostic.code != "ARC-NOT-ZIP"
    # A touched file may be another.
    before = Opener(Limits(), 17, []).open(tmp_path / "other", "label", JDK)[0].digest
    os.utime(tmp_path / "other", ns=(0, 0))
    assert Opener(Limits(), 17, []).open(tmp_path / "other", "label", JDK)[0].digest != before


class Named:
    """A container of names."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def names(self) -> Iterator[str]:
        return iter(self._names)


def test_view_of_a_jimage() -> None:
    names = (
        "/m/A.class", "/n/A.class", "/m/module-info.class", "/n/module-info.class", "/n/x/module-info.class",
        "/m/x", "/n/x", "/modules/y", "/packages/z", "/packages/B.class",
    )  # fmt: skip
    found = jimage_view(Named(*names))  # type: ignore[arg-type]
    assert found.classes == {
        "A.class": "/m/A.class", "m/module-info.class": "/m/module-info.class",
        "n/module-info.class": "/n/module-info.class", "x/module-info.class": "/n/x/module-info.class",
        "B.class": "/packages/B.class",
    }  # fmt: skip
    assert found.resources == {"x": "/m/x"}
    assert found.ignored == 0
