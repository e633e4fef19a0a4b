"""What a run reads of its inputs: layouts, class path order, multi-release jars, and what is no archive."""

import contextlib
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cypher.schema import Diagnostic
from loader.archives import Inputs, Limits, NoInput, open_inputs
from tests.badinputs.zips import Item, build, class_file, manifest


def archive_of(*names: str, extra: tuple[Item, ...] = ()) -> bytes:
    """Returns an archive of classes of these entry names; each has its entry's name as value."""
    items = []
    for name in names:
        internal = name.removesuffix(".class").split("classes/")[-1]
        items.append(Item(name.encode(), class_file(internal, name)))
    return build([*extra, *items])


def written(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def shape(inputs: Inputs, tmp_path: Path) -> list[tuple[str, str, list[str]]]:
    """Returns (label below `tmp_path`, role, class names) of each archive."""
    return [
        (each.label.removeprefix(f"{tmp_path}/"), each.role, [name for name, _ in each.classes()])
        for each in inputs.archives
    ]


def codes(found: list[Diagnostic]) -> list[str]:
    return [each.code for each in found]


# --- layouts


def war() -> bytes:
    libraries = (
        Item(b"WEB-INF/lib/b.jar", archive_of("b/B.class"), method=0),
        Item(b"WEB-INF/lib/a.jar", archive_of("a/A.class")),
    )
    return archive_of("WEB-INF/classes/w/W.class", "applet/X.class", extra=libraries)


WAR = [
    ("app.war!WEB-INF/classes", "application", ["w/W.class"]),
    ("app.war!WEB-INF/lib/b.jar", "library", ["b/B.class"]),
    ("app.war!WEB-INF/lib/a.jar", "library", ["a/A.class"]),
]


def test_war(tmp_path: Path) -> None:
    inputs = open_inputs([written(tmp_path / "app.war", war())])
    assert shape(inputs, tmp_path) == WAR
    assert inputs.archives[0].read("w/W.class") == class_file("w/W", "WEB-INF/classes/w/W.class")
    assert not inputs.diagnostics


def test_unpacked_war(tmp_path: Path) -> None:
    written(tmp_path / "app.war" / "WEB-INF" / "classes" / "w" / "W.class", class_file("w/W"))
    for name in ("b", "a"):
        written(
            tmp_path / "app.war" / "WEB-INF" / "lib" / f"{name}.jar",
            archive_of(f"{name}/{name.upper()}.class"),
        )
    inputs = open_inputs([str(tmp_path / "app.war")])
    assert sorted(shape(inputs, tmp_path)) == sorted(WAR)


def test_spring_boot(tmp_path: Path) -> None:
    head = manifest(Main_Class="org.springframework.boot.loader.JarLauncher", Start_Class="a.Main")
    library = Item(b"BOOT-INF/lib/b.jar", archive_of("b/B.class"), method=0)
    launcher = "org/springframework/boot/loader/JarLauncher.class"
    data = archive_of("BOOT-INF/classes/a/Main.class", launcher, extra=(head, library))
    inputs = open_inputs([written(tmp_path / "app.jar", data)])
    assert inputs.main_class == "a.Main"
    assert shape(inputs, tmp_path) == [
        ("app.jar!BOOT-INF/classes", "application", ["a/Main.class"]),
        ("app.jar", "library", [launcher]),
        ("app.jar!BOOT-INF/lib/b.jar", "library", ["b/B.class"]),
    ]
    assert len({each.digest for each in inputs.archives}) == 3


def test_ear(tmp_path: Path) -> None:
    members = (
        Item(b"META-INF/application.xml"),
        Item(b"ejb.jar", archive_of("e/Bean.class")),
        Item(b"lib/c.jar", archive_of("c/C.class")),
        Item(b"app.war", war()),
    )
    inputs = open_inputs([written(tmp_path / "x.ear", build(members))])
    assert shape(inputs, tmp_path) == [
        ("x.ear!ejb.jar", "application", ["e/Bean.class"]),
        ("x.ear!lib/c.jar", "library", ["c/C.class"]),
        *((f"x.ear!{label}", role, names) for label, role, names in WAR),
    ]


def test_a26_archives_inside_are_read_to_a_depth_of_three(tmp_path: Path) -> None:
    inner = archive_of("Deep.class")
    ear = build(
        [Item(b"META-INF/application.xml"), Item(b"a.war", build([Item(b"WEB-INF/lib/d.jar", inner)]))]
    )
    shallow = open_inputs(
        [written(tmp_path / "x.jar", build([Item(b"x.ear", ear), Item(b"A.class", class_file("A"))]))]
    )
    assert shape(shallow, tmp_path)[-1] == ("x.jar!x.ear!a.war!WEB-INF/lib/d.jar", "library", ["Deep.class"])
    deep = build([Item(b"y.jar", build([Item(b"x.ear", ear)])), Item(b"A.class", class_file("A"))])
    inputs = open_inputs([written(tmp_path / "x.jar", deep)])
    assert "Deep.class" not in [name for _, _, names in shape(inputs, tmp_path) for name in names]
    assert [(each.code, each.effect) for each in inputs.diagnostics] == [("ARC-NEST", "soundness")]


def test_an_archive_inside_that_cannot_be_read(tmp_path: Path) -> None:
    data = archive_of(
        "A.class", extra=(Item(b"lib/b.jar", b"no archive"), Item(b"lib/c.jar", archive_of("C.class")))
    )
    inputs = open_inputs([written(tmp_path / "a.jar", data)])
    assert [name for _, _, names in shape(inputs, tmp_path) for name in names] == ["A.class", "C.class"]
    assert [(each.code, each.severity) for each in inputs.diagnostics] == [("ARC-NOT-ZIP", "warning")]
    assert inputs.diagnostics[0].archive.endswith("a.jar!lib/b.jar")


def test_equal_archives_inside_are_read_once(tmp_path: Path) -> None:
    same = archive_of("B.class")
    data = archive_of("A.class", extra=tuple(Item(f"lib/{at}.jar".encode(), same) for at in range(5)))
    inputs = open_inputs([written(tmp_path / "a.jar", data)])
    assert [label for label, _, _ in shape(inputs, tmp_path)] == ["a.jar", "a.jar!lib/0.jar"]


def test_a29_jmod(tmp_path: Path) -> None:
    content = build(
        [Item(b"classes/a/A.class", class_file("a/A")), Item(b"lib/x.class"), Item(b"classes/t.txt", b"t")]
    )
    inputs = open_inputs([written(tmp_path / "a.jmod", b"JM\1\0" + content)])
    assert shape(inputs, tmp_path) == [("a.jmod", "application", ["a/A.class"])]
    assert inputs.archives[0].resources() == ["t.txt"]
    for bad in (content, b"JM\1\0" + content[:-5], b"JM\2\0"):
        with pytest.raises(NoInput) as ended:
            open_inputs([written(tmp_path / "a.jmod", bad)])
        assert codes(list(ended.value.diagnostics)) == ["IN-NONE", "ARC-JMOD"]


# --- directories and what is neither file nor directory


def test_directory(tmp_path: Path) -> None:
    for name in ("a/A", "B"):
        written(tmp_path / "out" / f"{name}.class", class_file(name))
    written(tmp_path / "out" / "META-INF" / "services" / "s", b"x")
    written(tmp_path / "out" / "lib.jar", archive_of("C.class"))
    inputs = open_inputs([str(tmp_path / "out")])
    assert shape(inputs, tmp_path) == [("out", "application", ["B.class", "a/A.class"])]
    (archive,) = inputs.archives
    assert archive.resources() == ["META-INF/services/s", "lib.jar"]
    assert archive.read("META-INF/services/s") == b"x"
    assert archive.read("META-INF/services/t") is None


def test_directory_of_jars(tmp_path: Path) -> None:
    for name in "ba":
        written(tmp_path / "dist" / f"{name}.jar", archive_of(f"{name}.class"))
    inputs = open_inputs([str(tmp_path / "dist")])
    assert [(label, role) for label, role, names in shape(inputs, tmp_path) if names] == [
        ("dist!a.jar", "application"), ("dist!b.jar", "application"),
    ]  # fmt: skip


def test_a33_directory_loops_end(tmp_path: Path) -> None:
    written(tmp_path / "out" / "a" / "A.class", class_file("a/A"))
    (tmp_path / "out" / "a" / "up").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "self").symlink_to("self")
    (tmp_path / "out" / "b").symlink_to(tmp_path / "out" / "a")
    inputs = open_inputs([str(tmp_path / "out")])
    assert inputs.archives[0].class_names() == ["a/A.class", "b/A.class"]
    assert set(codes(inputs.diagnostics)) == {"IN-LOOP", "IN-UNREADABLE"}


def test_links_that_multiply_end(tmp_path: Path) -> None:
    for level in range(30):
        (tmp_path / "out" / str(level)).mkdir(parents=True)
        for name in "ab":
            (tmp_path / "out" / str(level) / name).symlink_to(tmp_path / "out" / str(level + 1))
    written(tmp_path / "out" / "30" / "A.class", class_file("A"))
    with pytest.raises(NoInput) as ended:
        open_inputs([str(tmp_path / "out")], limits=Limits(entries=2000))
    assert "ARC-ENTRIES" in codes(list(ended.value.diagnostics))


def test_a33_pipes_and_devices_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jar")
    out = written(tmp_path / "out" / "A.class", class_file("A"))
    os.mkfifo(tmp_path / "out" / "B.class")
    (tmp_path / "out" / "C.class").symlink_to("/dev/zero")
    done: list[Inputs] = []
    places = [str(tmp_path / "pipe.jar"), "/dev/zero", str(Path(out).parent)]
    run = threading.Thread(target=lambda: done.append(open_inputs(places)), daemon=True)
    run.start()
    run.join(5)
    assert done, "it waits"
    assert codes(done[0].diagnostics) == ["IN-NOT-FILE"] * 4
    assert done[0].archives[0].class_names() == ["A.class"]


@contextlib.contextmanager
def somebody() -> Iterator[None]:
    """Lets the process act for a user who may not read everything, as root may."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a33_no_permission() -> None:
    with tempfile.TemporaryDirectory(prefix="heliograph-tests-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        good = written(folder / "good.jar", archive_of("A.class"))
        written(folder / "out" / "secret" / "A.class", class_file("secret/A"))
        written(folder / "out" / "B.class", class_file("B"))
        Path(written(folder / "x.jar", b"")).chmod(0)
        (folder / "out" / "secret").chmod(0)
        with somebody():
            inputs = open_inputs([good, str(folder / "x.jar"), str(folder / "out")])
        (folder / "out" / "secret").chmod(0o700)
    assert codes(inputs.diagnostics) == ["IN-UNREADABLE", "IN-UNREADABLE"]
    assert [each.class_names() for each in inputs.archives] == [["A.class"], ["B.class"]]


@pytest.mark.parametrize("name", ["missing.jar", "a\0b.jar", "x" * 300, ""])
def test_what_is_not_there(tmp_path: Path, name: str) -> None:
    good = written(tmp_path / "good.jar", archive_of("A.class"))
    inputs = open_inputs([good], [name] if name else [])
    assert all(each.severity == "warning" and each.code.startswith("IN-") for each in inputs.diagnostics)
    assert len(inputs.diagnostics) == bool(name)
    with pytest.raises(NoInput, match="no class to analyse"):
        open_inputs([name], [good])
    open_inputs([good], [f"{name}/*"])


def test_a_class_file_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(NoInput, match="directory that holds its packages"):
        open_inputs([written(tmp_path / "A.class", class_file("A"))])


# --- class path


def test_order_and_roles(tmp_path: Path) -> None:
    paths = {name: written(tmp_path / f"{name}.jar", archive_of(f"{name}.class")) for name in "abcde"}
    listed = f"{paths['c']}{os.pathsep}{paths['a']}{os.pathsep}{tmp_path}/none.jar"
    inputs = open_inputs([paths["b"], paths["a"]], [listed, paths["d"], paths["c"]])
    assert [(label[0], role) for label, role, _ in shape(inputs, tmp_path)] == [
        ("b", "application"), ("a", "application"), ("c", "library"), ("d", "library"),
    ]  # fmt: skip
    assert codes(inputs.diagnostics) == ["IN-MISSING"]


def test_all_jars_of_a_directory(tmp_path: Path) -> None:
    app = written(tmp_path / "app.jar", archive_of("A.class"))
    for name in ("b.jar", "a.JAR", "c.zip"):
        written(tmp_path / "lib" / name, archive_of("B.class"))
    inputs = open_inputs([app], [f"{tmp_path}/lib/*"])
    assert [label for label, _, _ in shape(inputs, tmp_path)] == ["app.jar", "lib/a.JAR", "lib/b.jar"]


def test_the_class_path_of_a_manifest(tmp_path: Path) -> None:
    def chained(name: str, target: str) -> str:
        data = archive_of(f"{name}.class", extra=(manifest(Class_Path=target),))
        return written(tmp_path / f"{name}.jar", data)

    app = chained("app", "lib/x%20y.jar file:b.jar gone.jar")
    last = written(tmp_path / "last.jar", archive_of("last.class"))
    written(tmp_path / "lib" / "x y.jar", archive_of("x.class"))
    chained("b", "app.jar last.jar")
    inputs = open_inputs([app, last])
    assert [(label, role) for label, role, _ in shape(inputs, tmp_path)] == [
        ("app.jar", "application"), ("lib/x y.jar", "library"), ("b.jar", "library"), ("last.jar", "application"),
    ]  # fmt: skip
    assert [(each.code, each.severity) for each in inputs.diagnostics] == [("ARC-CLASSPATH", "note")]


@pytest.mark.parametrize(
    "target",
    ["../../secret.jar", "../secret.jar", "http://127.0.0.1:9/y.jar", "jar:file:x.jar!/", "link.jar"],
)
def test_a31_a_class_path_that_leads_elsewhere(tmp_path: Path, target: str) -> None:
    written(tmp_path / "secret.jar", archive_of("Secret.class"))
    app = written(tmp_path / "here" / "app.jar", archive_of("A.class", extra=(manifest(Class_Path=target),)))
    (tmp_path / "here" / "link.jar").symlink_to(tmp_path / "secret.jar")
    inputs = open_inputs([app])
    assert [label for label, _, _ in shape(inputs, tmp_path)] == ["here/app.jar"]
    assert [(each.code, each.effect) for each in inputs.diagnostics] == [("ARC-CLASSPATH", "soundness")]


def test_a_class_path_with_absolute_names(tmp_path: Path) -> None:
    library = written(tmp_path / "elsewhere" / "b.jar", archive_of("B.class"))
    head = manifest(Class_Path=f"file://{library} file:/etc/hostname /etc/passwd")
    app = written(tmp_path / "here" / "app.jar", archive_of("A.class", extra=(head,)))
    inputs = open_inputs([app], [library])
    assert [label for label, _, _ in shape(inputs, tmp_path)] == ["here/app.jar", "elsewhere/b.jar"]
    assert codes(inputs.diagnostics) == ["ARC-CLASSPATH"] * 2


# --- releases


def versioned(flag: str = "true") -> bytes:
    head = (manifest(Multi_Release=flag),)
    names = ("A.class", *(f"META-INF/versions/{each}/A.class" for each in (9, 17, 99)))
    return archive_of(*names, "META-INF/versions/11/META-INF/versions/9/B.class", extra=head)


@pytest.mark.parametrize(
    ("release", "entry"),
    [
        (8, "A.class"), (9, "META-INF/versions/9/A.class"), (16, "META-INF/versions/9/A.class"),
        (17, "META-INF/versions/17/A.class"), (25, "META-INF/versions/17/A.class"),
    ],
)  # fmt: skip
def test_a27_multi_release(tmp_path: Path, release: int, entry: str) -> None:
    inputs = open_inputs([written(tmp_path / "a.jar", versioned())], release=release)
    classes = list(inputs.archives[0].classes())
    assert classes == [("A.class", class_file(entry.removesuffix(".class"), entry))]
    assert not any("META-INF" in name for name in inputs.archives[0].class_names())
    assert codes(inputs.diagnostics) == ["ARC-RELEASE"]
    # Those for later releases, and the one that is nested too deeply.
    later = sum(version > release for version in (9, 17, 99))
    assert f" {later + 1} class files" in f" {inputs.diagnostics[0].text}"


def test_a27_versions_without_the_flag_are_ignored(tmp_path: Path) -> None:
    inputs = open_inputs([written(tmp_path / "a.jar", versioned("false"))], release=17)
    assert inputs.archives[0].class_names() == ["A.class"]
    assert "4 class files" in inputs.diagnostics[0].text


def test_the_digest_says_what_the_classes_are(tmp_path: Path) -> None:
    def digest(data: bytes, release: int = 17, name: str = "a.jar") -> str:
        return open_inputs([written(tmp_path / name, data)], release=release).archives[0].digest

    plain = archive_of("A.class")
    assert digest(plain, 17) == digest(plain, 21) == digest(plain, name="b.jar")
    assert digest(versioned(), 17) != digest(versioned(), 16)
    assert digest(plain) != digest(archive_of("B.class"))
    written(tmp_path / "out" / "A.class", class_file("A"))
    before = open_inputs([str(tmp_path / "out")]).archives[0].digest
    assert before == open_inputs([str(tmp_path / "out")]).archives[0].digest
    written(tmp_path / "out" / "A.class", class_file("A", "x"))
    assert before != open_inputs([str(tmp_path / "out")]).archives[0].digest
