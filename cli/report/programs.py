"""Which programs a report is of, and how each is analysed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cli.exits import usage
from cli.pipeline import Job
from loader import maven


class Program(NamedTuple):
    """A program of a report: its name there, the input as given, and how it is analysed, the mode apart."""

    name: str
    given: str
    job: Job


class Options(NamedTuple):
    """What is said of how programs are analysed: values are `INPUT=VALUE`, or `VALUE` if there is one input.

    `library` is for programs of which no main class and no entry is named; `common` has what holds for all.
    """

    mains: Sequence[str]
    entries: Sequence[str]
    classpath: Sequence[str]
    specifications: Sequence[str]
    library: bool
    common: Job


def programs(inputs: Sequence[str], options: Options) -> list[Program]:
    """Returns the programs, one for each input. Raises `Failure` if it is open which input an option is for."""
    given = list(dict.fromkeys(inputs))
    mains = _by_input("--main", given, options.mains)
    entries = _by_input("--entry", given, options.entries)
    classpath = _by_input("--classpath", given, options.classpath)
    specifications = _by_input("--spec", given, options.specifications)
    names = [_name(each) for each in given]
    return [
        Program(
            name if names.count(name) == 1 else each,
            each,
            replace(
                options.common,
                inputs=(each,),
                mains=tuple(mains[each]),
                entries=tuple(entries[each]),
                classpath=tuple(classpath[each]),
                specification=Path(specifications[each][-1]) if specifications[each] else None,
                library=options.library and not mains[each] and not entries[each],
            ),
        )
        for each, name in zip(given, names, strict=True)
    ]


def _by_input(option: str, inputs: Sequence[str], values: Sequence[str]) -> dict[str, list[str]]:
    """Returns the values of an option for each input."""
    found: dict[str, list[str]] = {each: [] for each in inputs}
    for value in values:
        owners = [each for each in inputs if value.startswith(f"{each}=")]
        if owners:
            owner = max(owners, key=len)
            found[owner].append(value.removeprefix(f"{owner}="))
        elif len(inputs) == 1:
            found[inputs[0]].append(value)
        else:
            raise usage(f"{option} {value} could be of any input: write {option} '{inputs[0]}={value}', say")
    return found


def _name(given: str) -> str:
    """Returns how a program is called.

    >>> _name("org.hsqldb:hsqldb:2.7.3"), _name("lib/app.jar")
    ('hsqldb', 'app')
    """
    if maven.is_coordinates(given):
        return maven.parse(given).artifact
    place = Path(given).absolute()
    return place.stem if place.suffix in (".jar", ".war", ".jmod") else place.name
