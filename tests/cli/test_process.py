"""The command as a process: interrupts, closed pipes, errors of its own, terminals."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, ROOT, Heliograph


def content(folder: Path) -> list[str]:
    return [str(each) for each in folder.rglob("*") if each.is_file()]


@pytest.mark.skipif(shutil.which("java") is None, reason="needs a JDK to translate")
def test_h10_an_interrupt_ends_it_soon_and_leaves_the_caches(
    classes: Path, tmp_path: Path, folder: Path
) -> None:
    assert folder.exists()  # what this test interrupts must not be the compilation of the solver
    cache = tmp_path / "cache"
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "XDG_STATE_HOME": str(tmp_path / "state")}
    # What a shell runs in the background ignores interrupts, and so do its children unless they say otherwise.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    python, option, code = COMMAND
    command = [python, option, heed + code, "analyze", str(classes), "--verbose"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        began = time.monotonic()
        while "translating" not in process.stderr.readline():
            assert time.monotonic() - began < 60
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert time.monotonic() - began < 4  # two on a machine that has nothing else to do
    assert "Traceback" not in errors
    assert content(cache / "heliograph" / "units") == content(tmp_path / "state") == []


# What a command is in when it is interrupted: compiled code that knows nothing of signals.
BLOCKED = """
import hashlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
def block(*arguments, **options):
    sys.stderr.write("blocked\\n")
    sys.stderr.flush()
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", (1 << 31) - 1)
"""


@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
@pytest.mark.parametrize(
    ("place", "command"),
    [("cli.pipeline.analyse", "analyze"), ("cli.run.find", "census")],
    ids=["solve", "query"],
)
def test_h10_an_interrupt_ends_compiled_code(
    classes: Path, jdk: Path, tmp_path: Path, place: str, command: str, times: int
) -> None:
    code = f"{BLOCKED}\nimport {place.rpartition('.')[0]}\n{place} = block\nfrom cli.main import main; main()"
    arguments = [command]
    if command == "analyze":
        arguments += [
            str(classes),
            "--jdk",
            str(jdk),
            "--solver",
            "reference",
            "--out",
            str(tmp_path / "run"),
        ]
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "blocked\n"
        time.sleep(0.3)  # until it is in there
        began = time.monotonic()
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert time.monotonic() - began < (1 if times == 2 else 3)
    assert "Traceback" not in errors
    assert not (tmp_path / "run").exists()
    assert list(tmp_path.iterdir()) == []


def test_d03_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    hold = (
        "import sys, time, pathlib, cli.kernel\n"
        "with cli.kernel._lock(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(float(sys.argv[2]))"
    )
    command = [sys.executable, "-c", hold, str(tmp_path)]
    with subprocess.Popen([*command, "60"], cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        waiting = subprocess.Popen([*command, "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.communicate(timeout=1)
        holder.kill()
        assert waiting.communicate(timeout=20)[0] == "held\n"


def test_a_reader_that_has_enough_is_no_error(folder: Path) -> None:
    command = [*COMMAND, "export", "callgraph", "--run", str(folder), "--format", "jcg"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_an_error_of_ours_ends_with_70_and_a_traceback() -> None:
    code = (
        "import sys, cli.run\n"
        "cli.run.find = lambda wanted: 1 // 0\n"
        "sys.argv[1:] = ['census']\n"
        "from cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr
    assert "error in heliograph itself" in done.stderr


@pytest.mark.parametrize("problem", ["BufferError", "Failure"])
def test_h10_what_breaks_at_an_interrupt_is_no_error(problem: str) -> None:
    code = (
        "import sys, cli.run\n"
        "from cli.exits import Exit, Failure\n"
        "def find(wanted):\n"
        "    try: raise KeyboardInterrupt\n"
        f"    finally: raise {problem}(Exit.UNAVAILABLE, 'broken') from None\n"
        "cli.run.find = find\n"
        "sys.argv[1:] = ['census']\n"
        "from cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "heliograph: interrupted\n"


def test_h10_an_interrupt_in_a_finaliser_is_not_lost() -> None:
    code = (
        "import os, signal, sys, cli.run\n"
        "class Kept:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        for _ in range(1000): pass\n"
        "def find(wanted):\n"
        "    Kept()\n"
        "    print('goes on')\n"
        "    raise SystemExit(0)\n"
        "cli.run.find = find\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.argv[1:] = ['census']\n"
        "from cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "heliograph: interrupted\n")


def test_version_and_help_come_without_numpy() -> None:
    code = (
        "import sys\n"
        "from cli.main import app\n"
        "for words in (['--version'], ['analyze', '--help']):\n"
        "    try: app(words)\n"
        "    except SystemExit as end: assert not end.code\n"
        "assert not {'numpy', 'numba', 'jawa', 'rich'} & sys.modules.keys(), sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.match(r"heliograph \S+\n", done.stdout)


COMMANDS = [
    "analyze", "demo", "sites", "explain", "callgraph", "census", "diff", "export callgraph",
    "export tamiflex", "report livshits", "runs list", "runs remove", "cache list", "cache clear", "cache path",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(heliograph: Heliograph, command: str) -> None:
    done = heliograph(*command.split(), "--help")
    assert done.code == 0
    assert f"heliograph {command}" in " ".join(done.output.partition("Example:")[2].split())


def test_output_that_is_no_terminal_has_no_escapes(heliograph: Heliograph, folder: Path) -> None:
    for command in (("sites",), ("census",), ("callgraph", "--from", "demo.*")):
        assert "\x1b" not in heliograph(*command, "--run", folder).output


def test_cache_is_listed_and_has_a_path(heliograph: Heliograph, folder: Path) -> None:
    assert folder.exists()
    place = Path(heliograph("cache", "path").output.strip())
    assert place == Path(os.environ["XDG_CACHE_HOME"]) / "heliograph"
    assert "compiled code" in heliograph("cache", "list").output


def test_clearing_the_cache_frees_it(classes: Path, jdk: Path, tmp_path: Path) -> None:
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}

    def heliograph(*arguments: str | Path) -> str:
        command = [*COMMAND, *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    heliograph("analyze", classes, "--jdk", jdk, "--solver", "reference", "--out", tmp_path / "run")
    assert heliograph("cache", "list").count("archive") == 2
    assert "freed" in heliograph("cache", "clear")
    assert "archive" not in heliograph("cache", "list")


def test_the_demo_says_what_it_lacks(jdk: Path, folder: Path) -> None:
    assert folder.exists()
    environment = os.environ | {"PATH": "", "JAVA_HOME": str(jdk)}
    command = [*COMMAND, "demo"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "there is no Maven" in done.stderr


@pytest.mark.slow
def test_the_solver_is_compiled_once_and_where_nobody_else_writes(
    classes: Path, jdk: Path, tmp_path: Path, folder: Path
) -> None:
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    command = [*COMMAND, "analyze", str(classes), "--jdk", str(jdk), "--out", str(tmp_path / "run")]
    first, second = (
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert "compiling the solver" in first.stderr
    assert second.stderr == ""
    compiled = [each for each in tmp_path.rglob("*.nbc") if each.is_file()]
    assert compiled
    private = {each.parent.parent for each in compiled}
    assert {each.parent for each in private} == {tmp_path / "heliograph"}
    assert {stat.S_IMODE(each.stat().st_mode) for each in private} == {0o700}
    assert (tmp_path / "run" / "calls.npy").read_bytes() == (folder / "calls.npy").read_bytes()


@pytest.mark.slow
def test_d03_a_cache_that_cannot_be_written_costs_time_and_nothing_else(
    classes: Path, jdk: Path, tmp_path: Path, folder: Path
) -> None:
    (tmp_path / "heliograph").write_text("no folder")
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    command = [*COMMAND, "analyze", str(classes), "--jdk", str(jdk), "--out", str(tmp_path / "run")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning CACHE-WRITE" in done.stderr
    assert (tmp_path / "run" / "calls.npy").read_bytes() == (folder / "calls.npy").read_bytes()
