"""From facts to the solver: objects are made and merged, static fields get their pointers, sites their ids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.program import ENUM, MethodRows, Program, TypeRows
from cypher.schema import NONE, STATIC, VIRTUAL, Facts, Int32, Rows
from engine import heap
from engine.asked import Asked
from engine.confined import Confined
from engine.heap import Heap
from engine.sites import BYTECODE, INITIALISATION, MODEL, SiteTable
from engine.solver import Solver

OBJECT, STRING, CLASS, THROWABLE = (
    "java/lang/Object",
    "java/lang/String",
    "java/lang/Class",
    "java/lang/Throwable",
)
STRING_ARRAY = f"[L{STRING};"
# What the JVM keeps or makes: threads that run; objects with a finalizer; texts; an array of each type of which the
# program makes one, and those that stand for arrays of other types.
RUNNING_THREADS, FINALIZABLE, NATIVE_TEXTS = "running threads", "finalizable objects", "texts of the JVM"
MADE_ARRAYS, STANDING_ARRAYS = "made arrays", "standing arrays"
# What escapes initialisers.
OF_INITIALISERS = "throwables of initialisers"
# The enums of the JDK whose class literals are in its code (see `engine.confined`).
CONFINED_ENUMS = "enums that the JDK names"
# More objects of one type than this, made by one method, fill a table.
MANY = 30
BUILDERS = ("java/lang/StringBuilder", "java/lang/StringBuffer", "java/lang/AbstractStringBuilder")


@dataclass(frozen=True)
class Precision:
    """What is merged and filtered; each can be switched."""

    merge_strings: bool = True  # string constants that name nothing are one object
    merge_builders: bool = True  # string builders are one object a class
    merge_throwables: bool = True  # throwables are one object a class
    merge_tables: bool = (
        True  # objects of which one method makes over MANY are one a type; the JDK's String[], too
    )
    tell_collections: bool = True  # collections that the program makes hold what each is given
    filter_array_stores: bool = True  # an array takes only what its element type admits
    pass_arguments: bool = True  # a call of a method that returns a parameter returns the argument
    bound_lists: bool = True  # a call lists the members of few classes (see `engine.bounded`)


class IdMap:
    """An int32 array from ids to ids that grows; -1 is unknown."""

    def __init__(self) -> None:
        self._values = np.full(1 << 12, NONE, np.int32)

    def of(self, keys: Int32) -> Int32:
        """Returns the value of each key, -1 if it has none."""
        if keys.size and int(keys.max()) >= self._values.size:
            grown = np.full(max(int(keys.max()) + 1, 2 * self._values.size), NONE, np.int32)
            grown[: self._values.size] = self._values
            self._values = grown
        found: Int32 = self._values[keys]
        return found

    def put(self, keys: Int32, values: Int32 | int) -> None:
        """Sets the values of `keys`, which `of` was asked for before."""
        self._values[keys] = values

    def values(self) -> Int32:
        """Returns the values by key; there may be keys beyond the last that was set."""
        return self._values

    def items(self) -> tuple[Int32, Int32]:
        """Returns the keys that have a value, and their values."""
        keys = np.flatnonzero(self._values != NONE).astype(np.int32)
        return keys, self._values[keys]


class Constraints:
    """Enters facts into a solver, and keeps what provenance needs of them.

    `on_sites(facts of one batch)` is called before sites are entered and returns the sites whose
    results a model supplies; `opaque(callees)` says which methods the rules stand for, so that no tracked object
    goes into their bodies; `on_field(field, pointer)` when a static field gets its pointer; `on_handlers(catch)` returns the
    rows of what handlers catch; `on_constants(facts)` enters constant method handles and method objects; `on_rows(types, methods)` when the program has named some, and
    returns what the solver is told of them; `on_objects(types, methods, objects, single)` when instructions of
    `methods` make objects, those that are `single` alone, `on_object(object, type)` when something else does;
    `on_calls(facts, whether they are of class files, results)` when sites are entered, and may change to which pointers
    results go.
    """

    def __init__(
        self, program: Program, solver: Solver, precision: Precision, confine_jdk: bool = True
    ) -> None:
        self.program, self.solver, self.precision = program, solver, precision
        self.confined = Confined(program, confine_jdk)
        self.parameters, self.variables = IdMap(), IdMap()  # their numbers, by the id of a method
        self.heap, self.sites = Heap(solver.tracked_from), SiteTable()
        self.batches: list[Facts] = []
        self._class_objects: dict[int, int] = {}
        self.static_fields = IdMap()
        # Of the calls that wait, those of the reflective API that are made by reflection.
        self.reflected: set[int] = set()
        self.on_sites: Callable[[Facts], Int32] = lambda _: np.empty(0, np.int32)
        self.opaque: Callable[[Int32], NDArray[np.bool_]] = lambda callees: np.zeros(callees.size, bool)
        self.on_field: Callable[[int, int], None] = lambda *_: None
        self.on_handlers: Callable[[Rows], Rows] = lambda catch: catch
        self.on_constants: Callable[[Facts], None] = lambda _: None
        self.on_rows: Callable[[TypeRows, MethodRows], tuple[TypeRows, MethodRows]] = lambda *rows: rows
        self.on_objects: Callable[[Int32, Int32, Int32, NDArray[np.bool_]], None] = lambda *_: None
        self.on_object: Callable[[int, int], None] = lambda *_: None
        self.on_calls: Callable[[Facts, bool, Int32], None] = lambda *_: None
        self._is_enum = Asked(lambda type_: bool(program.flags_of_type(type_) & ENUM))
        self._merged, self._texts = IdMap(), IdMap()
        self._string, self._throwable = program.type_named(STRING), program.type_named(THROWABLE)
        self._texts_type, self._jdk_texts = program.type_named(STRING_ARRAY), NONE
        self._builders = {program.type_named(name) for name in BUILDERS}
        self._generic: dict[int, int] = {}
        self._types = 0
        self._rows: dict[type, list[tuple[int, ...]]] = defaultdict(list)
        # Calls that wait: the columns of `Invoke` but for the site, then origin and cause.
        self._waiting: list[tuple[int, ...]] = []
        self._initialising: list[Rows] = []
        self._block, self._left = 0, 0
        self._clinits: dict[int, Int32] = {}
        self._pools: dict[str, int] = {}
        self._made_arrays: set[int] = set()
        self._finalized = {program.type_named("java/lang/Enum"): False}

    # --- single rows, from models and rules
    def fresh(self) -> int:
        """Returns a fresh pointer."""
        if not self._left:
            self._block, self._left = self.solver.add_pointers(256), 256
        self._left -= 1
        return self._block + 255 - self._left

    def outermost(self, method: int) -> str:
        """Returns the name of the outermost class around a method."""
        return self.program.name_of_type(self.program.name_of_method(method)[0]).partition("$")[0]

    def pool(self, name: str) -> int:
        """Returns the pointer to the objects that the JVM keeps under a name, such as RUNNING_THREADS."""
        if name not in self._pools:
            self._pools[name] = self.fresh()
        return self._pools[name]

    def native_text(self) -> int:
        """Returns the pointer to a text that the JVM makes."""
        if NATIVE_TEXTS not in self._pools:
            self.put(self.pool(NATIVE_TEXTS), self.object(heap.NATIVE, self._string))
        return self.pool(NATIVE_TEXTS)

    def add(self, relation: type[tuple[Any, ...]], *row: int) -> None:
        """Adds one row of a fact relation at the next `flush`."""
        self._rows[relation].append(row)

    def object(
        self, kind: int, type_: int, method: int = NONE, offset: int = NONE, payload: int = NONE
    ) -> int:
        """Returns a new object; metaobjects and strings are tracked."""
        if type_ >= self._types:
            self.synchronise()
        add = self.solver.add_tracked if kind in heap.TRACKED else self.solver.add_objects
        obj = add(np.array([type_], np.int32))
        self.heap.add(obj, 1, kind, type_, method, offset, payload)
        self.on_object(obj, type_)
        return obj

    def class_object(self, type_: int) -> int:
        """Returns the class object of a type."""
        if type_ not in self._class_objects:
            if type_ >= self._types:
                self.synchronise()
            self._class_objects[type_] = int(self.solver.class_objects(np.array([type_], np.int32))[0])
        return self._class_objects[type_]

    def class_types(self, objects: Int32) -> Int32:
        """Returns the type that each object is the class object of; -1 if it is none that the solver made."""
        made, types = self.solver.class_object_types()
        # By object; the first entry stands for all below those that were made, the last for all above.
        first = self.solver.tracked_from - 1
        table = np.full(int(made.max(initial=first)) - first + 2, NONE, np.int32)
        table[made - first] = types
        found: Int32 = table[np.clip(objects - first, 0, table.size - 1)]
        return found

    def put(self, pointer: int, obj: int) -> None:
        """PointsTo(pointer, obj), for an object of the caller's."""
        self._rows[schema.PointsTo].append((pointer, obj))

    def call(
        self, cause: int, kind: int, target: int, receiver: int = NONE, arguments: Iterable[tuple[int, int]] = (),
        result: int = NONE, thrown: int = NONE, origin: int = MODEL, method: int = NONE,
    ) -> int:  # fmt: skip
        """Adds a call on behalf of the site `cause`; `target` is a method, for VIRTUAL a signature.

        Without a cause the call is made by the native method `method`, or by the JVM if that is -1 too.
        """
        method, offset = self.sites.place(cause) if cause >= 0 else (method, NONE)
        site = self.sites.number + len(self._waiting)
        callee, signature = (NONE, target) if kind == VIRTUAL else (target, NONE)
        self._waiting.append((method, offset, kind, NONE, callee, signature, result, thrown, origin, cause))
        if receiver >= 0:
            self.add(schema.Argument, site, 0, receiver)
        for position, variable in arguments:
            self.add(schema.Argument, site, position, variable)
        return site

    def initialise(self, types: Iterable[int], method: int, offset: int, cause: int = NONE) -> None:
        """Runs the initialisers of `types`, by the instruction at `offset` of `method` or the site `cause`."""
        thrown = self.pool(OF_INITIALISERS)
        for type_ in types:
            for clinit in self._clinits_of(type_).tolist():
                self._waiting.append(
                    (method, offset, STATIC, type_, clinit, NONE, NONE, thrown, INITIALISATION, cause)
                )

    def _clinits_of(self, type_: int) -> Int32:
        found = self._clinits.get(type_)
        if found is None:
            initialisers = self.program.initialisers_of(type_)
            found = self._clinits[type_] = np.array([clinit for _, clinit in initialisers], np.int32)
        return found

    def pending(self) -> bool:
        """Returns whether rows wait for `flush`."""
        return bool(self._waiting or self._initialising) or any(self._rows.values())

    def flush(self) -> None:
        """Enters the rows that were added one by one."""
        while self.pending():
            waiting, self._waiting = self._waiting, []
            listed, self._rows = self._rows, defaultdict(list)
            pairs = listed.pop(schema.PointsTo, [])
            facts = {relation: schema.rows(relation, found) for relation, found in listed.items()}
            *columns, origin, cause = schema.columns_of_rows(
                waiting, len(schema.columns_of(schema.Invoke)) + 1
            )
            if waiting:
                sites = np.arange(self.sites.number, self.sites.number + len(waiting), dtype=np.int32)
                facts[schema.Invoke] = Rows(schema.Invoke, [sites, *columns])
            if arguments := facts.get(schema.Argument):
                facts[schema.Argument] = arguments.take(np.argsort(arguments.site, kind="stable"))
            self.enter(facts, origin, cause)
            if pairs:
                self.solver.new(*schema.columns_of_rows(pairs, 2))
            if not self._waiting and self._initialising:
                initialising, self._initialising = self._initialising, []
                self._enter_initialisations(schema.concatenate(initialising))

    # --- batches
    def synchronise(self) -> None:
        """Tells the solver of the types and methods that the program has named since."""
        types, methods = self.program.new_rows()
        if types.superclass.size == methods.parameters.size == 0:
            return
        types, methods = self.on_rows(types, methods)
        self._types = types.first + types.superclass.size
        if not self.precision.filter_array_stores:
            types = types._replace(element=np.full_like(types.element, NONE))
        self.solver.add_types(types)
        if not self.precision.pass_arguments:
            methods = methods._replace(returns=np.full_like(methods.returns, NONE))
        self.solver.add_methods(methods)
        numbers = np.arange(methods.first, methods.first + methods.parameters.size, dtype=np.int32)
        for known, found in ((self.parameters, methods.parameters), (self.variables, methods.variables)):
            known.of(numbers)
            known.put(numbers, found)

    def enter(self, facts: Facts, origin: Int32 | int = BYTECODE, cause: Int32 | int = NONE) -> None:
        """Enters a batch of facts, whose sites count up from the last one entered."""
        self.synchronise()
        if catch := facts.get(schema.Catch):
            facts = {**facts, schema.Catch: self.on_handlers(catch)}
        self.batches.append(facts)
        solver = self.solver
        if schema.New in facts:
            self._enter_new(facts[schema.New])
        if schema.StringConstant in facts:
            self._enter_strings(facts[schema.StringConstant])
        if classes := facts.get(schema.ClassConstant):
            solver.new(classes.target, self._classes_of(classes))
        if facts.get(schema.HandleConstant) or facts.get(schema.MethodConstant):
            self.on_constants(facts)
        if assign := facts.get(schema.Assign):
            solver.assign(assign.source, assign.target)
        for relation, enter in (
            (schema.Cast, solver.cast),
            (schema.Catch, solver.cast),
            (schema.Uncaught, solver.exclude),
        ):
            if found := facts.get(relation):
                enter(found.source, found.type, found.target)
        if load := facts.get(schema.Load):
            solver.load(load.base, load.field, load.target)
        if store := facts.get(schema.Store):
            solver.store(store.source, store.field, store.base)
        if load := facts.get(schema.ArrayLoad):
            solver.load(load.base, np.full(len(load), NONE, np.int32), load.target)
        if store := facts.get(schema.ArrayStore):
            solver.store(store.source, np.full(len(store), NONE, np.int32), store.base)
        if load := facts.get(schema.StaticLoad):
            load = load.take(load.target >= 0)
            solver.assign(self._pointers_of(load.field), load.target)
        if store := facts.get(schema.StaticStore):
            store = store.take(store.source >= 0)
            solver.assign(store.source, self._pointers_of(store.field))
        if schema.Invoke in facts:
            self._enter_sites(facts, origin, cause)
        if found := facts.get(schema.Initialises):
            self._initialising.append(found)

    def throwable(self, type_: int) -> int:
        """Returns an object of a class of throwables that the JVM makes: where they are merged, the one of the class."""
        merged = self._merged_of(type_)
        return merged if merged >= 0 else self.object(heap.NATIVE, type_)

    def _merged_of(self, type_: int) -> int:
        """Returns the object that stands for all of a type that the program makes; negative if these are told apart."""
        key = np.array([type_], np.int32)
        found = int(self._merged.of(key)[0])
        if found == NONE:
            found = -2
            if self._is_merged(type_):
                self.synchronise()
                found = int(self.solver.add_objects(key))
                self.heap.add(found, 1, heap.MERGED, type_)
            self._merged.put(key, np.array([found], np.int32))
        return found

    def _enter_new(self, new: Rows) -> None:
        merged = self._merged.of(new.type)
        for type_ in np.unique(new.type[merged == NONE]).tolist():
            if self.program.name_of_type(type_).startswith(("[L", "[[")):
                self.make_array(type_)
            self._merged_of(type_)
        objects = self._merged.of(new.type)
        if self.precision.merge_tables:
            self._merge_tables(new, objects)
        single = objects < 0
        types = new.type[single]
        if types.size:
            first = self.solver.add_objects(types)
            self.heap.add(first, types.size, heap.ALLOCATED, types, new.method[single], new.offset[single])
            objects[single] = np.arange(first, first + types.size, dtype=np.int32)
        self.solver.new(new.target, objects)
        self.on_objects(new.type, new.method, objects, single)
        finalized = [type_ for type_ in np.unique(new.type).tolist() if self.has_finalizer(type_)]
        if finalized:
            registered = objects[np.isin(new.type, finalized)]
            self.solver.new(np.full(registered.size, self.pool(FINALIZABLE), np.int32), registered)

    def make_array(self, type_: int) -> None:
        """Has the JVM make arrays of a type, of which it makes those that the program makes elsewhere."""
        if type_ not in self._made_arrays:
            self._made_arrays.add(type_)
            self.put(self.pool(MADE_ARRAYS), self.object(heap.NATIVE, type_))

    def has_finalizer(self, type_: int) -> bool:
        """Returns whether a class overrides `Object.finalize` (JLS 12.6); that of enums does nothing (JLS 8.9.2)."""
        chain = []
        each = type_
        while each >= 0 and each not in self._finalized:
            chain.append(each)
            each = self.program.superclass_of(each)
        found = self._finalized.get(each, False)
        for each in reversed(chain):
            root = self.program.superclass_of(each) < 0
            found = not root and (found or self.program.method_of(each, "finalize", "()V") >= 0)
            self._finalized[each] = found
        return found

    def _merge_tables(self, new: Rows, objects: Int32) -> None:
        """Has the rows of `new` share an object of which a method makes many, or all code of the JDK: arrays of strings.

        Those go wherever one goes (thousands, each with an edge to each that takes elements out), and hold what the JDK's
        code doesn't tell apart, either.
        """
        texts = np.flatnonzero(new.type == self._texts_type)
        texts = texts[self.confined.covers(new.method[texts])]
        if texts.size:
            if self._jdk_texts < 0:
                self._jdk_texts = self.object(heap.MERGED, self._texts_type)
            objects[texts] = self._jdk_texts
        key = new.method.astype(np.int64) << 32 | new.type
        distinct, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
        for place in np.flatnonzero(counts > MANY).tolist():
            rows = (inverse == place) & (objects < 0)
            if rows.any():
                method, type_ = int(distinct[place]) >> 32, int(distinct[place]) & 0xFFFFFFFF
                objects[rows] = self.object(heap.MERGED, type_, method)

    def _is_merged(self, type_: int) -> bool:
        if self.precision.merge_builders and type_ in self._builders:
            return True
        return self.precision.merge_throwables and self._throwable in self.program.supertypes_of(type_)

    def _enter_strings(self, strings: Rows) -> None:
        inside = self.confined.covers(strings.method)
        followed = strings.text[~inside]
        known = self._texts.of(followed)
        for text in np.unique(followed[known == NONE]).tolist():
            self._texts.put(np.array([text], np.int32), self._string_object(text))
        objects = np.full(len(strings), self.generic(self._string), np.int32)
        objects[~inside] = self._texts.of(followed)
        self.solver.new(strings.target, objects)

    def text_object(self, text: int) -> int:
        """Returns the object of a string constant."""
        key = np.array([text], np.int32)
        if self._texts.of(key)[0] == NONE:
            self._texts.put(key, self._string_object(text))
        return int(self._texts.of(key)[0])

    def _string_object(self, text: int) -> int:
        precision = self.precision
        if not precision.merge_strings or self.program.may_name(text):
            return self.object(heap.STRING, self._string, payload=text)
        return self.generic(self._string)

    def _classes_of(self, classes: Rows) -> Int32:
        """Returns the class object of each class literal, the generic one for confined types in the JDK."""
        objects = self.solver.class_objects(classes.type)
        inside = self.confined.covers(classes.method) & self.confined.confines(classes.type)
        if inside.any():
            for enum in objects[inside][self._is_enum.many(classes.type[inside])].tolist():
                self.put(self.pool(CONFINED_ENUMS), enum)
            objects[inside] = self.generic(self.program.type_named(CLASS))
        return objects

    def generic(self, type_: int) -> int:
        """Returns the object that stands for objects of `type_` that are not told apart."""
        if type_ not in self._generic:
            self._generic[type_] = self.object(heap.GENERIC, type_)
        return self._generic[type_]

    def _pointers_of(self, fields: Int32) -> Int32:
        known = self.static_fields.of(fields)
        fresh = np.unique(fields[known == NONE])
        if fresh.size:
            first = self.solver.add_pointers(fresh.size)
            self.static_fields.put(fresh, np.arange(first, first + fresh.size, dtype=np.int32))
            for index, field in enumerate(fresh.tolist()):
                self.on_field(field, first + index)
        return self.static_fields.of(fields)

    def pointer_of(self, field: int) -> int:
        """Returns the pointer of a static field."""
        return int(self._pointers_of(np.array([field], np.int32))[0])

    def _enter_sites(self, facts: Facts, origin: Int32 | int, cause: Int32 | int) -> None:
        invoke = facts[schema.Invoke]
        arguments = facts.get(schema.Argument) or schema.empty(schema.Argument)
        results = invoke.result.copy()
        self.on_calls(facts, isinstance(origin, int), results)
        number = len(invoke)
        first = self.sites.add(
            number, method=invoke.method, offset=invoke.offset, kind=invoke.kind, declared=invoke.declared,
            callee=invoke.callee, signature=invoke.signature, result=results, thrown=invoke.thrown,
            origin=origin, cause=cause,
        )  # fmt: skip
        explained = (
            np.ones(number, np.bool_) if isinstance(origin, int) else self._take_reflective(invoke.site)
        )
        if explained.any():
            own = facts if explained.all() else {**facts, schema.Invoke: invoke.take(explained)}
            modelled = self.on_sites(own)
            results[modelled - first] = NONE
            self.sites.cut(modelled)
        local = arguments.site - first
        variables = self._screened(arguments.variable, self.opaque(invoke.callee)[local])
        receiving = (arguments.position == 0) & (invoke.kind[local] != STATIC)
        receivers = np.full(number, NONE, np.int32)
        receivers[local[receiving]] = variables[receiving]
        others = ~receiving
        at = np.concatenate(([0], np.cumsum(np.bincount(local[others], minlength=number)))).astype(np.int64)
        self.solver.add_sites(
            invoke.kind, np.where(invoke.kind == VIRTUAL, invoke.signature, invoke.callee), receivers, results,
            invoke.thrown, at, arguments.position[others], variables[others],
        )  # fmt: skip

    def _take_reflective(self, sites: Int32) -> NDArray[np.bool_]:
        """Returns which sites of a batch are reflective calls that are made by reflection."""
        if not self.reflected:
            return np.zeros(sites.size, np.bool_)
        found = np.isin(sites, list(self.reflected))
        self.reflected.difference_update(sites[found].tolist())
        return found

    def _screened(self, variables: Int32, opaque: NDArray[np.bool_]) -> Int32:
        """Returns pointers that get all but the tracked objects of `variables`, where they are `opaque`."""
        if not opaque.any():
            return variables
        sources, inverse = np.unique(variables[opaque], return_inverse=True)
        first = self.solver.add_pointers(sources.size)
        screens = np.arange(first, first + sources.size, dtype=np.int32)
        self.solver.assign_untracked(sources, screens)
        screened = variables.copy()
        screened[opaque] = screens[inverse]
        return screened

    def _enter_initialisations(self, found: Rows) -> None:
        clinits = [self._clinits_of(type_) for type_ in found.type.tolist()]
        repeats = np.array([each.size for each in clinits])
        if repeats.sum() == 0:
            return
        number = int(repeats.sum())
        none = np.full(number, NONE, np.int32)
        first = self.sites.number
        columns = {
            "site": np.arange(first, first + number, dtype=np.int32),
            "method": np.repeat(found.method, repeats),
            "offset": np.repeat(found.offset, repeats),
            "kind": np.full(number, STATIC, np.int32),
            "declared": np.repeat(found.type, repeats),
            "callee": np.concatenate(clinits),
            "thrown": np.full(number, self.pool(OF_INITIALISERS), np.int32),
        }
        invoke = Rows(schema.Invoke, [columns.get(name, none) for name in schema.columns_of(schema.Invoke)])
        self.enter({schema.Invoke: invoke}, np.full(number, INITIALISATION, np.int32), none)
