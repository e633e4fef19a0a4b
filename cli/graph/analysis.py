"""The analysis as nodes and relationships: pointers, objects, flows and the constraints behind them."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cli.graph.detail import Kept, everything, kept_in, owners
from cli.graph.frames import Numbers, Tables, choose, columns_of, digest, numbers, visible
from cli.graph.inputs import Inputs
from cli.graph.names import ElementNames
from cli.strings import string_objects
from cypher import graph, schema
from cypher.schema import NONE, Int32, type_name
from engine import heap
from engine.flows import KINDS, Flows, flows_of
from engine.sets import Sets

# The kind of flow from a part of a string to the string.
COMPUTED = "computed"
_OBJECT_KINDS = (
    "allocated", "merged", "string", "generic", "class", "method", "field", "unknown", "native", "entry", "reflective",
    "class-of", "handle", "made-handle", "method-type", "type",
)  # fmt: skip
_MADE_BY_CALLS = (heap.UNKNOWN, heap.CLASS_OF, heap.MADE_HANDLE, heap.METHOD_TYPE)
_OBJECT_LABELS = {
    "StringObject": heap.STRING, "ClassObject": heap.CLASS_OBJECT, "MethodObject": heap.METHOD_OBJECT,
    "FieldObject": heap.FIELD_OBJECT, "UnknownObject": heap.UNKNOWN,
}  # fmt: skip


class Analysis:
    """Adds what the analysis found to tables."""

    def __init__(self, names: ElementNames, tables: Tables, inputs: Inputs) -> None:
        self._run, self._names, self._tables, self._inputs = names.run, names, tables, inputs
        self._result, self._sites = names.run.result, names.run.result.sites

    def add(self, detail: str) -> None:
        """Adds as much as `detail` says."""
        flows = flows_of(self._names.evidence)
        kept = everything(flows) if detail == graph.FULL else kept_in(self._run, flows)
        self._add_pointers(flows, kept)
        self._add_objects()
        self._add_sets(kept)
        self._add_texts()
        self._add_facts(kept)
        self._add_flows(flows, kept)
        self._add_results(kept)
        self._add_inputs(kept)
        self._add_operands(kept)

    def _add_pointers(self, flows: Flows, kept: Kept) -> None:
        result, points_to = self._result, self._result.points_to
        size = flows.first_set + len(flows.set_of)
        owner = owners(result, flows.first_set)
        base = np.concatenate((points_to.base, np.full(len(flows.set_of), NONE, np.int32)))
        field = np.concatenate((points_to.field, flows.set_field))
        field[result.static_pointer] = result.static_field
        method, index = np.full(size, NONE, np.int32), np.full(size, NONE, np.int32)
        static, of_set = np.zeros(size, np.bool_), np.arange(size) >= flows.first_set
        static[result.static_pointer] = True
        # (what follows the variables of the last method, and doesn't belong to any, is fresh or of an object)
        variables = np.flatnonzero((base < 0) & ~static & ~of_set)
        variables = variables[owner[variables] >= 0]
        method[variables] = result.reached[owner[variables]]
        index[variables] = variables - result.first_variable[owner[variables]]
        ids = np.flatnonzero(kept.pointers)
        entered = np.zeros(size, np.bool_)
        entered[self._inputs.entering().pointer] = True
        labels = {
            "Variable": ((base < 0) & ~static & ~of_set)[ids], "StaticField": static[ids], "SetField": of_set[ids],
            "ObjectField": (base >= 0)[ids], "Input": entered[ids], "OpenString": self._open_strings(flows)[ids],
        }  # fmt: skip
        name, caption = self._pointer_names(ids, method, index, field, base, of_set)
        columns = {
            "name": name,
            "caption": caption,
            "index": numbers(index[ids]),
            "method": self._tables.keys.of("Method", method[ids]),
            "field": self._tables.keys.of("Field", field[ids]),
            "base": self._tables.keys.of("Object", base[ids]),
        }
        self._tables.add_nodes("Pointer", ids, columns, labels)

    def _open_strings(self, flows: Flows) -> NDArray[np.bool_]:
        """Returns which pointers may refer to strings that are no constants; of a set's field, what flows there."""
        found = np.zeros(flows.first_set + len(flows.set_of), np.bool_)
        strings = string_objects(self._run, constant=False)
        found[: flows.first_set] = Sets(self._result.points_to).holding(strings)
        found[flows.target[found[flows.source] & (flows.target >= flows.first_set)]] = True
        return found

    def _pointer_names(
        self, ids: Numbers, method: Int32, index: Int32, field: Int32, base: Int32, of_set: NDArray[np.bool_]
    ) -> tuple[pl.Series, pl.Series]:
        """Returns what people call each pointer, and a short form of that, which leaves out what is around it."""
        parameters = self._names.parameters(np.maximum(method, 0))[ids]
        fields = self._run.names.columns.fields
        words = [
            f"{self._names.class_names[declaring].rpartition('.')[2]}.{self._names.texts[text]}"
            for _, declaring, text, _, _ in fields.tolist()
        ]
        places = np.searchsorted(fields[:, 0], np.maximum(field[ids], 0)).clip(max=max(len(fields) - 1, 0))
        of_field = choose(words, np.where(field[ids] >= 0, places, NONE)).fill_null("[]")
        frame = pl.DataFrame(
            {
                "method": self._names.method_column("qualifiedName", method[ids]),
                "short": self._names.method_column("name", method[ids]),
                "class": self._names.method_column("className", method[ids]),
                "index": index[ids], "parameters": parameters, "field": of_field,
                "other": (base[ids] >= 0) | of_set[ids] | (field[ids] >= 0),
            }
        )  # fmt: skip
        column, count = pl.col("index"), pl.col("parameters")
        what = (
            pl.when(column < 0).then(pl.lit("a value"))
            .when(column < count).then(pl.concat_str(pl.lit("argument "), column))
            .when(column == count).then(pl.lit("result"))
            .when(column == count + 1).then(pl.lit("thrown"))
            .otherwise(pl.concat_str(pl.lit("v"), column))
        )  # fmt: skip
        # (of a constructor or initialiser, the class says more than the name)
        short = (
            pl.when(pl.col("short").str.starts_with("<"))
            .then(pl.col("class").str.replace(r"^.*[.$](.)", "${1}"))
            .otherwise("short")
        )
        named = [
            pl.when("other").then(pl.col("field")).otherwise(
                pl.concat_str(method.fill_null("the JVM"), pl.lit(": "), what)
            ).alias(name)
            for name, method in (("name", pl.col("method")), ("caption", short))
        ]  # fmt: skip
        found = frame.select(named)
        return found["name"], found["caption"]

    def _add_objects(self) -> None:
        objects = self._result.objects
        ids = np.flatnonzero(objects.kind >= 0)
        kind, type_, method, offset, payload = (column[ids] for column in objects)
        types = choose(self._names.class_names, type_)
        shown = pl.DataFrame({"kind": choose(_OBJECT_KINDS, kind), "type": types.fill_null("?")}).select(
            pl.concat_str("kind", pl.lit(" "), "type")
        )
        columns = {
            "name": shown.to_series(), "kind": choose(_OBJECT_KINDS, kind), "type": types,
            "method": self._tables.keys.of("Method", method), "offset": numbers(offset),
            "line": self._names.lines(method, offset), "payload": numbers(payload),
        }  # fmt: skip
        labels = {label: kind == wanted for label, wanted in _OBJECT_LABELS.items()}
        self._tables.add_nodes("Object", ids, columns, labels)
        self._tables.add_edges("Object-INSTANCE_OF-Class", ids, type_)
        made = np.isin(kind, _MADE_BY_CALLS)
        self._tables.add_edges("Object-MADE_BY-CallSite", ids[made], payload[made])
        for label, wanted in (
            ("Text", heap.STRING), ("Class", heap.CLASS_OBJECT), ("Method", heap.METHOD_OBJECT), ("Field", heap.FIELD_OBJECT)
        ):  # fmt: skip
            chosen = (kind == wanted) & np.isin(payload, self._named(label))
            self._tables.add_edges(f"Object-STANDS_FOR-{label}", ids[chosen], payload[chosen])

    def _named(self, label: str) -> Int32:
        """Returns the numbers of the nodes of a label: a run may have objects for members that it has no names for."""
        columns = self._run.names.columns
        if label == "Class":
            return np.arange(len(columns.types), dtype=np.int32)
        table: Int32 = {"Text": columns.constants, "Method": columns.methods, "Field": columns.fields}[label]
        return table[:, 0]

    def _add_sets(self, kept: Kept) -> None:
        points_to = self._result.points_to
        pointers = np.flatnonzero(kept.pointers[: len(points_to.representative)])
        of = points_to.representative[pointers]
        filled = points_to.at[of + 1] > points_to.at[of]
        self._tables.add_edges("Pointer-POINTS_TO-ObjectSet", pointers[filled], of[filled])
        sets = np.unique(of[filled])
        first, count = points_to.at[sets], points_to.at[sets + 1] - points_to.at[sets]
        words = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        owner = np.repeat(sets, count)
        bits = np.unpackbits(
            np.ascontiguousarray(points_to.word[words]).view(np.uint8).reshape(-1, 8),
            axis=1,
            bitorder="little",
        )
        word, bit = np.nonzero(bits)
        members = points_to.key[words][word] * np.int32(64) + bit
        self._tables.add_edges("ObjectSet-HOLDS-Object", owner[word], members)
        sizes = np.bincount(np.searchsorted(sets, owner[word]), minlength=len(sets))
        self._tables.add_nodes("ObjectSet", sets, {"size": numbers(sizes)})

    def _add_texts(self) -> None:
        ids = self._run.names.columns.constants[:, 0]
        texts = [self._run.names.constant(each) for each in ids.tolist()]
        columns = {
            "text": pl.Series([visible(each) for each in texts], dtype=pl.String),
            "hash": pl.Series([digest(each) for each in texts], dtype=pl.String),
            "length": pl.Series([len(each) for each in texts], dtype=pl.Int64),
        }
        self._tables.add_nodes("Text", ids, columns)

    def _add_facts(self, kept: Kept) -> None:
        for relation, ends in graph.FACT_ENDS.items():
            rows = self._result.facts[relation]
            hints = graph.labels_of(relation)
            chosen = kept.rows(rows, [each for each, label in hints.items() if label == "Pointer"])
            columns = {
                each: self._property(getattr(rows, each)[chosen], hints[each])
                for each in hints
                if each not in ends
            }
            start, end = (getattr(rows, each)[chosen] for each in ends)
            edge = f"{hints[ends[0]]}-{type_name(relation)}-{hints[ends[1]]}"
            self._tables.add_edges(edge, start, end, columns)
        self._add_handles(kept)
        self._add_exact(kept)

    def _property(self, values: Int32, label: str) -> pl.Series:
        return self._tables.keys.of(label, values) if label else numbers(values)

    def _add_handles(self, kept: Kept) -> None:
        rows = self._result.facts[schema.HandleConstant]
        chosen = kept.rows(rows, ["target"])
        columns = {
            "method": self._tables.keys.of("Method", rows.method[chosen]),
            "offset": numbers(rows.offset[chosen]), "kind": numbers(rows.kind[chosen]),
        }  # fmt: skip
        for label, column in (("Method", rows.callee), ("Field", rows.field)):
            edge = f"{label}-HANDLE_CONSTANT-Pointer"
            self._tables.add_edges(edge, column[chosen], rows.target[chosen], columns)

    def _add_exact(self, kept: Kept) -> None:
        rows = self._result.facts[schema.ExactArgument]
        none = rows.variable < 0
        for label, chosen in (("Pointer", ~none & kept.rows(rows, ["variable"])), ("CallSite", none)):
            start = rows.site if label == "CallSite" else rows.variable
            columns = {each: numbers(getattr(rows, each)[chosen]) for each in ("position", "length", "index")}
            self._tables.add_edges(
                f"{label}-EXACT_ARGUMENT-CallSite", start[chosen], rows.site[chosen], columns
            )

    def _add_flows(self, flows: Flows, kept: Kept) -> None:
        chosen = kept.pointers[flows.source] & kept.pointers[flows.target]
        kind, source, target, method, offset, site = (column[chosen] for column in flows[:6])
        columns = {
            "kind": choose(KINDS, kind), "method": self._tables.keys.of("Method", method),
            "offset": numbers(offset), "site": self._tables.keys.of("CallSite", site),
        }  # fmt: skip
        self._tables.add_edges("Pointer-FLOWS_TO-Pointer", source, target, columns)

    def _add_results(self, kept: Kept) -> None:
        ids = np.arange(len(self._sites.method))
        for edge, column in (("RETURNS_TO", self._sites.result), ("THROWS_TO", self._sites.thrown)):
            chosen = (column >= 0) & kept.pointers[column]
            self._tables.add_edges(f"CallSite-{edge}-Pointer", ids[chosen], column[chosen])

    def _add_inputs(self, kept: Kept) -> None:
        """Adds where input enters, and what strings are computed from."""
        entering, computed = self._inputs.entering(), self._inputs.computed()
        chosen = kept.pointers[entering.pointer]
        self._tables.add_edges("CallSite-ENTERS-Pointer", entering.site[chosen], entering.pointer[chosen])
        strings = Sets(self._result.points_to).holding(string_objects(self._run, constant=True))
        chosen = kept.pointers[computed.operand] & kept.pointers[computed.result] & strings[computed.operand]
        site, operand, result = (column[chosen] for column in computed)
        columns = {
            "kind": pl.Series([COMPUTED]).new_from_index(0, len(site)),
            "method": self._tables.keys.of("Method", self._sites.method[site]),
            "offset": numbers(self._sites.offset[site]), "site": self._tables.keys.of("CallSite", site),
        }  # fmt: skip
        self._tables.add_edges("Pointer-FLOWS_TO-Pointer", operand, result, columns)

    def _add_operands(self, kept: Kept) -> None:
        found = self._result.reflective
        operands = [
            (pointer, each.site, operand)
            for each in found
            for operand, pointer in each.operands.items()
            if pointer >= 0 and kept.pointers[pointer]
        ]
        words = pl.Series([each[2] for each in operands], dtype=pl.String)
        pairs = columns_of([each[:2] for each in operands])
        self._tables.add_edges("Pointer-OPERAND-CallSite", *pairs, {"name": words})
        sources = [(source.obj, each.site, source) for each in found for source in each.sources]
        self._tables.add_edges(
            "Object-SOURCE-CallSite",
            *columns_of([each[:2] for each in sources]),
            {
                "kind": pl.Series([each[2].kind for each in sources], dtype=pl.String),
                "text": pl.Series([visible(each[2].text) for each in sources], dtype=pl.String),
            },
        )
