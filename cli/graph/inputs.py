"""Where input from outside comes into a program, and what its strings are computed from."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cli.graph.frames import choose, visible
from cli.graph.names import ElementNames
from cypher import schema
from cypher.schema import NONE, Int32, Int64
from engine.computed import Computations
from engine.constraints import STRING_ARRAY
from engine.flow import Flow
from engine.reflection.sources import ARGUMENT, COMPUTED, CONCATENATION, Source, sources_by_method
from engine.sites import ENTRY_POINT


class Entering(NamedTuple):
    """The input of the call `site` comes to `pointer`."""

    site: Int64
    pointer: Int64


class Computed(NamedTuple):
    """The call `site` computes the string at `result` from the one at `operand`."""

    site: Int64
    operand: Int64
    result: Int64


class Inputs:
    """The calls that bring input into a run's program."""

    def __init__(self, names: ElementNames) -> None:
        self._names, self._run, self._result = names, names.run, names.run.result
        self._sites = names.run.result.sites

    @cached_property
    def _sources(self) -> dict[int, Source]:
        """The input source that each call is of, by site."""
        sources, names = sources_by_method(), self._run.names
        by_method = {}
        for method, declaring, text, _, _ in names.columns.methods.tolist():
            found = sources.get((names.internal_type(declaring), names.texts[text]))
            if found is not None:
                by_method[method] = found
        rows = np.flatnonzero(np.isin(self._result.call_callee, list(by_method)))
        sites, callees = self._result.call_site[rows].tolist(), self._result.call_callee[rows].tolist()
        joined = dict.fromkeys(self._computations.concatenations().tolist(), CONCATENATION)
        return joined | {site: by_method[callee] for site, callee in zip(sites, callees, strict=True)}

    @cached_property
    def _computations(self) -> Computations:
        return Computations(Flow(self._names.evidence), self._run.names)

    def columns(self) -> dict[str, pl.Series]:
        """Returns of each call the kind of input that it brings, and what says which, if that is a constant."""
        sources, arguments = self._sources, self._arguments
        place = np.full(len(self._sites.method), NONE, np.int32)
        place[[*sources, *arguments]] = np.arange(len(sources) + len(arguments))
        constants = self._constants(np.array([*sources], np.int32))
        kinds = [each.kind for each in sources.values()] + [ARGUMENT] * len(arguments)
        keys = [constants.get((site, each.key), "") for site, each in sources.items()]
        return {"inputKind": choose(kinds, place), "inputName": choose(keys + [""] * len(arguments), place)}

    def _constants(self, sites: Int32) -> dict[tuple[int, int], str]:
        """Returns the string constants that are put into arguments of calls, by site and position."""
        arguments = self._result.facts[schema.Argument]
        arguments = arguments.take(np.isin(arguments.site, sites))
        strings = self._result.facts[schema.StringConstant]
        text_of = dict(zip(strings.target.tolist(), strings.text.tolist(), strict=True))
        return {
            (site, position): visible(self._run.names.constant(text_of[variable]))
            for site, position, variable in zip(*(each.tolist() for each in arguments), strict=True)
            if variable in text_of
        }

    @cached_property
    def _arguments(self) -> dict[int, list[int]]:
        """The pointers of the elements of the array that the JVM calls a `main` with, by site."""
        names, result = self._run.names, self._result
        calls = np.flatnonzero(self._sites.origin[result.call_site] == ENTRY_POINT)
        mains = {
            int(result.call_site[call])
            for call in calls.tolist()
            if (found := names.method(int(result.call_callee[call]))).name == "main"
            and found.descriptor == f"({STRING_ARRAY})V"
        }
        arguments, stores = result.facts[schema.Argument], result.facts[schema.ArrayStore]
        made = stores.take(stores.method == NONE)
        rows = np.flatnonzero(np.isin(arguments.site, sorted(mains)))
        return {
            site: made.source[made.base == array].tolist()
            for site, array in zip(
                arguments.site[rows].tolist(), arguments.variable[rows].tolist(), strict=True
            )
            if (made.base == array).any()
        }

    def arguments(self) -> NDArray[np.bool_]:
        """Returns which calls are those by which the JVM starts a `main`."""
        found = np.zeros(len(self._sites.method), np.bool_)
        found[[*self._arguments]] = True
        return found

    def entering(self) -> Entering:
        """Returns the pointers to which input comes: results of calls, and elements of the array for `main`."""
        of_calls = np.array([*self._sources], np.int64)
        results = np.array([*map(self._computations.result, self._sources)], np.int64)
        pairs = [(site, each) for site, elements in self._arguments.items() for each in elements]
        sites, elements = np.array(pairs, np.int64).reshape(-1, 2).T
        known = results >= 0
        return Entering(np.concatenate((of_calls[known], sites)), np.concatenate((results[known], elements)))

    def computed(self) -> Computed:
        """Returns the strings from which others are computed, constants among them."""
        computations = self._computations
        rows = [
            (site, operand, computations.result(site))
            for site, source in self._sources.items()
            if source.kind == COMPUTED
            for operand in dict.fromkeys(computations.operands(site))
        ]
        site, operand, result = np.array(rows, np.int64).reshape(-1, 3).T
        kept = (operand >= 0) & (result >= 0)
        return Computed(site[kept], operand[kept], result[kept])
