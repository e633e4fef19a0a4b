"""By which names of classes a call counts as resolved, and where these are said to come from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.explain import Explainer
from cli.run import Run
from engine.provenance import Inference
from tests.cli.conftest import Heliograph
from tests.cli.test_specification import statuses

PROGRAM = """\
package demo;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
public class Main {
    public interface Task { }
    public static class Plain implements Task { }
    public static class Factory extends DocumentBuilderFactory {
        public DocumentBuilder newDocumentBuilder() { return null; }
        public void setAttribute(String name, Object value) { }
        public Object getAttribute(String name) { return null; }
        public void setFeature(String name, boolean value) { }
        public boolean getFeature(String name) { return false; }
    }
    public static void main(String[] arguments) throws Exception {
        Class.forName(Plain.class.getName());
        Class.forName(Plain.class.getTypeName());
        Class.forName(Plain[].class.getTypeName());
        Runnable lambda = () -> { };
        Class.forName(lambda.getClass().getName());
        Class<?> cast = Class.forName(arguments[0]);
        Task made = (Task) cast.getConstructor().newInstance();
        Class.forName(cast.getName());
        Class.forName(int.class.getName());
        DocumentBuilderFactory.newInstance(Factory.class.getName(), null);
    }
}
"""
STATUSES = {
    "main:15": "resolved",
    "main:16": "resolved",
    "main:17": "unresolved",  # (no class is found by it, which is not known)
    "main:19": "unresolved",
    "main:20": "resolved correct-casts",  # (what is made of it is cast: it is one of the classes that implement Task)
    "main:22": "partial",
    "main:23": "unresolved",
}


@pytest.fixture(scope="module")
def run(run_of: Callable[..., Path]) -> Path:
    return run_of(PROGRAM, "--mode", "casts")


def test_a_call_is_resolved_if_the_name_is_that_of_a_known_class(run: Path, heliograph: Heliograph) -> None:
    assert statuses(heliograph, run) == STATUSES


def test_a_name_is_a_constant_that_a_class_comes_before(run: Path, heliograph: Heliograph) -> None:
    calls = json.loads(heliograph("sites", "--run", run, "--format", "json").output)
    (found,) = next(each["sources"] for each in calls if each["line"] == 15)
    assert (found["kind"], found["text"]) == ("constant", "demo.Main$Plain")
    assert [each["text"] for each in found["path"]] == [
        "class literal demo.Main$Plain.class is the class", 'its name "demo.Main$Plain" is the name',
    ]  # fmt: skip


def test_a_name_is_followed_into_the_jdk(run: Path, heliograph: Heliograph) -> None:
    calls = json.loads(heliograph("sites", "--all", "--run", run, "--format", "json").output)
    call = next(
        each
        for each in calls
        if each["caller"] == "javax.xml.parsers.FactoryFinder.getProviderClass"
        and each["targets"] == ["demo.Main$Factory"]
    )
    (derivation,) = call["derivations"]
    (name,) = derivation["premises"]
    assert (name["operand"], name["text"]) == ("name", "demo.Main$Factory")
    explained = heliograph("explain", call["site"], "--run", run).output
    assert "1. demo.Main.main (Main.java:24): class literal demo.Main$Factory.class is the class" in explained
    assert '2. demo.Main.main (Main.java:24): its name "demo.Main$Factory" is passed as arg' in explained


def test_many_calls_at_once_are_explained_as_each_alone(run: Path) -> None:
    """Also where the JDK's code has only what stands for the constant."""
    read = Run(run)
    alone, at_once = Explainer(read), Explainer(read, bulk=True)
    compared = 0
    for site in read.result.reflective:
        for target in site.targets[:4]:
            expected = _origins(alone, alone.provenance.derivation(site.site, target))
            assert _origins(at_once, at_once.provenance.derivation(site.site, target)) == expected
            compared += len(expected)
    assert compared > 200


def _origins(explainer: Explainer, found: Inference | None) -> list[tuple[str, str]]:
    """Returns the operands from which a target was derived, each with what is there in the beginning."""
    premises = found.premises if found else ()
    return [(each.operand, explainer.origin(each)[1]) for each in premises]
