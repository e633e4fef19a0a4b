"""Exports of the small program's run."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.export import csv_format, dot_format, jcg_format, json_format, tamiflex_format
from cli.export.dot_format import escaped
from cli.run import Run
from tests.benchmarks.callgraphs import read_jcg
from tests.cli.conftest import Heliograph

CALLEE = "demo.Plugin.greet(Ljava/lang/String;)V"


def test_csv_has_a_line_for_each_call(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(csv_format.lines(run, application=False)))))
    assert rows[0].keys() == set(csv_format.COLUMNS)
    main = "demo.Main.main([Ljava/lang/String;)V"
    found = {(each["caller"], each["line"], each["kind"], each["callee"]) for each in rows}
    assert (main, "13", "reflection", CALLEE) in found
    assert (main, "16", "call", "java.lang.Thread.start()V") in found
    assert len(found) == len(rows)


def test_json_refers_to_methods_by_place(run: Run) -> None:
    found = json.loads("".join(json_format.lines(run, application=False)))
    names = [f"{each['class']}.{each['name']}{each['descriptor']}" for each in found["methods"]]
    assert len(set(names)) == len(names) == len(run.result.reached)
    edges = {(names[each["caller"]], each["kind"], names[each["callee"]]) for each in found["calls"]}
    assert ("demo.Plugin.run()V", "call", "demo.Plugin.helper()V") in edges
    assert ("demo.Main.main([Ljava/lang/String;)V", "reflection", CALLEE) in edges


def test_application_leaves_library_calls_out(run: Run) -> None:
    found = json.loads("".join(json_format.lines(run, application=True)))
    own = [each["application"] for each in found["methods"]]
    assert all(own[each["caller"]] or own[each["callee"]] for each in found["calls"])
    names = {f"{each['class']}.{each['name']}" for each in found["methods"]}
    assert "demo.Main.main" in names
    assert "java.lang.Class.forName0" not in names


def test_dot_has_nodes_and_edges(run: Run) -> None:
    text = "".join(dot_format.lines(run, application=False))
    labels = dict(re.findall(r'^  (m\d+) \[label="(.*?)"', text, re.MULTILINE))
    edges = {(labels[a], labels[b]) for a, b in re.findall(r"^  (m\d+) -> (m\d+)", text, re.MULTILINE)}
    assert ("demo.Plugin.run()V", "demo.Plugin.helper()V") in edges
    assert '[style=dashed, label="reflection"]' in text


def test_dot_strings_are_closed_by_nothing_in_a_name() -> None:
    assert escaped('x"];evil\\') == 'x\\"];evil\\\\'
    assert escaped("a\nb") == "a\\\\x0ab"


def entries(run: Run) -> dict[tuple[str, str], list[Any]]:
    found = json.loads("".join(jcg_format.lines(run, application=False)))["reachableMethods"]
    return {(each["method"]["declaringClass"], each["method"]["name"]): each["callSites"] for each in found}


def test_jcg_has_call_sites_with_declared_and_computed_targets(run: Run) -> None:
    sites = entries(run)["Ldemo/Main;", "main"]
    (call,) = [each for each in sites if each["line"] == 11]
    assert call["declaredTarget"] == {
        "name": "run", "declaringClass": "Ljava/lang/Runnable;", "returnType": "V", "parameterTypes": [],
    }  # fmt: skip
    assert [each["declaringClass"] for each in call["targets"]] == ["Ldemo/Plugin;"]
    assert call["pc"] > 0


def test_jcg_has_reflective_edges_as_entries_of_their_own_on_their_line(run: Run) -> None:
    sites = [each for each in entries(run)["Ldemo/Main;", "main"] if each["line"] == 13]
    declared = {each["declaredTarget"]["name"]: each for each in sites}
    assert declared.keys() == {"invoke", "greet"}
    assert declared["greet"]["targets"] == [declared["greet"]["declaredTarget"]]
    assert declared["greet"]["declaredTarget"]["parameterTypes"] == ["Ljava/lang/String;"]
    (initialiser,) = [
        each for each in entries(run)["Ldemo/Main;", "main"] if each["declaredTarget"]["name"] == "<clinit>"
    ]
    assert initialiser["line"] == 9


def test_jcg_holds_library_bodies_and_calls_of_native_methods(run: Run) -> None:
    found = entries(run)
    assert [each["declaredTarget"]["name"] for each in found["Ljava/lang/Class;", "forName"]] == ["forName0"]
    (start,) = found["Ljava/lang/Thread;", "start0"]
    assert start["declaredTarget"]["name"] == "run"
    assert len(found) <= len(run.result.reached)


def test_jcg_is_read_by_the_benchmarks(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "calls.json"
    file.write_text("".join(jcg_format.lines(run, application=False)))
    graph = read_jcg(file)
    assert len(graph.methods) == len(run.result.reached)
    assert ("demo.Plugin.run()", "demo.Plugin.helper()") in {(str(a), str(b)) for a, b in graph.calls}


def test_tamiflex_log(run: Run) -> None:
    assert "".join(tamiflex_format.lines(run, everything=False)).splitlines() == [
        "Class.forName;demo.Plugin;demo.Main.main;9;;",
        "Class.getMethod;<demo.Plugin: void greet(java.lang.String)>;demo.Main.main;12;;",
        "Class.newInstance;demo.Plugin;demo.Main.main;10;;",
        "Method.invoke;<demo.Plugin: void greet(java.lang.String)>;demo.Main.main;13;;",
    ]


@pytest.mark.parametrize("form", ["csv", "json", "dot", "jcg"])
def test_exports_go_to_a_file_or_to_the_output(
    heliograph: Heliograph, folder: Path, tmp_path: Path, form: str
) -> None:
    arguments = ("export", "callgraph", "--run", folder, "--format", form)
    printed = heliograph(*arguments)
    assert printed.code == 0
    assert heliograph(*arguments, "--out", tmp_path / "x").code == 0
    assert (tmp_path / "x").read_text() == printed.output != ""
    assert [each.name for each in tmp_path.iterdir()] == ["x"]
    assert heliograph(*arguments, "--out", tmp_path / "no" / "x").code == 2
