"""Names of the elements of a run, as the graph has them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cli.evidence import evidence
from cli.graph.frames import choose, name, numbers, optional
from cli.run import Run
from cli.text import class_name
from cypher.schema import NONE, Int32
from engine.flow import Evidence


class ElementNames:
    """The names of a run's elements; columns of text are as long as what they are asked for."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def texts(self) -> list[str]:
        """All texts, as names."""
        return [name(each) for each in self.run.names.texts]

    @cached_property
    def class_names(self) -> list[str]:
        """The name of each type, in Java's notation."""
        return [
            name(class_name(self.run.names.texts[each]))
            for each in self.run.names.columns.types[:, 0].tolist()
        ]

    @cached_property
    def methods(self) -> pl.DataFrame:
        """The id and names of each method, in the order of ids."""
        ids, declaring, text, descriptor, _ = self.run.names.columns.methods.T
        frame = pl.DataFrame(
            {
                "id": pl.Series(ids),
                "className": choose(self.class_names, declaring),
                "name": choose(self.texts, text),
                "descriptor": choose(self.texts, descriptor),
            }
        )
        qualified = pl.concat_str("className", pl.lit("."), "name")
        return frame.with_columns(
            qualifiedName=qualified, signature=pl.concat_str(qualified, "descriptor")
        )  # fmt: skip

    def method_column(self, column: str, methods: Int32) -> pl.Series:
        """Returns a column of `methods` for each of `methods`, null for -1."""
        ids = self.run.names.columns.methods[:, 0]
        places = np.searchsorted(ids, np.maximum(methods, 0)).clip(max=len(ids) - 1)
        found = self.methods[column].gather(pl.Series(places))
        return optional(found, methods >= 0)

    def lines(self, methods: Int32, offsets: Int32) -> pl.Series:
        """Returns the source line of each instruction, null where there is none."""
        return numbers(self.run.names.lines(methods, offsets))

    def parameters(self, ids: Int32) -> Int32:
        """Returns the number of parameters of the methods that may run, the receiver included, else -1."""
        found = np.full(int(ids.max(initial=0)) + 1, NONE, np.int32)
        found[self.run.result.reached] = self.evidence.parameters
        return found[ids]

    @cached_property
    def evidence(self) -> Evidence:
        """The columns from which explanations are made."""
        return evidence(self.run)

    def is_application(self, methods: Int32) -> NDArray[np.bool_]:
        """Returns which of `methods` the application declares; -1 is none."""
        found = np.zeros(len(methods), np.bool_)
        known = methods >= 0
        found[known] = self.run.names.is_application(methods[known])
        return found
