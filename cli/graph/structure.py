"""The structure of a program as nodes and relationships: archives, packages, classes and their members."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cli.graph.frames import Tables, choose, flags, name, numbers
from cli.graph.names import ElementNames
from cli.structure import supertype_pairs
from cypher.program import (
    ABSTRACT,
    ACC_STATIC,
    ANNOTATION,
    APPLICATION,
    ENUM,
    FINAL,
    INTERFACE,
    NATIVE,
    PHANTOM,
    PRIVATE,
    PUBLIC,
    SYNTHETIC,
)
from cypher.schema import NONE, Int32
from engine.sites import ENTRY_POINT


class Structure:
    """Adds classes and members to tables."""

    def __init__(self, names: ElementNames, tables: Tables) -> None:
        self._run, self._names, self._tables = names.run, names, tables
        self._result, self._sites = names.run.result, names.run.result.sites

    def add(self) -> None:
        """Adds all of it."""
        self._add_classes()
        self._add_methods()
        self._add_fields()

    def _add_classes(self) -> None:
        structure, types = self._run.structure, self._run.names.columns.types[:, 1]
        ids = np.arange(len(types), dtype=np.int32)
        labels = {
            "Interface": (types & INTERFACE) != 0, "Annotation": (types & ANNOTATION) != 0, "Enum": (types & ENUM) != 0,
            "Array": np.array([each.endswith("[]") for each in self._names.class_names], np.bool_),
            "Phantom": (types & PHANTOM) != 0,
        }  # fmt: skip
        kinds = pl.Series(["class"]).new_from_index(0, len(types)).to_frame("kind")
        for label, kind in (
            ("Interface", "interface"),
            ("Enum", "enum"),
            ("Annotation", "annotation"),
            ("Array", "array"),
        ):
            kinds = kinds.with_columns(
                kind=pl.when(pl.Series(labels[label])).then(pl.lit(kind)).otherwise(pl.col("kind"))
            )
        simple = [each.rpartition(".")[2].rpartition("$")[2] or each for each in self._names.class_names]
        columns = {
            "name": pl.Series(self._names.class_names, dtype=pl.String),
            "simpleName": pl.Series(simple, dtype=pl.String),
            "kind": kinds["kind"],
            "application": flags(types, APPLICATION),
            "public": flags(types, PUBLIC),
            "abstract": flags(types, ABSTRACT),
            "final": flags(types, FINAL),
        }
        self._tables.add_nodes("Class", ids, columns, labels)
        self._add_containers(ids)
        interface = labels["Interface"]
        above = structure.superclass
        extends = (above >= 0) & ~interface
        self._tables.add_edges("Class-EXTENDS-Class", ids[extends], above[extends])
        below, implemented = structure.interfaces.T
        # An interface extends its superinterfaces (JLS 9.1.3).
        of_interface = interface[below]
        self._tables.add_edges("Class-EXTENDS-Class", below[of_interface], implemented[of_interface])
        self._tables.add_edges("Class-IMPLEMENTS-Class", below[~of_interface], implemented[~of_interface])
        self._tables.add_edges("Class-SUBTYPE_OF-Class", *self._supertypes.T)
        self._tables.add_edges("Class-ELEMENT_TYPE-Class", ids, structure.element)
        self._tables.add_edges("Class-ANNOTATED_BY-Class", *structure.annotated_types.T)

    @cached_property
    def _supertypes(self) -> Int32:
        """The pairs of a type and a proper supertype."""
        return supertype_pairs(self._run.structure)

    def _add_containers(self, types: Int32) -> None:
        archives = self._run.manifest["archives"]
        self._tables.add_nodes(
            "Archive",
            np.arange(len(archives)),
            {
                "name": pl.Series([name(each["label"]) for each in archives], dtype=pl.String),
                "role": pl.Series([each["role"] for each in archives], dtype=pl.String),
            },
        )
        self._tables.add_edges("Archive-CONTAINS-Class", self._run.structure.archive, types)
        packages: dict[str, int] = {}
        of = np.full(len(types), NONE, np.int32)
        for type_, each in enumerate(self._names.class_names):
            if not each.endswith("[]"):
                of[type_] = packages.setdefault(each.rpartition(".")[0], len(packages))
        self._tables.add_nodes(
            "Package", np.arange(len(packages)), {"name": pl.Series(list(packages), dtype=pl.String)}
        )
        self._tables.add_edges("Package-CONTAINS-Class", of, types)

    def _add_methods(self) -> None:
        result, table = self._result, self._run.names.columns.methods
        ids, declaring, flag = table[:, 0], table[:, 1], table[:, 4]
        reachable = np.isin(ids, result.reached)
        first = np.full(int(ids.max(initial=0)) + 1, NONE, np.int32)
        first[result.reached] = result.first_variable
        entries = result.call_callee[self._sites.origin[result.call_site] == ENTRY_POINT]
        frame = self._names.methods
        columns = {
            **{each: frame[each] for each in ("name", "signature", "qualifiedName", "descriptor", "className")},
            "application": flags(flag, APPLICATION),
            "reachable": pl.Series(reachable),
            "entryPoint": pl.Series(np.isin(ids, entries)),
            **{
                word: flags(flag, bit)
                for word, bit in (
                    ("public", PUBLIC), ("static", ACC_STATIC), ("abstract", ABSTRACT), ("native", NATIVE),
                    ("synthetic", SYNTHETIC),
                )
            },
            "line": self._names.lines(ids, np.zeros_like(ids)),
            "parameters": numbers(self._names.parameters(ids)),
            "firstVariable": numbers(first[ids]),
            "selector": numbers(np.where(self._is_selected(flag), self._run.structure.selects[:, 1], NONE)),
        }  # fmt: skip
        labels = {
            "Constructor": (frame["name"] == "<init>").to_numpy(),
            "Initialiser": (frame["name"] == "<clinit>").to_numpy(),
        }
        self._tables.add_nodes("Method", ids, columns, labels)
        self._tables.add_edges("Class-DECLARES-Method", declaring, ids)
        self._tables.add_edges(
            "Method-ANNOTATED_BY-Class", *self._known(self._run.structure.annotated_methods, ids).T
        )
        self._tables.add_edges("Method-OVERRIDES-Method", *self._overrides(declaring, flag))

    @staticmethod
    def _known(pairs: Int32, ids: Int32) -> Int32:
        """Returns the pairs whose first element is one of `ids`."""
        return pairs[np.isin(pairs[:, 0], ids)]

    def _overrides(self, declaring: Int32, flag: Int32) -> tuple[Int32, Int32]:
        """Returns the pairs of a method and one of a supertype that it overrides."""
        structure = self._run.structure
        methods, signatures = structure.selects.T
        chosen = self._is_selected(flag)
        own = pl.DataFrame(
            {"method": methods[chosen], "type": declaring[chosen], "signature": signatures[chosen]}
        )
        below, above = self._supertypes.T
        pairs = pl.DataFrame({"type": below, "above": above})
        found = own.join(pairs, on="type").join(
            own, left_on=["above", "signature"], right_on=["type", "signature"], suffix="_above"
        )
        return found["method"].to_numpy(), found["method_above"].to_numpy()

    def _is_selected(self, flag: Int32) -> NDArray[np.bool_]:
        """Returns which methods virtual calls may select (JVMS 5.4.6)."""
        special: NDArray[np.bool_] = self._names.methods["name"].is_in(["<init>", "<clinit>"]).to_numpy()
        found: NDArray[np.bool_] = ((flag & (ACC_STATIC | PRIVATE)) == 0) & ~special
        return found

    def _add_fields(self) -> None:
        ids, declaring, text, descriptor, flag = self._run.names.columns.fields.T
        frame = pl.DataFrame(
            {
                "name": choose(self._names.texts, text),
                "className": choose(self._names.class_names, declaring),
                "descriptor": choose(self._names.texts, descriptor),
            }
        ).with_columns(qualifiedName=pl.concat_str("className", pl.lit("."), "name"))
        of_class = flags(self._run.names.columns.types[declaring, 1], APPLICATION)
        columns = {
            **{each: frame[each] for each in ("name", "className", "descriptor", "qualifiedName")},
            "application": of_class, "static": flags(flag, ACC_STATIC), "public": flags(flag, PUBLIC),
        }  # fmt: skip
        self._tables.add_nodes("Field", ids, columns)
        self._tables.add_edges("Class-DECLARES-Field", declaring, ids)
        self._tables.add_edges(
            "Field-ANNOTATED_BY-Class", *self._known(self._run.structure.annotated_fields, ids).T
        )
