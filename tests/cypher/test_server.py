"""The managed server with stand-ins for Maven and Java: what is fetched, kept, refused and ended."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cypher.connection import Unavailable
from cypher.server import configuration, managed, process
from cypher.server.assembly import ARTIFACTS, Assembly
from cypher.server.configuration import Settings
from cypher.server.files import private_folder, read_private, write_private
from cypher.server.java import find_java
from cypher.server.managed import Managed
from cypher.server.process import Process
from tests.cypher.server_stand_in import JAVA, MAVEN, put

ROOT = Path(__file__).parents[2]
VERSION = configuration.DEFAULT_VERSION


class Told:
    """Keeps what was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, what: str, far: str) -> None:
        self.lines.append(f"{what} {far}".rstrip())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Maven repository of three jars, and programs that take the places of Maven and Java."""
    folder = tmp_path / "repository"
    for name in ("a", "b", "c"):
        jar = folder / name / f"{name}.jar"
        jar.parent.mkdir(parents=True)
        jar.write_bytes(name.encode() * 5000)
        checksum = hashlib.sha1(jar.read_bytes(), usedforsecurity=False).hexdigest()
        jar.with_name(f"{name}.jar.sha1").write_text(checksum)
    put(tmp_path / "bin", "mvn", MAVEN)
    put(tmp_path / "bin", "java", JAVA)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("REPOSITORY", str(folder))
    monkeypatch.setenv("KEPT", str(tmp_path / "kept"))
    return folder


@pytest.fixture
def assembly(tmp_path: Path, repository: Path) -> Assembly:
    assert repository.is_dir()
    assembly = Assembly(tmp_path / "jars" / VERSION, VERSION)
    assembly.complete(Told())
    return assembly


@pytest.fixture
def other() -> subprocess.Popen[bytes]:
    """A process that has nothing to do with the server."""
    return subprocess.Popen(["sleep", "60"])


# What is fetched.


def test_the_jars_are_copied_and_known(tmp_path: Path, repository: Path) -> None:
    assembly, told = Assembly(tmp_path / "jars" / VERSION, VERSION), Told()
    assert not assembly.is_known()
    assembly.complete(told)
    assert [each.name for each in assembly.class_path()] == ["a.jar", "b.jar", "c.jar"]
    assert all(
        each.read_bytes() == (repository / each.stem / each.name).read_bytes()
        for each in assembly.class_path()
    )
    assert assembly.damaged(fully=True) == []
    assert "fetching Neo4j 2 jars, 3 MB" in told.lines
    pom = (assembly.folder / "pom.xml").read_text()
    assert all(f"<artifactId>{each.split(':')[1]}<" in pom for each in ARTIFACTS)
    assert f"<version>{VERSION}<" in pom
    for path in (assembly.folder, *assembly.folder.rglob("*")):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    again = Told()
    assembly.complete(again)
    assert again.lines == []


def test_a_damaged_jar_is_named_and_fetched_again(assembly: Assembly) -> None:
    jar = assembly.class_path()[1]
    jar.write_bytes(jar.read_bytes()[:100])
    told = Told()
    assembly.complete(told)
    assert told.lines[0] == "b.jar is missing or damaged and is fetched again"
    assert assembly.damaged(fully=True) == []


def test_a_jar_of_the_same_size_is_found_by_its_hash(assembly: Assembly) -> None:
    jar = assembly.class_path()[2]
    jar.write_bytes(jar.read_bytes()[::-1].replace(b"c", b"x", 1))
    assert assembly.damaged(fully=False) == []
    assert assembly.damaged(fully=True) == ["c.jar"]
    assembly.complete(Told(), fully=True)
    assert assembly.damaged(fully=True) == []


def test_a_jar_that_is_damaged_in_the_repository_is_refused(tmp_path: Path, repository: Path) -> None:
    (repository / "b" / "b.jar").write_bytes(b"cut")
    with pytest.raises(Unavailable, match=r"b\.jar in Maven's repository is damaged"):
        Assembly(tmp_path / "jars" / VERSION, VERSION).complete(Told())


def test_a_jar_that_differs_from_the_first_one_is_refused(assembly: Assembly, repository: Path) -> None:
    assembly.class_path()[0].unlink()
    (repository / "a" / "a.jar").write_bytes(b"another")
    (repository / "a" / "a.jar.sha1").unlink()
    with pytest.raises(
        Unavailable, match=r"a\.jar in Maven's repository is not the jar that was fetched first"
    ):
        assembly.complete(Told())
    assert assembly.damaged(fully=False) == ["a.jar"]


def test_a_jar_that_nobody_fetched_is_not_run(assembly: Assembly) -> None:
    (assembly.folder / "lib" / "planted.jar").write_bytes(b"x")
    assert "planted.jar" not in [each.name for each in assembly.class_path()]


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"jars": {"../x.jar": [1, ""]}}', '{"jars": {"x.jar": 1}}', "{}"]
)
def test_a_manifest_that_is_none_is_refused(assembly: Assembly, text: str) -> None:
    (assembly.folder / "manifest.json").write_text(text)
    with pytest.raises(Unavailable, match=r"manifest\.json"):
        assembly.class_path()


@pytest.mark.usefixtures("repository")
def test_maven_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assembly = Assembly(tmp_path / "jars" / VERSION, VERSION)
    monkeypatch.setenv("MAVEN_FAILS", "Checksum validation failed")
    with pytest.raises(
        Unavailable, match=r"could not fetch Neo4j 5.*: Checksum validation failed.*maven\.log"
    ):
        assembly.complete(Told())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="no Maven") as problem:
        assembly.complete(Told())
    assert "docker/compose.yaml" in str(problem.value)


# Java.


def test_the_first_java_that_is_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cypher.server.java._HOMES", (tmp_path / "jvm",))
    old = put(tmp_path / "old" / "bin", "java", JAVA, "1.8")
    usual = put(tmp_path / "usual", "java", JAVA, "17")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(usual.parent))
    assert find_java(17, "Neo4j") == str(usual)
    with pytest.raises(Unavailable, match=rf"needs Java 21 or newer; there is only 8 at {old}, 17 at"):
        find_java(21, "Neo4j")
    newer = [put(tmp_path / "jvm" / number / "bin", "java", JAVA, number) for number in ("21", "25", "11")]
    assert find_java(21, "Neo4j") == str(newer[1])
    assert find_java(8, "Neo4j") == str(old)


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cypher.server.java._HOMES", (tmp_path,))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(Unavailable, match=r"there is no Java: install one"):
        find_java(17, "Neo4j")


# What is kept.


def test_s10_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable, match="no folder but a link"):
        private_folder(tmp_path / "link")
    (tmp_path / "file").write_text("x")
    (tmp_path / "linked").symlink_to(tmp_path / "file")
    with pytest.raises(Unavailable, match="is a link"):
        read_private(tmp_path / "linked")
    write_private(tmp_path / "linked", "y")
    assert (tmp_path / "file").read_text() == "x"
    assert not (tmp_path / "linked").is_symlink()


def test_s10_what_was_open_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o755)
    assert stat.S_IMODE(private_folder(folder).stat().st_mode) == 0o700
    file = folder / "password"
    file.write_text("x")
    file.chmod(0o644)
    assert read_private(file) == "x"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "4.4.0"}, {"version": "5.26"}, {"version": "5.26.30\nx=y"}, {"version": "../5.26.30"},
        {"heap": "1"}, {"heap": "0g"}, {"page_cache": "1g\nx=y"}, {"transaction_memory": "-1m"}, {"bolt": 0},
        {"http": 70_000}, {"database": "system"}, {"database": "ab"}, {"database": "a/../b"}, {"database": "x y"},
    ],
)  # fmt: skip
def test_settings_that_are_refused(changes: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        configuration.checked(Settings(**(Settings()._asdict() | changes)))
    (tmp_path / "settings.json").write_text(json.dumps(changes))
    with pytest.raises(Unavailable):
        configuration.read_settings(tmp_path / "settings.json")


@pytest.mark.parametrize("text", ["{", "[]", '{"bolt": "7687"}', '{"bolt": true}', '{"heap": null}'])
def test_settings_that_are_damaged(text: str, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(text)
    with pytest.raises(Unavailable, match="damaged; remove it"):
        configuration.read_settings(tmp_path / "settings.json")


def test_settings_are_remembered(tmp_path: Path) -> None:
    chosen = Settings(version=configuration.NEWEST_VERSION, bolt=1234, heap="3g", database="graph-2")
    configuration.write_settings(tmp_path / "settings.json", chosen)
    assert configuration.read_settings(tmp_path / "settings.json") == chosen


# What runs.


@pytest.fixture
def pretended(tmp_path: Path, repository: Path) -> Managed:
    """A server that stand-ins run."""
    assert repository.is_dir()
    return Managed(tmp_path / "server")


def test_a_server_that_dies_says_why(
    pretended: Managed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SERVER_DIES", "the disk is full")
    with pytest.raises(Unavailable, match=r"ended while it started: the disk is full \(see .*logs\)"):
        pretended.start()
    assert not pretended.is_running()
    assert not (pretended.folder / "server.json").exists()
    # S5: the password went through a file that is gone.
    password = pretended.password()
    assert len(password) >= 32
    assert (tmp_path / "secret").read_text().strip() == password
    assert password not in (tmp_path / "kept").read_text()
    assert not [each for each in pretended.home.rglob("*") if "secret" in each.name]


def test_a_server_that_does_not_answer_is_ended(pretended: Managed) -> None:
    began = time.monotonic()
    with pytest.raises(Unavailable, match="did not answer within 1 seconds"):
        pretended.start(seconds=1)
    assert time.monotonic() - began < 30
    assert not pretended.is_running()


def test_the_port_that_somebody_took_meanwhile_is_left_to_them(
    pretended: Managed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SERVER_DIES", "Address already in use")
    with pytest.raises(Unavailable, match="Address already in use"):
        pretended.start()
    runs = [each for each in (tmp_path / "kept").read_text().splitlines() if "--home-dir" in each]
    assert len(runs) == 2


def test_a_java_that_is_too_old_starts_nothing(pretended: Managed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_IS", "11")
    monkeypatch.setattr("cypher.server.java._HOMES", ())
    with pytest.raises(Unavailable, match="needs Java 17 or newer"):
        pretended.start()
    with pytest.raises(Unavailable, match="needs Java 21 or newer"):
        pretended.start(version=configuration.NEWEST_VERSION)
    assert pretended.settings.version == VERSION
    with pytest.raises(Unavailable, match="there is no managed server yet"):
        pretended.password()


def running(server: Managed, child: subprocess.Popen[bytes], birth: str | None = None) -> None:
    """Writes down that `child` is the server."""
    private_folder(server.folder)
    document = {
        "pid": child.pid, "birth": birth or process.birth(child.pid), "version": VERSION, "since": "", "java": "java",
        "database": "neo4j",
    }  # fmt: skip
    write_private(server.folder / "server.json", json.dumps(document))


def test_a_process_with_the_number_of_the_server_is_left_alone(
    pretended: Managed, other: subprocess.Popen[bytes]
) -> None:
    with other:
        running(pretended, other, birth="long ago")
        assert not pretended.is_running()
        assert pretended.status().pid is None
        assert not pretended.stop()
        pretended.remove()
        assert other.poll() is None
        other.kill()


def test_what_is_written_down_of_the_server_may_be_nonsense(pretended: Managed) -> None:
    private_folder(pretended.folder)
    for text in ("{}", '{"pid": null}', '{"pid": "x", "birth": 1}'):
        write_private(pretended.folder / "server.json", text)
        assert not pretended.is_running()


def test_a_running_server_is_not_started_again(pretended: Managed, other: subprocess.Popen[bytes]) -> None:
    with other:
        running(pretended, other)
        assert pretended.start() is False
        with pytest.raises(Unavailable, match="is running; stop it before you start it differently"):
            pretended.start(heap="2g")
        with pytest.raises(Unavailable, match="stop it before the import"):
            pretended.import_offline("graph-2", [], pretended.folder)
        other.kill()
        other.wait()
        assert not pretended.is_running()


def test_a_server_that_does_not_heed_is_killed(pretended: Managed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managed, "STOPPING", 0.5)
    heedless = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", heedless], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        running(pretended, child)
        assert pretended.stop()
        assert child.poll() is not None
        assert not pretended.stop()


def test_a_child_that_ended_is_not_alive() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        known = Process(child.pid, process.birth(child.pid) or "")
        assert process.is_alive(known)
        assert not process.is_alive(Process(child.pid, "x"))
        assert process.memory(child.pid) > 0
        os.kill(child.pid, signal.SIGKILL)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # nobody has taken note of its end yet
        assert process.birth(child.pid) is None
        assert not process.is_alive(known)


def test_free_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as free:
        mine, theirs = taken.getsockname()[1], free.getsockname()[1]
        free.close()
        monkeypatch.setattr(configuration, "HTTP", mine)
        monkeypatch.setattr(configuration, "BOLT", mine)
        assert managed._free_ports(Settings(http=theirs, bolt=mine))[0] == theirs
        http, bolt = managed._free_ports(Settings(http=mine, bolt=mine))
        assert len({mine, http, bolt}) == 3


def test_an_older_version_does_not_touch_the_database(pretended: Managed) -> None:
    private_folder(pretended.folder)
    private_folder(pretended.home)
    write_private(pretended.home / "version", configuration.NEWEST_VERSION)
    with pytest.raises(Unavailable, match=r"was written by Neo4j 2026.*--neo4j 2026"):
        pretended.start()


def test_the_key_to_a_database_is_not_made_again(pretended: Managed) -> None:
    (pretended.home / "data" / "databases" / "system").mkdir(parents=True)
    with pytest.raises(Unavailable, match="password is gone"):
        pretended.start()


def test_two_commands_take_turns(pretended: Managed) -> None:
    hold = (
        "import sys, time, pathlib; from cypher.server.managed import Managed\n"
        "with Managed(pathlib.Path(sys.argv[1]))._locked(lambda what, far: print(what, flush=True)):\n"
        "    print('held', flush=True); time.sleep(float(sys.argv[2]))"
    )
    command = [sys.executable, "-c", hold, str(pretended.folder)]
    with subprocess.Popen([*command, "60"], cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with subprocess.Popen([*command, "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True) as waiting:
            assert waiting.stdout is not None
            assert "waiting for it" in waiting.stdout.readline()
            holder.kill()
            assert waiting.stdout.readline() == "held\n"


def test_removing_leaves_nothing(pretended: Managed, tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        pretended.start(seconds=0.1)
    assert pretended.home.exists()
    outside = tmp_path / "outside"
    outside.mkdir()
    (pretended.home / "data" / "link").symlink_to(outside)
    pretended.remove()
    assert sorted(each.name for each in pretended.folder.iterdir()) == ["jars", "lock"]
    assert outside.exists()
    pretended.remove(everything=True)
    assert [each.name for each in pretended.folder.iterdir()] == ["lock"]


def test_only_what_is_not_served_is_deleted(pretended: Managed) -> None:
    for name in ("neo4j", "graph-2", "system"):
        (pretended.home / "data" / "databases" / name).mkdir(parents=True)
    assert pretended.databases() == ["graph-2", "neo4j"]
    for name in ("neo4j", "system", "../.."):
        with pytest.raises(Unavailable):
            pretended.delete_database(name)
    pretended.delete_database("graph-2")
    assert pretended.databases() == ["neo4j"]
