"""Maven coordinates as inputs, with a stand-in for Maven that shows what it was asked."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from loader import maven
from loader.archives import open_inputs
from loader.maven import MavenFailed
from tests.badinputs.zips import jar

# Writes the listing that OUTPUT names to where the goal's option says, after keeping the project.
STAND_IN = """#!{python}
import os, pathlib, shutil, sys
options = dict(each[2:].split("=", 1) for each in sys.argv if each.startswith("-D"))
shutil.copy(sys.argv[sys.argv.index("-f") + 1], os.environ["KEPT"])
if os.environ.get("FAILS"):
    print("[ERROR] ", os.environ["FAILS"])
    sys.exit(1)
target = options.get("mdep.outputFile") or options["outputFile"]
pathlib.Path(target).write_text(os.environ["OUTPUT"])
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    command = tmp_path / "bin" / "mvn"
    command.parent.mkdir()
    command.write_text(STAND_IN.format(python=sys.executable))
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent))
    monkeypatch.setenv("KEPT", str(tmp_path / "kept.xml"))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("org.hsqldb:hsqldb:2.7.3", True), ("g:a:jar:tests:1.0-SNAPSHOT", True), ("g:a", False), ("a.jar", False),
        ("C:\\a:b:c", False), ("/a:/b:/c", False), ("g:a:1;rm", False), ("g:<a>:1", False), ("g:a:b:c:d:e", False),
    ],
)  # fmt: skip
def test_what_coordinates_are(text: str, expected: bool) -> None:
    assert maven.is_coordinates(text) is expected


def test_an_existing_file_is_no_coordinates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g:a:1").write_bytes(jar(A=b"x"))
    assert not maven.is_coordinates("g:a:1")


def test_a_jar_and_its_class_path(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [stand_in / f"{name}.jar" for name in "abc"]
    for file in files:
        file.write_bytes(jar(**{file.stem: b"x"}))
    monkeypatch.setenv("OUTPUT", os.pathsep.join(map(str, files)) + "\n")
    extra = stand_in / "d.jar"
    extra.write_bytes(jar(D=b"x"))
    inputs = open_inputs(["g:a:1.0"], [str(extra)])
    assert [(Path(each.label).name, each.role) for each in inputs.archives] == [
        ("a.jar", "application"), ("d.jar", "library"), ("b.jar", "library"), ("c.jar", "library"),
    ]  # fmt: skip
    project = (stand_in / "kept.xml").read_text()
    for part in ("<groupId>g<", "<artifactId>a<", "<version>1.0<", "<type>jar<"):
        assert part in project
    assert "<classifier>" not in project


def test_a_war(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = (
        "\nThe following files have been resolved:\n   g:a:war:x:1.0:compile:/r/a.war -- module a (auto)\n"
    )
    monkeypatch.setenv("OUTPUT", listing)
    assert maven.resolve("g:a:war:x:1.0") == (Path("/r/a.war"), ())
    assert "<classifier>x<" in (stand_in / "kept.xml").read_text()
    monkeypatch.setenv("OUTPUT", "   none\n")
    with pytest.raises(MavenFailed, match="no war"):
        maven.resolve("g:a:war:x:1.0")


def test_failures_say_why(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAILS", "Could not find artifact g:a:jar:1 in central")
    with pytest.raises(MavenFailed, match="Could not find artifact"):
        maven.resolve("g:a:1")
    monkeypatch.delenv("FAILS")
    monkeypatch.setenv("OUTPUT", "\n")
    with pytest.raises(MavenFailed, match="no jar"):
        maven.resolve("g:a:1")
    monkeypatch.setenv("PATH", str(stand_in))
    with pytest.raises(MavenFailed, match=r"install Maven, or download the jars"):
        maven.resolve("g:a:1")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mvn") is None, reason="needs Maven")
def test_a_real_artifact() -> None:
    try:
        artifact = maven.resolve("antlr:antlr:2.7.7")
    except MavenFailed as problem:
        pytest.skip(f"needs a repository: {problem}")
    assert artifact.file.name == "antlr-2.7.7.jar"
    assert artifact.file.is_file()
    assert artifact.runtime == ()
