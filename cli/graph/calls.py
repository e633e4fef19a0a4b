"""Calls and accesses as nodes and relationships, and what reflection makes of them."""

from __future__ import annotations

import numpy as np
import polars as pl

from cli.graph.frames import Tables, choose, columns_of, numbers, visible
from cli.graph.inputs import Inputs
from cli.graph.names import ElementNames
from cli.summary import causing_sites
from cypher import schema
from cypher.schema import NONE, Int32
from engine.result import target_of
from engine.sites import BYTECODE, ORIGINS, REFLECTION

_SITE_KINDS = ("static", "special", "virtual")
# How a call is made, as `CALLS.kind` has it.
_CALL_KINDS = (*_SITE_KINDS, "reflective", "implicit")
_TARGETS = {"type": "Class", "method": "Method", "field": "Field"}


class Calls:
    """Adds call sites, call edges, accesses, reflective targets and diagnostics to tables."""

    def __init__(self, names: ElementNames, tables: Tables, inputs: Inputs) -> None:
        self._run, self._names, self._tables, self._inputs = names.run, names, tables, inputs
        self._result, self._sites = names.run.result, names.run.result.sites

    def add(self) -> None:
        """Adds all of it."""
        self._add_sites()
        self._add_calls()
        self._add_accesses()
        self._add_reflection()
        self._add_diagnostics()

    def _add_sites(self) -> None:
        sites = self._sites
        ids = np.arange(len(sites.method), dtype=np.int32)
        reflective = self._reflective_columns(len(ids))
        inputs = self._inputs.columns()
        caller = self._names.method_column("signature", sites.method)
        place = pl.Series(sites.offset).cast(pl.String)
        named = pl.DataFrame({"caller": caller, "offset": place}).select(
            pl.concat_str(pl.col("caller").fill_null(pl.lit("the JVM")), pl.lit("@"), "offset")
        ).to_series()  # fmt: skip
        columns = {
            "name": named,
            "offset": numbers(sites.offset),
            "line": self._names.lines(sites.method, sites.offset),
            "kind": choose(_SITE_KINDS, sites.kind),
            "origin": choose(ORIGINS, sites.origin),
            "declared": self._declared(),
            "application": pl.Series(self._names.is_application(sites.method) | self._inputs.arguments()),
            "declaredType": self._tables.keys.of("Class", sites.declared),
            "callee": self._tables.keys.of("Method", sites.callee),
            "signature": numbers(sites.signature),
            **reflective, **inputs,
        }  # fmt: skip
        labels = {
            "ReflectiveSite": reflective["status"].is_not_null().to_numpy(),
            "InputSource": inputs["inputKind"].is_not_null().to_numpy(),
        }
        self._tables.add_nodes("CallSite", ids, columns, labels)
        self._tables.add_edges("Method-CONTAINS-CallSite", sites.method, ids)
        self._tables.add_edges("CallSite-CAUSED_BY-CallSite", ids, sites.cause)

    def _declared(self) -> pl.Series:
        """Returns what each call names: the method to which it resolves, or class and signature if there is none."""
        sites = self._sites
        found = self._names.method_column("signature", sites.callee)
        ids = self._run.names.columns.signatures[:, 0]
        texts = [
            self._names.texts[text] + self._names.texts[descriptor]
            for _, text, descriptor in self._run.names.columns.signatures.tolist()
        ]
        if not texts:
            return found
        places = np.searchsorted(ids, np.maximum(sites.signature, 0)).clip(max=len(ids) - 1)
        known = (sites.callee < 0) & (ids[places] == sites.signature)
        unresolved = pl.DataFrame(
            {
                "type": choose(self._names.class_names, sites.declared).fill_null("?"),
                "signature": choose(texts, np.where(known, places, NONE)),
            }
        ).select(pl.concat_str("type", pl.lit("."), "signature"))
        return pl.select(pl.coalesce(pl.lit(found), pl.lit(unresolved.to_series()))).to_series()

    def _reflective_columns(self, number: int) -> dict[str, pl.Series]:
        found = self._result.reflective
        place = np.full(number, NONE, np.int32)
        place[[each.site for each in found]] = np.arange(len(found))
        columns = {
            column: choose([getattr(each, column) or "" for each in found], place)
            for column in ("api", "role", "status", "reason")
        }
        unlisted = [[source.text for source in each.sources if source.is_unlisted] for each in found]
        return columns | {"unlisted": choose([texts[-1] if texts else None for texts in unlisted], place)}

    def _add_calls(self) -> None:
        result, sites = self._result, self._sites
        site, callee = result.call_site, result.call_callee
        self._tables.add_edges("CallSite-TARGETS-Method", site, callee)
        causing = causing_sites(result)
        origin, kind = sites.origin[site], sites.kind[site]
        how = np.where(origin == BYTECODE, kind, np.where(origin == REFLECTION, 3, 4))
        rules = self._rule_at(causing, origin)
        caller = sites.method[causing]
        columns = {
            "offset": numbers(sites.offset[causing]), "line": self._names.lines(caller, sites.offset[causing]),
            "kind": choose(_CALL_KINDS, how), "rule": rules, "site": self._tables.keys.of("CallSite", causing),
        }  # fmt: skip
        self._tables.add_edges("Method-CALLS-Method", caller, callee, columns)

    def _rule_at(self, causing: Int32, origin: Int32) -> pl.Series:
        """Returns the rule by which a reflective call leads to what it calls, else where the call comes from."""
        by_site = {each.site: each.rule for each in self._result.derived if each.relation != "UnknownObject"}
        rules = [*ORIGINS, *sorted(set(by_site.values()))]
        place = np.full(len(self._sites.method), NONE, np.int32)
        place[list(by_site)] = [rules.index(each) for each in by_site.values()]
        found = np.where(origin == REFLECTION, np.where(place[causing] >= 0, place[causing], origin), origin)
        return choose(rules, np.where(origin == BYTECODE, NONE, found))

    def _add_accesses(self) -> None:
        facts = self._result.facts
        for edge, relations in (
            ("Method-READS-Field", (schema.Load, schema.StaticLoad)),
            ("Method-WRITES-Field", (schema.Store, schema.StaticStore)),
        ):
            for relation in relations:
                rows = facts[relation]
                kept = rows.method >= 0
                method, offset = rows.method[kept], rows.offset[kept]
                columns = {"offset": numbers(offset), "line": self._names.lines(method, offset)}
                self._tables.add_edges(edge, method, rows.field[kept], columns)
        rows = facts[schema.Initialises]
        self._tables.add_edges(
            "Method-INITIALISES-Class", rows.method, rows.type, {"offset": numbers(rows.offset)}
        )

    def _add_reflection(self) -> None:
        result = self._result
        for kind, label in _TARGETS.items():
            pairs = [
                (each.site, target.id)
                for each in result.reflective
                for target in each.targets
                if target.kind == kind
            ]
            self._tables.add_edges(f"CallSite-RESOLVES_TO-{label}", *columns_of(pairs))
        derived = result.derived
        ids = np.arange(len(derived))
        self._tables.add_nodes(
            "Derivation", ids,
            {
                column: pl.Series([getattr(each, column) for each in derived], dtype=pl.String)
                for column in ("rule", "paper", "relation")
            },
        )  # fmt: skip
        sites = np.array([each.site for each in derived], np.int32)
        self._tables.add_edges("Derivation-DERIVED_AT-CallSite", ids, sites)
        targets = {each.site: frozenset(each.targets) for each in result.reflective}
        held = [target_of(each, targets.get(each.site, ())) for each in derived]
        for kind, label in _TARGETS.items():
            # (primitive types and elements of arrays have no nodes)
            rows = [
                (row, target.id)
                for row, target in enumerate(held)
                if target is not None and target.kind == kind and target.id >= 0
            ]
            self._tables.add_edges(f"Derivation-DERIVES-{label}", *columns_of(rows))

    def _add_diagnostics(self) -> None:
        found = self._run.diagnostics
        texts = ("code", "severity", "effect", "text", "archive", "entry", "method")
        columns = {
            each: pl.Series([visible(getattr(one, each)) for one in found], dtype=pl.String) for each in texts
        }
        columns["offset"] = numbers(np.array([each.offset for each in found], np.int64))
        self._tables.add_nodes("Diagnostic", np.arange(len(found)), columns)
