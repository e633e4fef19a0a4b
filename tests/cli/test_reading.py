"""Commands that read a run of the small program."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cli.diff import compare
from cli.export import csv_format
from cli.run import Run
from tests.cli.conftest import Heliograph


def answer(heliograph: Heliograph, *arguments: str | Path) -> Any:
    """Returns the JSON that a command prints."""
    done = heliograph(*arguments, "--format", "json")
    assert done.code == 0, done.errors
    return json.loads(done.output)


def test_sites_have_what_other_tools_rely_on(heliograph: Heliograph, folder: Path) -> None:
    found = answer(heliograph, "sites", "--run", folder)
    first = found[0]
    (source,), (derivation,) = first.pop("sources"), first.pop("derivations")
    assert first == {
        "site": "demo.Main.main([Ljava/lang/String;)V@3",
        "caller": "demo.Main.main",
        "callerDescriptor": "([Ljava/lang/String;)V",
        "line": 9,
        "offset": 3,
        "api": "java.lang.Class.forName",
        "status": "resolved",
        "targets": ["demo.Plugin"],
        "reason": "",
        "assumes": [],
        "causes": [],
        "sourcesOmitted": 0,
        "derivationsOmitted": 0,
    }
    path = source.pop("path")
    assert source == {"kind": "constant", "text": "demo.Plugin", "key": ""}
    assert [(each["kind"], each["line"]) for each in path] == [("static-store", 6), ("static-load", 9)]
    assert path[0].keys() == {"kind", "method", "line", "offset", "text"}
    assert path[0]["text"].startswith('constant "demo.Plugin" is assigned to static field demo.Main.chosen')
    (premise,) = derivation.pop("premises")
    assert derivation == {
        "target": "demo.Plugin",
        "rule": "classObjects",
        "paper": "Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005",
    }
    assert premise == {"operand": "name", "text": "demo.Plugin", "derivation": None, "path": path}
    by_line = {(each["line"], each["api"].rpartition(".")[2]): each for each in found}
    assert by_line[10, "newInstance"]["targets"] == ["demo.Plugin.<init>()V"]
    (invoked,) = by_line[13, "invoke"]["derivations"]
    assert (invoked["rule"], invoked["premises"][0]["derivation"]["rule"]) == (
        "resolvedInvoke",
        "methodObject",
    )
    assert by_line[13, "invoke"]["targets"] == ["demo.Plugin.greet(Ljava/lang/String;)V"]
    assert by_line[14, "forName"]["status"] == "unresolved"
    assert by_line[14, "forName"]["reason"] == "unknown-name"
    assert {each["kind"] for each in by_line[14, "forName"]["sources"]} == {"argument"}
    assert by_line[15, "forName"]["status"] == "resolved"
    assert by_line[15, "forName"]["reason"] == "class-absent"
    assert by_line[15, "forName"]["targets"] == []


def test_sites_by_status(heliograph: Heliograph, folder: Path) -> None:
    found = answer(heliograph, "sites", "--run", folder, "--status", "unresolved")
    assert {each["line"] for each in found} == {14}
    assert heliograph("sites", "--run", folder, "--status", "solved").code == 2


def test_mode_none_resolves_nothing(heliograph: Heliograph, without_reflection: Path) -> None:
    found = answer(heliograph, "sites", "--run", without_reflection)
    assert {(each["status"], each["reason"]) for each in found} == {("unresolved", "mode-ignores-reflection")}


def test_list_of_sites_names_calls_and_counts_them(heliograph: Heliograph, folder: Path) -> None:
    done = heliograph("sites", "--run", folder)
    assert "demo.Main.main:13" in done.output
    assert "7 reflective calls: 5 resolved, 0 partial, 2 unresolved" in done.output


def test_explain_leads_from_the_constant_to_the_target(heliograph: Heliograph, folder: Path) -> None:
    done = heliograph("explain", "demo.Main.main:9", "--run", folder)
    assert done.code == 0
    assert '"demo.Plugin"' in done.output
    assert "Main.java:9" in done.output
    found = answer(heliograph, "explain", "demo.Main.main:9", "--run", folder)
    assert found[0]["answers"][0]["target"] == "demo.Plugin"
    assert heliograph("explain", "demo.Main.main:99", "--run", folder).code == 2


def test_calls_from_a_method(heliograph: Heliograph, folder: Path) -> None:
    found = answer(heliograph, "callgraph", "--run", folder, "--from", "demo.Main.main")
    edges = {(edge["line"], edge["kind"], edge["callee"]) for (edge,) in found}
    assert (11, "call", "demo.Plugin.run()V") in edges
    assert (13, "reflection", "demo.Plugin.greet(Ljava/lang/String;)V") in edges


def test_calls_to_a_method(heliograph: Heliograph, folder: Path) -> None:
    found = answer(heliograph, "callgraph", "--run", folder, "--to", "demo.Plugin.h*r")
    assert {edge["caller"] for (edge,) in found} == {
        "demo.Plugin.run()V", "demo.Plugin.greet(Ljava/lang/String;)V",
    }  # fmt: skip


def test_a_path_goes_from_call_to_call(heliograph: Heliograph, folder: Path) -> None:
    wanted = ("--from", "java.lang.Thread.start", "--to", "demo.Plugin.helper")
    (path,) = answer(heliograph, "callgraph", "--run", folder, *wanted)
    assert [edge["callee"].partition("(")[0] for edge in path] == [
        "java.lang.Thread.start0", "java.lang.Thread.run", "demo.Plugin.run", "demo.Plugin.helper",
    ]  # fmt: skip
    assert all(first["callee"] == second["caller"] for first, second in pairwise(path))


def test_no_path_is_an_answer_but_an_unknown_method_is_not(heliograph: Heliograph, folder: Path) -> None:
    done = heliograph("callgraph", "--run", folder, "--from", "demo.Plugin.helper", "--to", "demo.Main.main")
    assert (done.code, done.output) == (0, "there is no such path\n")
    assert heliograph("callgraph", "--run", folder, "--from", "demo.Nobody").code == 2
    assert heliograph("callgraph", "--run", folder).code == 2


def test_census_counts_calls_by_category(heliograph: Heliograph, folder: Path) -> None:
    found = answer(heliograph, "census", "--run", folder)
    assert {(each["category"], each["api"]): each["calls"] for each in found} == {
        ("class by name", "java.lang.Class.forName"): 3,
        ("member by name", "java.lang.Class.getMethod"): 1,
        ("creation", "java.lang.Class.newInstance"): 2,
        ("invocation", "java.lang.reflect.Method.invoke"): 1,
    }


def test_diff_shows_what_reflection_adds(
    heliograph: Heliograph, folder: Path, without_reflection: Path
) -> None:
    found = answer(heliograph, "diff", without_reflection, folder)
    assert "demo.Plugin.greet(Ljava/lang/String;)V" in found["methods"]["gained"]
    assert found["methods"]["lost"] == []
    assert found["edges"]["lost"] == []
    assert {each["kind"] for each in found["edges"]["gained"]} >= {"reflection", "call"}
    changed = {each["site"]: each for each in found["sites"]}
    assert changed["demo.Main.main([Ljava/lang/String;)V@3"] == {
        "site": "demo.Main.main([Ljava/lang/String;)V@3", "api": "java.lang.Class.forName",
        "before": "unresolved", "after": "resolved", "gained": ["demo.Plugin"], "lost": [],
    }  # fmt: skip
    assert "only in the second" in heliograph("diff", without_reflection, folder).output


@pytest.mark.parametrize("everything", [False, True])
def test_diff_has_the_edges_that_one_call_graph_lacks(
    folder: Path, without_reflection: Path, everything: bool
) -> None:
    runs = Run(without_reflection), Run(folder)
    before, after = (set(edges_by_name(each, everything)) for each in runs)
    assert before
    for (old, new), (first, second) in (((before, after), runs), ((after, before), runs[::-1])):
        found = compare(first, second, everything)
        assert (found.edges_gained, found.edges_lost) == (sorted(new - old), sorted(old - new))
    assert len(after - before) > 4


def edges_by_name(run: Run, everything: bool) -> Iterator[tuple[str, str, str]]:
    """Yields site, kind and callee of the calls that are exported."""
    for row in csv.DictReader(io.StringIO("".join(csv_format.lines(run, application=not everything)))):
        yield f"{row['caller']}@{row['offset']}", row["kind"], row["callee"]


@pytest.mark.parametrize(
    "arguments",
    [("sites",), ("explain", "a:1"), ("callgraph", "--from", "a"), ("census",), ("export", "callgraph")],
    ids=" ".join,
)
def test_a_run_that_is_none_ends_with_2(
    heliograph: Heliograph, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = heliograph(*arguments, "--run", tmp_path)
    assert done.code == 2
    assert str(tmp_path) in done.errors
