"""Reads call graphs: Tai-e's dumps, and the JSON that `heliograph export callgraph --format jcg` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

PRIMITIVES = {
    "B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short",
    "V": "void", "Z": "boolean",
}  # fmt: skip


class Method(NamedTuple):
    """A method, its types written as in Java source but for the `$` of nested classes."""

    declaring: str
    name: str
    parameters: tuple[str, ...]
    returns: str

    def __str__(self) -> str:
        return f"{self.declaring}.{self.name}({', '.join(self.parameters)})"


class CallGraph(NamedTuple):
    """Reachable methods, and pairs of caller and callee; `edges` counts call sites apart, as tools report it."""

    methods: frozenset[Method]
    calls: frozenset[tuple[Method, Method]]
    edges: int


def read_peer(folder: Path) -> CallGraph:
    """Returns what Tai-e dumped into `folder` with `cg=dump-methods:true;dump-call-edges:true`."""
    known: dict[str, Method] = {}

    def method(signature: str) -> Method:
        if signature not in known:
            known[signature] = parse_signature(signature)
        return known[signature]

    methods = _lines(folder / "reachable-methods.txt")
    edges = {tuple(line.split("\t")) for line in _lines(folder / "call-edges.txt")}
    calls = {(method(site.partition(">/")[0] + ">"), method(callee)) for site, callee in edges}
    return CallGraph(frozenset(map(method, methods)), frozenset(calls), len(edges))


def read_jcg(file: Path) -> CallGraph:
    """Returns the call graph in `file`, in the JSON of call-graph comparison suites."""
    methods: set[Method] = set()
    calls: set[tuple[Method, Method]] = set()
    edges: set[tuple[Method, int, str, Method]] = set()
    for entry in json.loads(file.read_bytes())["reachableMethods"]:
        caller = _of_json(entry["method"])
        methods.add(caller)
        for site in entry["callSites"]:
            for target in site["targets"]:
                callee = _of_json(target)
                calls.add((caller, callee))
                edges.add((caller, site.get("pc", site["line"]), site["declaredTarget"]["name"], callee))
    return CallGraph(frozenset(methods), frozenset(calls), len(edges))


def parse_signature(signature: str) -> Method:
    """Returns the method of a signature in Soot's notation.

    >>> str(parse_signature("<a.B$C: void <init>(int[],java.lang.String)>"))
    'a.B$C.<init>(int[], java.lang.String)'
    """
    found = re.fullmatch(r"<(.+?): (\S+) (\S+?)\((.*)\)>", signature)
    if found is None:
        raise ValueError(f"not a method signature: {signature}")
    declaring, returns, name, parameters = found.groups()
    return Method(declaring, name, tuple(parameters.split(",")) if parameters else (), returns)


def type_of_descriptor(descriptor: str) -> str:
    """Returns the type as in source.

    >>> type_of_descriptor("[[Ljava/lang/String;"), type_of_descriptor("J")
    ('java.lang.String[][]', 'long')
    """
    element = descriptor.lstrip("[")
    name = PRIMITIVES.get(element) or element.removeprefix("L").removesuffix(";").replace("/", ".")
    return name + "[]" * (len(descriptor) - len(element))


def method_of_descriptor(declaring: str, name: str, descriptor: str) -> Method:
    """Returns the method with this descriptor.

    >>> str(method_of_descriptor("a.B", "m", "(I[Ljava/lang/String;)V"))
    'a.B.m(int, java.lang.String[])'
    """
    parameters, _, returns = descriptor.removeprefix("(").partition(")")
    listed = re.findall(r"\[*(?:L[^;]+;|[BCDFIJSZ])", parameters)
    return Method(declaring, name, tuple(map(type_of_descriptor, listed)), type_of_descriptor(returns))


def _of_json(method: dict[str, Any]) -> Method:
    return Method(
        type_of_descriptor(method["declaringClass"]),
        method["name"],
        tuple(type_of_descriptor(each) for each in method["parameterTypes"]),
        type_of_descriptor(method["returnType"]),
    )


def _lines(file: Path) -> Iterable[str]:
    return file.read_text(encoding="utf-8").splitlines()
