"""Reflective calls of the application that outside input reaches, as SARIF 2.1.0: results of the kind CWE-470.

A result's code flows are the ways of the input, one for each source. Without line numbers in the class files, there
are logical locations only.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from cli.explain import Place
from cli.export.inputs import Input, Inputs, Location, Reached
from cli.run import Run
from cli.specification import source_file
from cli.version import version
from engine.reflection import sources

RULE = "java/unsafe-reflection"
_CWE = "470"
_TITLE = "Use of Externally-Controlled Input to Select Classes or Code ('Unsafe Reflection')"
_CWE_URI = "https://cwe.mitre.org/data/definitions/470.html"
# Who sends a request may be anybody; who sets a property starts the program.
_LEVELS = {
    sources.REQUEST: "error", sources.SOCKET: "error",
    sources.STREAM: "warning", sources.FILE: "warning", sources.DATABASE: "warning", sources.RESOURCE: "warning",
    sources.ARGUMENT: "warning",
    sources.PROPERTY: "note", sources.ENVIRONMENT: "note", sources.NATIVE: "note",
}  # fmt: skip
# The most ways of a result: those of the nearest sources.
_FLOWS = 10
_ORDER = ("error", "warning", "note")
_TAXON = {"id": _CWE, "index": 0, "toolComponent": {"name": "CWE", "index": 0}}


def lines(run: Run) -> Iterator[str]:
    """Yields the text, one result after the other."""
    yield '{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [{\n'
    yield f'"tool": {json.dumps({"driver": _driver()})},\n'
    yield f'"taxonomies": {json.dumps([_taxonomy()])},\n'
    yield f'"invocations": [{{"executionSuccessful": {json.dumps(run.result.complete)}}}],\n'
    yield '"columnKind": "utf16CodeUnits",\n"results": ['
    inputs, seen, before = Inputs(run), Counter[str](), "\n"
    for each in inputs.all():
        yield before + json.dumps(_result(inputs, each, seen), indent=1)
        before = ",\n"
    yield "\n]}]}\n"


def _driver() -> dict[str, Any]:
    return {
        "name": "Heliograph", "version": version(),
        "supportedTaxonomies": [{"name": "CWE", "index": 0}],
        "rules": [
            {
                "id": RULE, "name": "UnsafeReflection", "shortDescription": {"text": _TITLE},
                "fullDescription": {
                    "text": "Input from outside the program decides which class, method or field a reflective call acts on."
                },
                "help": {"text": "Compare the name with those that are expected before the class is loaded or the member used."},
                "helpUri": _CWE_URI, "defaultConfiguration": {"level": "warning"},
                "properties": {
                    "kind": "path-problem", "precision": "medium", "tags": ["security", f"external/cwe/cwe-{_CWE}"],
                },
                "relationships": [{"target": _TAXON, "kinds": ["superset"]}],
            }
        ],
    }  # fmt: skip


def _taxonomy() -> dict[str, Any]:
    return {
        "name": "CWE", "organization": "MITRE", "informationUri": "https://cwe.mitre.org/",
        "shortDescription": {"text": "The MITRE Common Weakness Enumeration"},
        "taxa": [{"id": _CWE, "shortDescription": {"text": _TITLE}, "helpUri": _CWE_URI}],
    }  # fmt: skip


def _result(inputs: Inputs, reached: Reached, seen: Counter[str]) -> dict[str, Any]:
    site = reached.site.site
    place, api = inputs.origins.place_of(site), inputs.origins.api_of(site)
    levels = {_LEVELS[each.kind] for each in reached.inputs}
    key = f"{place.method} {reached.site.api}"
    seen[key] += 1
    text = f"{_source(reached.inputs[0])} reaches {api}"
    others = len(reached.inputs) - 1
    if others:
        text += f", and so does input from {others} more place{'s' if others > 1 else ''}"
    return {
        "ruleId": RULE, "ruleIndex": 0, "level": next(each for each in _ORDER if each in levels),
        "message": {"text": text},
        "locations": [_location(place)],
        "codeFlows": [_flow(each) for each in reached.inputs[:_FLOWS]],
        "partialFingerprints": {"reflectiveCall/v1": _fingerprint(f"{key} {seen[key]}")},
        "taxa": [_TAXON],
        "properties": {"api": reached.site.api, "sources": sorted({each.kind for each in reached.inputs})},
    }  # fmt: skip


def _source(source: Input) -> str:
    return source.text[:1].upper() + source.text[1:]


def _fingerprint(text: str) -> str:
    """Returns what stays the same while lines come and go: the method, the call, and how many are before it there."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _flow(source: Input) -> dict[str, Any]:
    steps = [{"location": _location(each.place) | _message(each)} for each in source.way]
    return {"message": {"text": source.kind}, "threadFlows": [{"locations": steps}]}


def _message(location: Location) -> dict[str, Any]:
    return {"message": {"text": location.text}}


def _location(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if not place.method:
        return found
    if place.line >= 0:
        declaring = place.method.partition("(")[0].rpartition(".")[0].replace(".", "/")
        found["physicalLocation"] = {
            "artifactLocation": {"uri": quote(source_file(declaring)), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": max(place.line, 1)},
        }
    found["logicalLocations"] = [{"fullyQualifiedName": place.method, "kind": "function"}]
    return found
