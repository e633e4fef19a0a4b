"""What collections hold, told apart by the instruction that makes the collection (Livshits/Whaley/Lam 2005, heap naming).

All lists of a class share the code that makes their arrays, so that in the closure each holds what any holds. Here a
collection that the program makes has fields of its own for what its methods put in, and calls in the program's code
that take something out return what these fields hold. So do the iterators that such calls return, of which each call
has its own. That is all that a collection holds as long as only calls that are understood change it. Where another
one may, it is `open`: what is taken out of it then comes from the bodies of its methods, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.program import ACC_STATIC
from cypher.schema import NONE, STATIC, Facts, Int32, Rows
from engine import heap
from engine.asked import Among, Asked
from engine.layout import reference_fields
from engine.models import SiteCall, calls_at
from engine.solver import int32

if TYPE_CHECKING:
    from engine.constraints import Constraints

COLLECTION, MAP, ENTRY = "java/util/Collection", "java/util/Map", "java/util/Map$Entry"
ITERATOR, LIST_ITERATOR = "java/util/Iterator", "java/util/ListIterator"
KINDS = (COLLECTION, MAP, ITERATOR)


def _words(text: str, prefix: str = "") -> frozenset[str]:
    return frozenset(prefix + each for each in text.split())


# Collections of these classes are told apart.
TOLD = _words(
    "ArrayDeque ArrayList HashMap HashSet Hashtable IdentityHashMap LinkedHashMap LinkedHashSet LinkedList PriorityQueue "
    "Stack TreeMap TreeSet Vector WeakHashMap concurrent/ConcurrentHashMap concurrent/ConcurrentLinkedDeque "
    "concurrent/ConcurrentLinkedQueue concurrent/ConcurrentSkipListMap concurrent/ConcurrentSkipListSet "
    "concurrent/CopyOnWriteArrayList concurrent/LinkedBlockingDeque concurrent/LinkedBlockingQueue",
    "java/util/",
)
# The fields that stand for the elements of a collection and the values of a map, for the keys, and for being open.
# Only java.util itself may access those of a node.
_FIELDS = ("value", "key", "next")
OWNER_OF_FIELDS = "java/util/HashMap$Node"

# Methods that put in an element: the first argument, or the one behind an index.
_ELEMENT = _words(
    "add addElement addFirst addLast insertElementAt offer offerFirst offerLast push put putFirst putLast set setElementAt"
)
# Methods that put in a key and a value.
_VALUE = _words("put putIfAbsent")
# Methods that return an element, a value or a key.
_TAKES_ELEMENT = _words(
    "ceiling element elementAt first firstElement floor get getFirst getLast higher last lastElement lower peek peekFirst "
    "peekLast poll pollFirst pollLast pop remove removeFirst removeLast set take takeFirst takeLast"
)
_TAKES_VALUE = _words("get getOrDefault put putIfAbsent remove")
_TAKES_KEY = _words("ceilingKey firstKey floorKey higherKey lastKey lowerKey")
# Methods that put nothing in.
_HARMLESS = _words(
    "capacity clear clone comparator contains containsAll containsKey containsValue copyInto elements ensureCapacity "
    "equals forEach hashCode indexOf isEmpty keySet keys lastIndexOf parallelStream removeAll removeAllElements "
    "removeElement removeElementAt removeFirstOccurrence removeIf removeLastOccurrence retainAll search setSize size "
    "spliterator stream toArray toString trimToSize values"
)
# A call of which the bodies return iterators of more types has none of its own: anything may be its receiver.
MOST_ITERATORS = 8
# What is returned changes the collection by calls of these methods of the type.
_VIEWS = {"entrySet": (ENTRY, ("setValue",)), "listIterator": (LIST_ITERATOR, ("add", "set"))}
_OBJECT, _COMPARATOR = "Ljava/lang/Object;", "Ljava/util/Comparator;"
# The argument of which a collection takes the content, by the types of all.
_COPIED = {f"L{COLLECTION};": 1, f"IL{COLLECTION};": 2, f"L{MAP};": 1}


class Operation(NamedTuple):
    """What a call does to its receiver: the arguments that it puts in and takes from, by field; what it returns."""

    puts: Mapping[str, int] = {}
    copies: int = NONE  # the argument whose content it puts in
    takes: str = ""  # the field whose content it returns
    otherwise: int = NONE  # the argument that it may return as well
    opens: bool = False  # it may put in something else
    view: str = ""  # the method, as in _VIEWS
    walks: bool = False  # it returns an iterator


@cache
def operation(name: str, descriptor: str, kind: str) -> Operation:
    """Returns what a method of a collection, map or iterator of the JDK does; `kind` is one of KINDS.

    >>> operation("add", "(ILjava/lang/Object;)V", COLLECTION).puts
    {'value': 2}
    >>> operation("get", "(I)Ljava/lang/Object;", COLLECTION).takes
    'value'
    >>> operation("sort", "(Ljava/util/Comparator;)V", COLLECTION).opens
    True
    """
    of_map = kind == MAP
    parameters, _, returned = descriptor[1:].partition(")")
    if kind == ITERATOR:
        return Operation(takes="value" if name in {"next", "previous"} and returned == _OBJECT else "")
    if name == "iterator":
        return Operation(walks=True)
    if name == "<init>":
        copied = _COPIED.get(parameters, NONE)
        return Operation(copies=copied, opens=copied < 0 and "Ljava/" in parameters.replace(_COMPARATOR, ""))
    if name in {"addAll", "putAll"}:
        copied = _COPIED.get(parameters, NONE)
        return Operation(copies=copied, opens=copied < 0)
    if name in _VIEWS:
        return Operation(view=name)
    takes = ""
    if returned == _OBJECT:
        takes = _taken(name, of_map)
    puts: Mapping[str, int] = {}
    if of_map and name in _VALUE and parameters == _OBJECT * 2:
        puts = {"key": 1, "value": 2}
    elif not of_map and name in _ELEMENT and parameters.replace("I", "", 1).startswith(_OBJECT):
        puts = {"value": 2 if parameters[0] == "I" else 1}
    harmless = puts or takes or name in _HARMLESS or (name == "remove" and returned == "Z")
    odd = not puts and (name in _VALUE if of_map else name in _ELEMENT)
    return Operation(
        puts,
        takes=takes,
        otherwise=2 if name == "getOrDefault" else NONE,
        opens=not harmless or odd or (name == "keySet" and bool(parameters)),
    )


def _taken(name: str, of_map: bool) -> str:
    if of_map:
        return "value" if name in _TAKES_VALUE else "key" if name in _TAKES_KEY else ""
    return "value" if name in _TAKES_ELEMENT else ""


def _changes(does: Operation | None) -> bool:
    """Returns whether a call puts something into its receiver, or may do so by what it returns."""
    return does is not None and bool(does.puts or does.copies >= 0 or does.opens or does.view)


class Contents:
    """The collections of a program, and the calls of their methods."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints, self._confined = constraints, constraints.confined
        self._program = program = constraints.program
        owner = program.type_named(OWNER_OF_FIELDS)
        found = {
            program.name_of_field(each)[1]: each for each in (program.fields_of(owner) if owner >= 0 else ())
        }
        self._fields = {name: found.get(name, NONE) for name in _FIELDS}
        self._named = {each: program.type_named(each) for each in KINDS}
        # Variables of collections that are open, and of those of which a view was taken.
        self._open = constraints.fresh()
        self._viewed = {name: constraints.fresh() for name in _VIEWS}
        self._writers = {view: Among(self._signatures(*changed)) for view, changed in _VIEWS.items()}
        self._mark = NONE
        self._kinds: dict[int, str] = {}
        self._is_of_kind = Asked(lambda type_: bool(self._kind_of(type_)))
        self._is_told = Asked(lambda type_: self._program.name_of_type(type_) in TOLD)
        self._is_by_jdk = Asked(self._is_of_jdk)
        self._is_jdk_type = Asked(self._confined.is_of_jdk)
        self._operates = Asked(lambda method: self._operation_of(method) is not None)
        self._operations: dict[int, Operation | None] = {}
        self._returned: dict[int, tuple[int, int, int, int]] = {}  # by the pointer of the mark at a call
        self._iterators: dict[int, SiteCall] = {}  # by the pointer to what the bodies return
        # By the same pointer, the types of which the call returns iterators of its own, until these are too many.
        self._made: dict[int, set[int]] = defaultdict(set)
        if NONE in self._fields.values():
            return
        constraints.on_objects, constraints.on_object = self.enter_objects, self.enter_object
        constraints.on_calls = self.on_sites

    # --- objects
    def enter_objects(self, types: Int32, methods: Int32, objects: Int32, single: NDArray[np.bool_]) -> None:
        """Has what was allocated be open, unless it is a collection of the program's own code."""
        among = self._is_of_kind.many(types)
        told = single & self._is_told.many(types) & ~self._is_by_jdk.many(methods)
        listed = np.unique(objects[among & ~told])
        if listed.size:
            self._constraints.solver.new(np.full(listed.size, self._open, np.int32), listed)

    def enter_object(self, obj: int, type_: int) -> None:
        """Has an object that no instruction allocates be open."""
        if self._kind_of(type_):
            self._constraints.put(self._open, obj)

    def _kind_of(self, type_: int) -> str:
        """Returns the one of KINDS that a type is, "" if it is none."""
        found = self._kinds.get(type_)
        if found is None:
            above = self._program.supertypes_of(type_) if type_ >= 0 else frozenset()
            found = next((each for each, named in self._named.items() if named in above), "")
            self._kinds[type_] = found
        return found

    def _is_of_jdk(self, method: int) -> bool:
        declaring = self._program.name_of_method(method)[0] if method >= 0 else NONE
        return declaring < 0 or self._confined.is_of_jdk(declaring)

    # --- calls
    def _signatures(self, owner: str, names: Collection[str]) -> Iterator[int]:
        """Returns the signatures of methods of an interface."""
        type_ = self._program.type_named(owner)
        methods = self._program.methods_of(type_) if type_ >= 0 else ()
        named = (each for each in methods if self._program.name_of_method(each)[1] in names)
        return map(self._program.signature_of, named)

    @cached_property
    def _changing(self) -> Among:
        """The signatures of methods that may put something into a collection."""
        types = {self._program.type_named(each) for each in TOLD} - {NONE}
        above = {each for type_ in types for each in self._program.supertypes_of(type_)}
        methods = [method for each in sorted(above) for method in self._program.methods_of(each)]
        changing = (each for each in methods if _changes(self._operation_of(each)))
        return Among(map(self._program.signature_of, changing))

    def _operation_of(self, callee: int) -> Operation | None:
        if callee < 0:
            return None
        if callee not in self._operations:
            declaring, name, descriptor = self._program.name_of_method(callee)
            kind = self._kind_of(declaring)
            known = kind and self._confined.is_of_jdk(declaring)
            self._operations[callee] = operation(name, descriptor, kind) if known else None
        return self._operations[callee]

    def on_sites(self, facts: Facts, bytecode: bool, results: Int32) -> None:
        """Enters the calls of a batch; puts other pointers into `results` where only some objects go on to a variable."""
        if self._mark == NONE:
            self._start()
        invoke = facts[schema.Invoke]
        self._note_writers(invoke)
        mask = self._operates.many(invoke.callee)
        if not bytecode:
            mask |= self._changing.many(invoke.signature)
        places = np.flatnonzero(mask)
        for place, call in zip(places.tolist(), calls_at(facts, places), strict=True):
            does, receiver = self._operation_of(int(invoke.callee[place])), call.argument(0)
            if receiver < 0 or invoke.kind[place] == STATIC:
                continue
            if does is None or not bytecode:
                self._open_receiver(call)
            elif self._is_by_jdk.one(call.method):
                self._enter_from_jdk(call, does, int(invoke.callee[place]))
            else:
                results[place] = self._enter(call, does)

    def _start(self) -> None:
        constraints = self._constraints
        self._mark = constraints.fresh()
        constraints.put(
            self._mark, constraints.object(heap.NATIVE, self._program.type_named("java/lang/Object"))
        )
        constraints.add(schema.Store, NONE, NONE, self._mark, self._fields["next"], self._open)

    def _note_writers(self, invoke: Rows) -> None:
        """Has collections be open of which a view was taken, once something changes such views."""
        for view, signatures in list(self._writers.items()):
            declared = dict.fromkeys(invoke.declared[signatures.many(invoke.signature)].tolist())
            owner = self._program.type_named(_VIEWS[view][0])
            if any(each < 0 or owner in self._program.supertypes_of(each) for each in declared):
                del self._writers[view]
                self._constraints.add(schema.Assign, NONE, NONE, self._viewed[view], self._open)

    def _enter_from_jdk(self, call: SiteCall, does: Operation, callee: int) -> None:
        """Enters a call by the JDK's code.

        What the class of a collection does to it was asked for by another call, of the collection or of a view.
        """
        outermost = self._constraints.outermost
        if outermost(call.method) == outermost(callee) or call.argument(0) == self._this(call.method):
            return
        if does.view:
            self._constraints.add(
                schema.Assign, call.method, call.offset, call.argument(0), self._viewed[does.view]
            )
        elif _changes(does):
            self._open_receiver(call)

    def _this(self, method: int) -> int:
        if self._program.flags_of_method(method) & ACC_STATIC:
            return NONE
        return int(self._constraints.solver.first_variables(np.array([method], np.int32))[0])

    def _open_receiver(self, call: SiteCall) -> None:
        for type_ in (self._named[COLLECTION], self._named[MAP]):
            self._constraints.add(schema.Cast, call.method, call.offset, call.argument(0), type_, self._open)

    def _enter(self, call: SiteCall, does: Operation) -> int:
        """Enters a call by the program's code; returns where its result goes."""
        add, receiver, at = self._constraints.add, call.argument(0), (call.method, call.offset)
        if does.opens:
            self._open_receiver(call)
        if does.view:
            add(schema.Assign, *at, receiver, self._viewed[does.view])
        for name, position in does.puts.items():
            if call.argument(position) >= 0:
                add(schema.Store, *at, call.argument(position), self._fields[name], receiver)
        if does.copies >= 0 and call.argument(does.copies) >= 0:
            for field in self._fields.values():
                self._copy(call, call.argument(does.copies), field, receiver)
        if call.result < 0 or not (does.takes or does.walks):
            return call.result
        return self._walk(call) if does.walks else self._take(call, does)

    def _take(self, call: SiteCall, does: Operation) -> int:
        """Has the result be what the receiver's field holds; returns where what the bodies return goes."""
        constraints, at = self._constraints, (call.method, call.offset)
        returned, mark = constraints.fresh(), constraints.fresh()
        constraints.add(schema.Load, *at, call.argument(0), self._fields[does.takes], call.result)
        constraints.add(schema.Load, *at, call.argument(0), self._fields["next"], mark)
        if call.argument(does.otherwise) >= 0:
            constraints.add(schema.Assign, *at, call.argument(does.otherwise), call.result)
        constraints.solver.watch(int32([mark]), int32([mark]))
        self._returned[mark] = (*at, returned, call.result)
        return returned

    def _walk(self, call: SiteCall) -> int:
        """Has the result be iterators of this call; returns where those go that the bodies return."""
        returned = self._constraints.fresh()
        self._constraints.solver.watch(int32([returned]), int32([returned]))
        self._iterators[returned] = call
        return returned

    def observe(self, pointers: Int32, objects: Int32) -> None:
        """Enters what came to results of calls: that a receiver may be open, or iterators."""
        came = dict.fromkeys(pointers.tolist())
        for found in filter(None, (self._returned.pop(each, None) for each in came)):
            self._constraints.add(schema.Assign, *found)
        if not self._iterators.keys().isdisjoint(came):
            walking = np.isin(pointers, int32(each for each in came if each in self._iterators))
            pointers, objects = pointers[walking], objects[walking]
            self._enter_iterators(pointers, objects, self._constraints.solver.types_of(objects))

    def _enter_iterators(self, returned: Int32, objects: Int32, types: Int32) -> None:
        """Has calls return iterators of their own in place of those of a type of the JDK's, and others as they are.

        With more than MOST_ITERATORS types, a call returns all as they are.
        """
        constraints = self._constraints
        other = ~self._is_jdk_type.many(types)
        for pointer, obj in zip(returned[other].tolist(), objects[other].tolist(), strict=True):
            constraints.put(self._iterators[pointer].result, obj)
        came: dict[int, dict[int, None]] = defaultdict(dict)
        for pointer, type_ in zip(returned[~other].tolist(), types[~other].tolist(), strict=True):
            if type_ not in self._made[pointer]:
                came[pointer][type_] = None
        fresh = []
        for pointer, listed in came.items():
            self._made[pointer].update(listed)
            if len(self._made[pointer]) > MOST_ITERATORS:
                call = self._iterators.pop(pointer)
                constraints.add(schema.Assign, call.method, call.offset, pointer, call.result)
            else:
                fresh += [(pointer, type_) for type_ in listed]
        if not fresh:
            return
        own_types = int32(type_ for _, type_ in fresh)
        calls = [self._iterators[pointer] for pointer, _ in fresh]
        first = int(constraints.solver.add_objects(own_types))
        methods, offsets = int32(each.method for each in calls), int32(each.offset for each in calls)
        constraints.heap.add(first, len(fresh), heap.ALLOCATED, own_types, methods, offsets)
        for own, (pointer, type_), call in zip(range(first, first + len(fresh)), fresh, calls, strict=True):
            self._make_iterator(pointer, call, own, type_)

    def _make_iterator(self, returned: int, call: SiteCall, own: int, type_: int) -> None:
        """Has a call return an iterator of its own, with the fields of those of a type that its bodies return."""
        constraints, at = self._constraints, (call.method, call.offset)
        iterator, alike = constraints.fresh(), constraints.fresh()
        constraints.put(iterator, own)
        constraints.put(call.result, own)
        constraints.add(schema.Cast, *at, returned, type_, alike)  # (others lack these fields)
        for field in reference_fields(self._program, type_):
            self._copy(call, alike, field, iterator)
        for name in ("value", "next"):
            self._copy(call, call.argument(0), self._fields[name], iterator)

    def _copy(self, call: SiteCall, source: int, field: int, target: int) -> None:
        """Has `target.field` hold what `source.field` does."""
        content = self._constraints.fresh()
        self._constraints.add(schema.Load, call.method, call.offset, source, field, content)
        self._constraints.add(schema.Store, call.method, call.offset, content, field, target)
