"""Where an analysis starts: which `main`, which methods of a library."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cli.exits import Exit, Failure, usage
from cli.text import class_name, pattern_of, shown
from cypher.program import ACC_STATIC, PUBLIC, Program
from engine.entry import Entries, is_library_entry
from loader.csr import TextTable
from loader.unit import Unit

_MAIN, _ARGUMENTS = "main", ("([Ljava/lang/String;)V", "()V")
_AGENTS = ("premain", "agentmain")
_OPTIONS = ("(Ljava/lang/String;Ljava/lang/instrument/Instrumentation;)V", "(Ljava/lang/String;)V")
_SHOWN = 20


class Wanted(NamedTuple):
    """What the user asked for. `manifest` is the class that a manifest starts, `agents` are those of its agents."""

    mains: Sequence[str]
    library: bool
    patterns: Sequence[str]
    manifest: str | None
    agents: Sequence[str] = ()


def entries_of(
    program: Program, units: Sequence[Unit], wanted: Wanted, release: int
) -> tuple[Entries, list[str]]:
    """Returns the entries, and the classes whose `main` is one.

    `units` are those of the application. Raises `Failure` if no main class, or no method, is what is wanted.
    """
    library: list[int] = []
    if wanted.library:
        library += _library(program, units)
    if wanted.patterns:
        library += _matching(program, units, wanted.patterns)
    names = list(wanted.mains)
    if not names and not wanted.library and not wanted.patterns:
        library += _agents(program, wanted.agents)
        if wanted.manifest or not library:
            names = [wanted.manifest or _only_main(units)]
    mains = [_main_of(program, units, name, release) for name in names]
    started = [program.type_named(name.replace(".", "/")) for name in names]
    return Entries(list(dict.fromkeys(mains)), list(dict.fromkeys(library)), started), names


def main_classes(units: Sequence[Unit]) -> list[str]:
    """Returns the application classes that declare `public static void main(String[])`."""
    found: dict[str, None] = {}
    for unit in units:
        texts = TextTable(unit.text_at, unit.text_bytes)
        signatures = [
            each
            for each in range(len(unit.signature_name))
            if texts.one(int(unit.signature_descriptor[each])) == _ARGUMENTS[0]
            and texts.one(int(unit.signature_name[each])) == _MAIN
        ]
        wanted = PUBLIC | ACC_STATIC
        rows = np.flatnonzero(
            np.isin(unit.method_signature, signatures) & ((np.asarray(unit.method_flags) & wanted) == wanted)
        )
        classes = np.searchsorted(unit.class_methods_at, rows, "right") - 1
        refs = np.asarray(unit.class_type)[classes]
        found |= dict.fromkeys(class_name(texts.one(int(unit.type_text[each]))) for each in refs.tolist())
    return list(found)


def _only_main(units: Sequence[Unit]) -> str:
    candidates = main_classes(units)
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise usage(
            "no class has a main method: name entries with --entry, or analyze a library with --library"
        )
    raise usage(f"several classes have a main method; choose with --main: {_list(candidates)}")


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(shown(each) for each in sorted(names)[:_SHOWN]) + more


def _main_of(program: Program, units: Sequence[Unit], name: str, release: int) -> int:
    """Returns the `main` that starting the class runs (JLS 12.1.4; since 25 also instance methods, JEP 512)."""
    type_ = program.type_named(name.replace(".", "/"))
    if type_ < 0:
        candidates = main_classes(units)
        near = difflib.get_close_matches(name, candidates, 5) or candidates
        advice = f"; classes with a main method: {_list(near)}" if near else ""
        raise Failure(Exit.NO_INPUT, f"there is no class {shown(name)} in the inputs{advice}")
    for descriptor in _ARGUMENTS if release >= 25 else _ARGUMENTS[:1]:
        main = program.resolve_method(type_, _MAIN, descriptor)
        if main >= 0 and (release >= 25 or program.flags_of_method(main) & ACC_STATIC):
            return main
    raise Failure(Exit.NO_INPUT, f"{shown(name)} has no main method")


def _agents(program: Program, names: Sequence[str]) -> Iterator[int]:
    """Yields the methods in which the JVM starts agents (package `java.lang.instrument`)."""
    for type_ in (program.type_named(name.replace(".", "/")) for name in names):
        for method in program.methods_of(type_) if type_ >= 0 else ():
            _, name, descriptor = program.name_of_method(method)
            static = program.flags_of_method(method) & ACC_STATIC
            if static and name in _AGENTS and descriptor in _OPTIONS:
                yield method


def _methods(program: Program, units: Sequence[Unit]) -> Iterator[int]:
    """Yields the methods that application classes declare."""
    for unit in units:
        texts = TextTable(unit.text_at, unit.text_bytes)
        for name in texts.many(np.asarray(unit.type_text)[unit.class_type]):
            type_ = program.type_named(name)
            if type_ >= 0:
                yield from program.methods_of(type_)


def _library(program: Program, units: Sequence[Unit]) -> list[int]:
    found = [each for each in _methods(program, units) if is_library_entry(program, each)]
    if not found:
        raise usage(
            "the inputs have no public class with a public or protected method: --library finds no entry"
        )
    return found


def _matching(program: Program, units: Sequence[Unit], patterns: Sequence[str]) -> list[int]:
    """Returns the methods that some pattern matches: `a.b.C.m`, `a.b.C.m(I)V`, with `*` and `?`."""
    expressions = [(each, pattern_of(each)) for each in patterns]
    matched: set[str] = set()
    found = []
    for method in _methods(program, units):
        declaring, name, descriptor = program.name_of_method(method)
        plain = f"{class_name(program.name_of_type(declaring))}.{name}"
        hits = [
            each
            for each, expression in expressions
            if expression.match(plain) or expression.match(plain + descriptor)
        ]
        matched.update(hits)
        if hits:
            found.append(method)
    for each in patterns:
        if each not in matched:
            raise usage(f"no method of the application matches --entry {shown(each)}")
    return found
