"""Tests of what the benchmarks report: a number that is wrong here misleads everyone who reads it."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks import compare, differences, jdk, measure, peer, subject, workloads
from tests.benchmarks.callgraphs import CallGraph, Method, method_of_descriptor, read_jcg, read_peer

BURN = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


def method(name: str, declaring: str = "a.B") -> Method:
    return Method(declaring, name, (), "void")


def graph(calls: str, methods: str = "") -> CallGraph:
    pairs = {(method(each[0]), method(each[1])) for each in calls.split()}
    listed = {method(each) for each in methods.split()} | {each for pair in pairs for each in pair}
    return CallGraph(frozenset(listed), frozenset(pairs), len(pairs))


def test_cpu_time_counts_children_and_the_exit_code_is_kept() -> None:
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}]); sys.exit(5)"
    done = measure.run([sys.executable, "-c", nested], timeout=60)
    assert done.status == 5
    assert done.cpu_seconds >= 0.3


def test_peak_memory_sums_processes_that_live_together() -> None:
    child = "import time; block = bytearray(60 << 20); time.sleep(1.5)"
    parent = f"import subprocess, sys\nc = [sys.executable, '-c', {child!r}]\n"
    parent += "running = [subprocess.Popen(c) for _ in range(2)]\nfor each in running: each.wait()"
    alone = measure.run([sys.executable, "-c", child.replace("1.5", "0")], timeout=60)
    together = measure.run([sys.executable, "-c", parent], timeout=60)
    assert alone.peak_bytes >= 60 << 20
    assert together.peak_bytes >= 120 << 20


def test_a_run_beyond_its_time_limit_is_ended_with_its_children() -> None:
    begin = time.monotonic()
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    done = measure.run([sys.executable, "-c", code], timeout=0.5)
    assert done.status is None
    assert time.monotonic() - begin < 30


def test_output_and_environment_reach_their_ends() -> None:
    code = "import os, sys; print(os.environ['PLACE']); print('oh', file=sys.stderr)"
    done = measure.run([sys.executable, "-c", code], timeout=60, environment={"PLACE": "here"})
    assert (done.output, done.errors) == ("here\n", "oh\n")


def test_every_workload_has_coordinates_of_one_version_or_is_the_hello_class() -> None:
    listed = workloads.programs()
    assert [name for name, each in listed.items() if not each.coordinates] == ["hello"]
    for each in listed.values():
        assert all(coordinates.count(":") == 2 for coordinates in each.coordinates)
    assert set(compare.DEFAULT_PROGRAMS) <= set(listed)


def test_a_fetched_artifact_is_the_input_and_what_it_needs_the_class_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\n"
        f"open({str(calls)!r}, 'a').write('x')\n"
        "folder = pathlib.Path(sys.argv[-1].partition('=')[2])\n"
        "assert 'jgap' in (folder / 'pom.xml').read_text()\n"
        "for name in ('net.sf.jgap.jgap-3.4.4.jar', 'log4j.log4j-1.2.9.jar'): (folder / name).touch()\n"
    )
    maven.chmod(maven.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(maven.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fetched = workloads.fetch("jgap")
    assert [each.name for each in fetched.inputs] == ["net.sf.jgap.jgap-3.4.4.jar"]
    assert [each.name for each in fetched.classpath] == ["log4j.log4j-1.2.9.jar"]
    assert fetched.arguments()[-1] == "--library"
    assert workloads.fetch("jgap") == fetched
    assert calls.read_text() == "x"


def test_a_failed_fetch_leaves_nothing_that_looks_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    maven = tmp_path / "mvn"
    maven.write_text("#!/bin/sh\necho no such artifact\nexit 1\n")
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for _ in range(2):
        with pytest.raises(workloads.Unavailable, match="no such artifact"):
            workloads.fetch("log4j")


def test_emptying_the_caches_keeps_compiled_code_only(tmp_path: Path) -> None:
    for name in (
        "cache/heliograph/unit.npy",
        "numba/k.nbi",
        "cache/heliograph/kernel/k.1.nbc",
        "state/run.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    subject.Sandbox(tmp_path).empty_caches()
    assert sorted(each.name for each in tmp_path.rglob("*") if each.is_file()) == ["k.1.nbc", "k.nbi"]


def test_an_analysis_is_reported_with_its_counts_and_a_failed_one_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command = tmp_path / "heliograph"
    command.write_text(
        f"#!{sys.executable}\nimport json, os, pathlib, sys\n"
        "assert sys.argv[1:3] == ['analyze', 'A.jar'] and '--library' in sys.argv\n"
        "unit = pathlib.Path(os.environ['XDG_CACHE_HOME'], 'unit.npy'); unit.parent.mkdir(exist_ok=True)\n"
        "kernel = pathlib.Path(os.environ['NUMBA_CACHE_DIR'], 'k.nbi'); kernel.parent.mkdir(exist_ok=True)\n"
        "if not kernel.exists(): kernel.touch()\n"
        "if 'points-to' in sys.argv: sys.exit('no such mode')\n"
        "found = dict(reachableMethods=100 + unit.exists(), callEdges=9, implicitEdges=1, phases={}, complete=True)\n"
        "unit.touch(); print(json.dumps(found))\n"
    )
    command.chmod(0o755)
    monkeypatch.setattr(subject, "executable", lambda: str(command))
    workload = workloads.Workload("a", (Path("A.jar"),), (), None)
    java = jdk.Jdk(tmp_path, 17, "17.0.1")
    plan = compare.Plan([workload], ["none", "points-to"], 3, java, None, "", "1g", 60)
    rows = list(compare.measured(plan))
    found = [(row.mode, row.state, row.reachable_methods) for row in rows if not row.failure]
    assert found == [("none", "cold compile", 100), ("none", "no cache", 100), ("none", "warm", 101)]
    assert {row.failure for row in rows if row.mode == "points-to"} == {"exit 1: no such mode"}


def test_the_table_gives_ratios_to_the_peer_for_the_same_program_only() -> None:
    rows = [
        compare.Row("hello", "tai-e", "", "", 60.0, 40.0, 3 * 10**9, 0.0, 14_000, 89_000),
        compare.Row("hello", "heliograph", "none", "warm", 6.0, 5.0, 10**9, 0.5, 14_100, 88_000),
        compare.Row("ecj", "heliograph", "none", "warm", 6.0, 5.0, 10**9, None, 1, 1),
    ]
    lines = list(compare.table(rows))
    assert lines[2].split()[-3:] == ["10.0", "8.0", "3.0"]
    assert "0.5!" in lines[2]
    assert lines[3].rstrip().endswith("–")


def test_the_version_of_a_jdk_is_read_from_its_release_file(tmp_path: Path) -> None:
    for text, feature in (("17.0.15", 17), ("1.8.0_402", 8), ("25", 25)):
        (tmp_path / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{text}"\n')
        assert jdk.find(tmp_path) == jdk.Jdk(tmp_path, feature, text)
    with pytest.raises(workloads.Unavailable):
        jdk.find(tmp_path / "none")


def test_a_log_without_statistics_has_no_counts() -> None:
    assert peer.counts("java.lang.OutOfMemoryError") is None


def test_both_formats_of_call_graphs_read_alike(tmp_path: Path) -> None:
    (tmp_path / "reachable-methods.txt").write_text("<a.B: void m(int[])>\n<a.B$C: a.B <init>(a.B,long)>\n")
    line = "<a.B: void m(int[])>/a.B$C.<init>/0\t<a.B$C: a.B <init>(a.B,long)>\n"
    (tmp_path / "call-edges.txt").write_text(line)
    caller = {"name": "m", "declaringClass": "La/B;", "returnType": "V", "parameterTypes": ["[I"]}
    callee = {
        "name": "<init>",
        "declaringClass": "La/B$C;",
        "returnType": "La/B;",
        "parameterTypes": ["La/B;", "J"],
    }
    site = {"declaredTarget": callee, "line": 3, "pc": 1, "targets": [callee]}
    entries = [{"method": caller, "callSites": [site]}, {"method": callee, "callSites": []}]
    file = tmp_path / "graph.json"
    file.write_text(json.dumps({"reachableMethods": entries}))
    assert read_jcg(file) == read_peer(tmp_path)
    assert method_of_descriptor("a.B$C", "<init>", "(La/B;J)La/B;") in read_jcg(file).methods


def test_roots_are_what_common_code_calls_and_carry_what_they_alone_bring_in() -> None:
    mine = graph("ma ab ac mx cz xz xy", "m q")
    found = differences.roots(mine, graph("", "m"))
    assert [(root.method.name, root.caller and root.caller.name, root.brings) for root in found] == [
        ("a", "m", 2), ("x", "m", 1), ("q", None, 0),
    ]  # fmt: skip


def test_what_only_calls_itself_has_a_root() -> None:
    found = differences.roots(graph("ab ba", "m"), graph("", "m"))
    assert [(root.method.name, root.caller, root.brings) for root in found] == [("a", None, 1)]


def test_a_class_initialiser_hangs_on_the_methods_of_its_class() -> None:
    use, initialiser = method("use", "a.New"), method("<clinit>", "a.New")
    main = method("main", "a.Main")
    mine = CallGraph(frozenset({use, initialiser, main}), frozenset({(main, use)}), 1)
    found = differences.roots(mine, CallGraph(frozenset({main}), frozenset(), 0))
    assert found == [differences.Root(use, main, 1)]


@pytest.mark.parametrize("seed", range(20))
def test_dominated_counts_what_removing_a_start_would_cut_off(seed: int) -> None:
    choose = random.Random(seed)
    nodes = [method(name) for name in "abcdefghij"]
    calls = {node: choose.sample(nodes, choose.randrange(3)) for node in nodes}
    starts = sorted(choose.sample(nodes, 3))

    def reached(begin: list[Method], without: Method | None) -> set[Method]:
        seen: set[Method] = set()
        todo = [each for each in begin if each != without]
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += [each for each in calls[node] if each != without]
        return seen

    expected = {each: len(reached(starts, None)) - len(reached(starts, each)) for each in starts}
    assert differences.dominated(calls, starts) == expected


def test_kinds_of_methods() -> None:
    kinds = {
        "finalizer": Method("a.B", "finalize", (), "void"),
        "lambda body or class": Method("a.B", "lambda$main$0", (), "void"),
        "exception constructor": Method("a.BadException", "<init>", (), "void"),
        "reflection API": Method("java.lang.Class$Atomic", "m", (), "void"),
        "run, call or compute": Method("a.B", "run", (), "void"),
        "constructor": Method("a.B", "<init>", ("int",), "void"),
        "other": Method("java.lang.ClassLoader", "m", (), "void"),
    }
    assert {kind: differences.kind_of(each) for kind, each in kinds.items()} == {kind: kind for kind in kinds}
    assert differences.kind_of(kinds["other"], frozenset(kinds.values())) == "native"


@pytest.mark.skipif(not shutil.which("javap"), reason="needs a JDK")
def test_native_methods_are_told_by_their_flags() -> None:
    native = Method("java.lang.Object", "hashCode", (), "int")
    inner = Method("java.lang.ProcessHandleImpl", "isAlive0", ("long",), "long")
    plain = Method("java.lang.Object", "equals", ("java.lang.Object",), "boolean")
    assert differences.natives_of([native, inner, plain], "") == {native, inner}


def test_the_commands_explain_themselves() -> None:
    for name in ("compare", "differences"):
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--help"]
        root = Path(__file__).parents[2]
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, check=True, env={**os.environ}
        )
        assert f"tests.benchmarks.{name}" in done.stdout
