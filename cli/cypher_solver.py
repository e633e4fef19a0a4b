"""`--solver cypher`: the closure by rules on a Neo4j server (see `cypher.closure`); here is what numbers things.

Its rules of reflection are in `cli.cypher_rules`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cli.cypher_rules import CypherRules
from cli.query import connected, failing
from cypher.closure import REACHABLE, Closure, opened
from cypher.connection import explained
from cypher.program import ABSTRACT, INTERFACE, MethodRows, TypeRows
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL, Int32, Int64
from engine.solver import FIXPOINT, PAUSED, PointsToRows, Statistics, int32, rows_of

if TYPE_CHECKING:
    from contextlib import ExitStack

    from cli.pipeline import MakeSolver
    from cli.progress import Progress
    from cli.query import Place
    from engine.rules import MakeApplier

TRACKED_FROM = 1 << 30
# A derived row costs a server about as much as so many units of work, which are a few nanoseconds each.
_ROW = 1000
_KINDS = {STATIC: "static", SPECIAL: "special", VIRTUAL: "virtual"}
_INVOKES = {STATIC: "StaticInvoke", SPECIAL: "SpecialInvoke", VIRTUAL: "VirtualInvoke"}


def on_server(place: Place, progress: Progress, stack: ExitStack) -> tuple[MakeSolver, MakeApplier]:
    """Returns what makes a solver, and what applies rules, on a server. Raises `Failure`.

    What they store there is deleted when `stack` ends.
    """
    stack.enter_context(failing())
    stack.enter_context(explained(place.uri or "the server", place.user))
    closure = stack.enter_context(opened(stack.enter_context(connected(place))))
    stack.callback(_tell, closure, progress)
    return partial(CypherSolver, closure), partial(CypherRules, closure)


def _tell(closure: Closure, progress: Progress) -> None:
    """Says what the rules derived, for those who want to know more."""
    found = closure.derived()
    spent = sum(each.seconds for each in found)
    progress.detail(f"rules in Cypher: {closure.rounds:,} rounds, {closure.rows:,} rows, {spent:.1f} s")
    for each in found:
        progress.detail(
            f"  {each.rule}: {each.rows:,} rows, applied {each.applications:,} times, {each.seconds:.1f} s"
        )


class CypherSolver:
    """`Solver` whose relations and rules are on a server. Fields of objects get their numbers when it pauses."""

    tracked_from = TRACKED_FROM

    def __init__(self, closure: Closure, object_type: int, class_type: int) -> None:
        self._object_type, self._class_type, self._closure = object_type, class_type, closure
        self._waiting: dict[str, list[Sequence[Any]]] = defaultdict(
            list
        )  # rows for the next `solve`, by relation
        self._ordinary: list[int] = []  # the type of each object
        self._tracked: list[int] = []
        self._generic: dict[int, int] = {}  # the object that stands for the tracked ones of a type
        self._stood_for: set[int] = set()  # tracked objects of which the server knows that
        self._class_objects: dict[int, int] = {}  # by the type that each stands for
        self._types = self._pointers = self._sites = 0
        self._methods: list[tuple[int, int]] = []  # parameters and variables of each
        self._first: dict[int, int] = {}  # first variable of each reachable method, in order
        self._taken = self._watched_to = self._numbered_to = self._fields_to = 0
        self._fields: list[tuple[int, int, int]] = []  # (pointer, object, field)

    # --- rows in
    def add_types(self, rows: TypeRows) -> None:
        first, number = self._types, rows.superclass.size
        self._types += number
        types = np.arange(first, first + number)
        interface = (rows.flags & INTERFACE) != 0
        self._put("TypeNode", types, interface)
        self._put("Extends", *_present(types, rows.superclass))
        self._put("Element", *_present(types, rows.element))
        self._put("SubtypeOf", np.repeat(types, np.diff(rows.supertypes_at)), rows.supertypes)
        declaring = np.repeat(types, np.diff(rows.declared_at))
        self._put("Declares", declaring, rows.declared_signature, rows.declared_method)

    def add_methods(self, rows: MethodRows) -> None:
        first = len(self._methods)
        self._methods.extend(zip(rows.parameters.tolist(), rows.variables.tolist(), strict=True))
        methods = np.arange(first, len(self._methods))
        self._put(
            "MethodNode",
            methods,
            (rows.flags & ABSTRACT) != 0,
            rows.parameters,
            rows.returns,
            rows.declaring,
        )

    def add_objects(self, types: Int32) -> int:
        first = len(self._ordinary)
        self._ordinary.extend(types.tolist())
        self._waiting["Type"].extend(
            (first + at, type_, False, False) for at, type_ in enumerate(types.tolist())
        )
        return first

    def add_tracked(self, types: Int32) -> int:
        first = TRACKED_FROM + len(self._tracked)
        self._tracked.extend(types.tolist())
        self._waiting["Type"].extend(
            (first + at, type_, True, False) for at, type_ in enumerate(types.tolist())
        )
        return first

    def add_pointers(self, number: int) -> int:
        first = self._pointers
        self._pointers += number
        if number:
            self._waiting["PointerNode"].append((first, self._pointers - 1))
        return first

    def add_sites(
        self, kinds: Int32, targets: Int32, receivers: Int32, results: Int32, throwns: Int32,
        arguments_at: Int64, positions: Int32, variables: Int32,
    ) -> int:  # fmt: skip
        first = self._sites
        self._sites += kinds.size
        sites = np.arange(first, self._sites)
        named = [_KINDS[kind] for kind in kinds.tolist()]
        signatures = np.where(kinds == VIRTUAL, targets, NONE)
        rows = zip(sites.tolist(), named, signatures.tolist(), strict=True)
        self._waiting["SiteNode"].extend(rows)
        self._put("Target", *_present(sites[kinds != VIRTUAL], targets[kinds != VIRTUAL]))
        self._put("Receiver", *_present(sites, receivers))
        self._put("Result", *_present(sites, results))
        self._put("Thrown", *_present(sites, throwns))
        self._put("Argument", np.repeat(sites, np.diff(arguments_at)), positions, variables)
        return first

    def new(self, pointers: Int32, objects: Int32) -> None:
        self._put("New", pointers, objects)
        for obj in objects[objects >= TRACKED_FROM].tolist():
            if obj not in self._stood_for:
                self._stood_for.add(obj)
                self._waiting["Generic"].append(
                    (obj, self._generic_object(self._tracked[obj - TRACKED_FROM]))
                )

    def assign(self, sources: Int32, targets: Int32) -> None:
        self._put("Assign", sources, targets)

    def cast(self, sources: Int32, types: Int32, targets: Int32) -> None:
        everything = (types == NONE) | (types == self._object_type)
        self.assign(sources[everything], targets[everything])
        self._put("Cast", sources[~everything], types[~everything], targets[~everything])

    def exclude(self, sources: Int32, types: Int32, targets: Int32) -> None:
        some = (types != NONE) & (types != self._object_type)
        self._put("Exclude", sources[some], types[some], targets[some])

    def assign_untracked(self, sources: Int32, targets: Int32) -> None:
        self._put("AssignUntracked", sources, targets)

    def load(self, bases: Int32, fields: Int32, targets: Int32) -> None:
        self._put("Load", bases, fields, targets)

    def store(self, sources: Int32, fields: Int32, bases: Int32) -> None:
        self._put("Store", sources, fields, bases)

    def class_objects(self, types: Int32) -> Int32:
        return int32(self._class_object(type_) for type_ in types.tolist())

    def watch(self, pointers: Int32, tags: Int32) -> None:
        self._put("Watch", pointers, tags)

    def reach(self, methods: Int32) -> None:
        self._put("Reachable", methods)

    def call(self, sites: Int32, callees: Int32) -> None:
        self._put("Calls", sites, callees)

    def _put(self, relation: str, *columns: Any) -> None:
        """Keeps rows for the next `solve`."""
        if columns[0].size:
            self._waiting[relation].extend(zip(*(column.tolist() for column in columns), strict=True))

    def _class_object(self, type_: int) -> int:
        if type_ not in self._class_objects:
            self._class_objects[type_] = self.add_tracked(int32([self._class_type]))
        return self._class_objects[type_]

    def _generic_object(self, type_: int) -> int:
        if type_ not in self._generic:
            self._generic[type_] = len(self._ordinary)
            self._ordinary.append(type_)
            self._waiting["Type"].append((self._generic[type_], type_, False, True))
        return self._generic[type_]

    # --- the closure
    def solve(self, budget: int) -> int:
        reached, most = len(self._first), self._closure.rows + budget // _ROW
        self._send()
        self._enter_methods()
        while (grown := self._round(most)) and self._closure.rows <= most:
            pass
        self._number_fields()
        return PAUSED if grown or len(self._first) > reached else FIXPOINT

    def _round(self, most: int) -> bool:
        """Applies the rules in turn, till there are more than `most` rows; returns whether they derived something."""
        grown = False
        for rule in self._closure.round():
            grown = True
            if rule.head == REACHABLE:
                self._enter_methods()
            if self._closure.rows > most:
                break
        return grown

    def _send(self) -> None:
        """Brings the rows that wait to the server, nodes before what refers to them."""
        waiting, self._waiting = self._waiting, defaultdict(list)
        for relation in sorted(waiting, key=lambda each: (not each.endswith("Node"), each != "Type")):
            self._closure.add(relation, waiting[relation])
        for kind in {row[1] for row in waiting["SiteNode"]}:
            self._closure.note(next(_INVOKES[key] for key, name in _KINDS.items() if name == kind))

    def _enter_methods(self) -> None:
        """Numbers the variables of methods that were reached."""
        since, self._numbered_to = self._numbered_to, self._closure.now + 1
        parameters: list[tuple[int, int, int]] = []
        for method in self._closure.reached(since):
            passed, variables = self._methods[method]
            first = self._first[method] = self.add_pointers(variables)
            parameters += [(method, position, first + position) for position in range(passed + 2)]
        self._send()
        self._closure.add("Parameter", parameters)

    def _number_fields(self) -> None:
        """Numbers the fields of objects that became pointers."""
        since, self._fields_to = self._fields_to, self._closure.now + 1
        found = self._closure.fields(since)
        fresh = [(self._pointers + at, obj, field) for at, (obj, field) in enumerate(found)]
        self._pointers += len(fresh)
        self._fields += fresh
        self._closure.add("FieldNumber", [(obj, field, pointer) for pointer, obj, field in fresh])

    # --- rows out
    def take_reached(self) -> tuple[Int32, Int32]:
        methods = self.reached()[self._taken :]
        self._taken += methods.size
        return methods, self.first_variables(methods)

    def take_watched(self) -> tuple[Int32, Int32]:
        since, self._watched_to = self._watched_to, self._closure.now + 1
        found = self._closure.watched(since)
        return int32(tag for tag, _ in found), int32(obj for _, obj in found)

    def calls_made(self, since: int = 0) -> tuple[Int32, Int32, int]:
        calls = self._closure.calls()
        fresh = calls[since:]
        return int32(site for site, _ in fresh), int32(callee for _, callee in fresh), len(calls)

    def reached(self) -> Int32:
        return int32(self._first)

    def first_variables(self, methods: Int32) -> Int32:
        return int32(self._first.get(method, NONE) for method in methods.tolist())

    def types_of(self, objects: Int32) -> Int32:
        return int32(
            self._tracked[obj - TRACKED_FROM] if obj >= TRACKED_FROM else self._ordinary[obj]
            for obj in objects.tolist()
        )

    def class_object_types(self) -> tuple[Int32, Int32]:
        return int32(self._class_objects.values()), int32(self._class_objects)

    def select(self, type_: int, signature: int) -> int:
        self._send()
        return self._closure.select(type_, signature)

    def objects_of(self, pointer: int) -> Int32:
        self._send()
        return int32(self._closure.objects_of(pointer))

    def number_of(self, pointer: int) -> int:
        return self.objects_of(pointer).size

    def points_to(self) -> PointsToRows:
        self._send()
        base, field = [NONE] * self._pointers, [NONE] * self._pointers
        for pointer, owner, number in self._fields:
            base[pointer], field[pointer] = owner, number
        found = sorted(self._closure.points_to())
        return rows_of((np.sort(np.array(objects, np.int64)) for _, objects in found), base, field)

    def statistics(self) -> Statistics:
        closure = self._closure
        return Statistics(
            self._pointers, len(self._ordinary), len(self._tracked),
            len(self._first), closure.size_of("Calls"), closure.rows, 0,
        )  # fmt: skip


def _present(rows: Any, column: Int32) -> tuple[Any, Int32]:
    """Returns those rows of two columns in which the second names something."""
    return rows[column != NONE], column[column != NONE]
