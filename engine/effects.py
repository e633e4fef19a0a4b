"""What derived rows do: reflective calls return objects, create them, call methods, and access fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

from cypher import schema
from cypher.program import ABSTRACT, ACC_STATIC, FINAL, JDK, PRIVATE, Program
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL
from engine import heap
from engine.constraints import CLASS, FINALIZABLE, STANDING_ARRAYS, Constraints
from engine.jni import store_texts
from engine.layout import fields_named
from engine.models import WRAPPERS, SiteCall
from engine.reflection import api
from engine.reflection import relations as rel
from engine.reflection.api import Api
from engine.reflection.generics import INTERFACES, interface_of, is_class
from engine.reflection.names import class_of_descriptor
from engine.sites import REFLECTION

_CLASS = f"L{CLASS};"
# The classes of the objects of a class of methods, or of constructors.
_EXECUTABLES = {api.METHOD: (api.METHOD,), api.EXECUTABLE: (api.METHOD, api.CONSTRUCTOR)}
INVOCATION_TARGET = "java/lang/reflect/InvocationTargetException"


def is_called_itself(program: Program, method: int) -> bool:
    """Returns whether a call of an instance method runs this method, and none that overrides it."""
    declaring = program.name_of_method(method)[0]
    flags = program.flags_of_method(method)
    return not flags & ABSTRACT and bool(
        (flags | program.flags_of_type(declaring)) & FINAL or flags & PRIVATE
    )


class Effects:
    """Enters what follows from derived rows.

    `sites` are the reflective calls; `exact` are the variables of elements of arrays that calls take, by (argument
    position, index), and `lengths` the lengths of those arrays, by (site, argument position).
    """

    def __init__(self, constraints: Constraints) -> None:
        self._constraints, self._program = constraints, constraints.program
        self._confined = constraints.confined
        self.sites: dict[int, tuple[Api, SiteCall]] = {}
        self.exact: dict[int, dict[tuple[int, int], int]] = defaultdict(dict)
        self.lengths: dict[tuple[int, int], int] = {}
        self._metaobjects: dict[tuple[str, int], int] = {}
        self.standing: list[int] = []  # arrays that stand for those of subtypes
        # What was made for a site once and serves all its targets.
        self._casts: dict[tuple[int, int, int], int] = {}
        self._loaded: dict[tuple[int, int], int] = {}
        self._inner: dict[int, int] = {}
        self._lists: dict[int, int] = {}
        self._unknown_classes: dict[str, int] = {}  # by descriptor, the pointer to what it describes
        self._copies: dict[int, int] = {}  # by class of member objects, the pointer to them all
        # Whether a method is of the reflective API.
        self.is_reflective: Callable[[int], bool] = lambda _: False
        # Calls of it by reflection: each by the call on whose behalf it is made, and by that and its method.
        self._caused: dict[int, int] = {}
        self._reflected: dict[tuple[int, int], SiteCall] = {}
        # Its methods of which calls by reflection are reflective calls (see `follow`), and the calls of others.
        self._followed: set[int] = set()
        self._not_followed: dict[int, list[Callable[[], None]]] = defaultdict(list)
        self.by_head: dict[type, Callable[[Any], None]] = {
            rel.ClassObject: self._return_class,
            rel.InitialisedBy: self._initialise,
            rel.MethodObject: self._return_method,
            rel.FieldObject: self._return_field,
            rel.TypeObject: self._return_type,
            rel.UnknownObject: self._return_unknown,
            rel.TextObject: self._return_text,
            rel.UnknownText: self._return_unknown_text,
            rel.NewArray: self._make_array,
            rel.NewInstanceTarget: self._create,
            rel.ResolvedInvoke: self._invoke,
            rel.ResolvedField: self._access,
        }

    def metaobject(self, sort: str, what: int, class_name: str, kind: int) -> int:
        """Returns the object that stands for a method, constructor or field, made on first use."""
        known = self._metaobjects.get((sort, what))
        if known is None:
            type_ = self._program.type_named(class_name)
            known = self._metaobjects[sort, what] = self._constraints.object(kind, type_, payload=what)
            if kind in (heap.METHOD_OBJECT, heap.FIELD_OBJECT):
                self._constraints.put(self._copies_of(type_), known)
        return known

    def array(self, type_: int, standing: bool = False) -> int:
        """Returns the array of a type that the library makes, made on first use; its class may be missing.

        If it is `standing`, arrays of subtypes are meant as well.
        """
        key = "standing" if standing else "array", type_
        known = self._metaobjects.get(key)
        if known is None:
            known = self._metaobjects[key] = self._constraints.object(heap.REFLECTIVE, type_, payload=type_)
            if standing:
                self.standing.append(known)
        return known

    def _copies_of(self, type_: int) -> int:
        """Returns the pointer to all member objects of a class: copies of what the library keeps, which is one of them.

        It asks what they are copies of (java.lang.reflect, `root`), and which classes their declarations name, which is not
        known here.
        """
        if type_ not in self._copies:
            constraints, kept = self._constraints, self._constraints.fresh()
            copies = self._copies[type_] = constraints.fresh()
            for pointer in (kept, copies):
                constraints.put(pointer, constraints.generic(type_))
            for field in self._program.fields_of(type_):
                _, name, descriptor = self._program.name_of_field(field)
                if name == "root":
                    constraints.add(schema.Store, NONE, NONE, kept, field, copies)
                elif descriptor in (_CLASS, f"[{_CLASS}"):
                    constraints.add(schema.Store, NONE, NONE, self._unknown_class(descriptor), field, copies)
                else:
                    for owner in _EXECUTABLES.get(descriptor[1:-1], ()):
                        executables = self._copies_of(self._program.type_named(owner))
                        constraints.add(schema.Store, NONE, NONE, executables, field, copies)
            store_texts(constraints, type_, copies)
        return self._copies[type_]

    def _unknown_class(self, descriptor: str) -> int:
        """Returns the pointer to an unknown class, or to an array of one."""
        if descriptor not in self._unknown_classes:
            constraints = self._constraints
            pointer = self._unknown_classes[descriptor] = constraints.fresh()
            if descriptor == _CLASS:
                constraints.put(pointer, constraints.object(heap.UNKNOWN, self._program.type_named(CLASS)))
            else:
                constraints.put(
                    pointer, constraints.object(heap.REFLECTIVE, self._program.type_named(descriptor))
                )
                constraints.add(schema.ArrayStore, NONE, NONE, self._unknown_class(_CLASS), NONE, pointer)
        return self._unknown_classes[descriptor]

    def supplies(self, each: Api, call: SiteCall) -> bool:
        """Returns whether the rules alone say what a call returns.

        What the JDK's code does with java.lang.invoke it does by bodies; handles are followed over direct flow. Code
        outside the JDK may have generic types of its own, and descriptions of beans.
        """
        if api.TYPE in (each.owner, each.returns):
            return bool(self._types) and not self._is_implemented_outside(each.owner)
        if each.owner in api.DESCRIPTORS:
            return each.cut and not self._is_implemented_outside(each.owner)
        return each.cut and not (each.owner in api.LINKING and self._confined.covers_one(call.method))

    def _is_implemented_outside(self, class_name: str) -> bool:
        """Returns whether code outside the JDK has objects of a type."""
        below = self._program.concrete_subtypes_of(self._program.type_named(class_name))
        return not all(self._program.flags_of_type(each) & JDK for each in below)

    def give(self, site: int, objects: Iterable[int]) -> None:
        """Has a site return objects, in an array if it lists them."""
        each, call = self.sites[site]
        result = self._elements_of(each, call) if each.lists else call.result
        if result >= 0:
            for obj in objects:
                self._constraints.put(result, obj)

    def _elements_of(self, each: Api, call: SiteCall) -> int:
        """Returns the pointer to the elements of the array that a call returns."""
        array = self._program.type_named(f"[L{each.returns};")
        if call.site not in self._lists and call.result >= 0 and array >= 0:
            constraints = self._constraints
            elements = self._lists[call.site] = constraints.fresh()
            listing = constraints.fresh()
            constraints.put(
                listing, constraints.object(heap.REFLECTIVE, array, call.method, call.offset, call.site)
            )
            constraints.add(schema.ArrayStore, call.method, call.offset, elements, NONE, listing)
            constraints.add(schema.Assign, call.method, call.offset, listing, call.result)
        return self._lists.get(call.site, NONE)

    def _return_class(self, row: rel.ClassObject) -> None:
        if row.type < 0:
            self.give(row.site, [self.metaobject("primitive", row.type, CLASS, heap.CLASS_OBJECT)])
        elif self._is_inside_jdk(row.site) and self._confined.confines_one(row.type):
            self.give(row.site, [self._constraints.generic(self._program.type_named(CLASS))])
        else:
            self.give(row.site, [self._constraints.class_object(row.type)])

    def _is_inside_jdk(self, site: int) -> bool:
        return self._confined.covers_one(self.sites[site][1].method)

    def _initialise(self, row: rel.InitialisedBy) -> None:
        call = self.sites[row.site][1]
        self._constraints.initialise([row.type], call.method, call.offset, row.site)

    def _return_method(self, row: rel.MethodObject) -> None:
        name = self._program.name_of_method(row.method)[1]
        owner = api.CONSTRUCTOR if name == "<init>" else api.METHOD
        self._return_member(row.site, "method", row.method, owner, heap.METHOD_OBJECT)

    def method_object(self, method: int) -> int:
        """Returns the object of a method."""
        return self.metaobject(f"method {api.METHOD}", method, api.METHOD, heap.METHOD_OBJECT)

    def _return_field(self, row: rel.FieldObject) -> None:
        self._return_member(row.site, "field", row.field, api.FIELD, heap.FIELD_OBJECT)

    def _return_member(self, site: int, sort: str, member: int, owner: str, kind: int) -> None:
        """Returns a member object; one that the JDK's code finds is followed over direct flow only."""
        each, call = self.sites[site]
        if not self.supplies(each, call) and each.owner not in api.DESCRIPTORS:
            return
        owner = owner if each.returns in ("", api.EXECUTABLE) else each.returns
        if self._is_inside_jdk(site):
            type_ = self._program.type_named(owner)
            self._copies_of(type_)
            self.give(site, [self._constraints.generic(type_)])
        else:
            self.give(site, [self.metaobject(f"{sort} {owner}", member, owner, kind)])

    def _return_type(self, row: rel.TypeObject) -> None:
        """Returns an object for a type that is no class. What a type variable stands for isn't known."""
        signature = self._program.text(row.signature)
        if is_class(signature):
            return
        interface = interface_of(signature)
        if interface not in self._types:
            return
        class_name = self._types[interface]
        if interface == "TypeVariable":
            made = self.metaobject("type variable", NONE, class_name, heap.UNKNOWN)
        else:
            made = self.metaobject("type", row.signature, class_name, heap.TYPE_OBJECT)
        self.give(row.site, [made])

    @cached_property
    def _types(self) -> dict[str, str]:
        """The names of the classes of generic types, by interface.

        In such objects the JDK's code finds some others, of which nothing is told.
        """
        constraints, program = self._constraints, self._program
        names = {each: f"{api.GENERIC_TYPES}{each}Impl" for each in INTERFACES}
        names = {interface: name for interface, name in names.items() if program.type_named(name) >= 0}
        types = list(map(program.type_named, names.values()))
        if not types:
            return names
        referred, array = constraints.fresh(), constraints.fresh()
        for each in (program.type_named(CLASS), *types):
            constraints.put(referred, constraints.generic(each))
        constraints.put(array, constraints.object(heap.REFLECTIVE, program.type_named(f"[L{api.TYPE};")))
        constraints.add(schema.ArrayStore, NONE, NONE, referred, NONE, array)
        for type_ in types:
            base = constraints.fresh()
            constraints.put(base, constraints.generic(type_))
            for field in program.fields_of(type_):
                descriptor = program.name_of_field(field)[2]
                wanted = class_of_descriptor(program, descriptor)
                if wanted >= 0:
                    kept, source = constraints.fresh(), array if descriptor[0] == "[" else referred
                    constraints.add(schema.Cast, NONE, NONE, source, wanted, kept)
                    constraints.add(schema.Store, NONE, NONE, kept, field, base)
        return names

    def _return_unknown(self, row: rel.UnknownObject) -> None:
        each, call = self.sites[row.site]
        if not self.supplies(each, call):
            return
        owner = each.returns or {
            "method": api.METHOD,
            "constructor": api.CONSTRUCTOR,
            "field": api.FIELD,
        }.get(each.sort, CLASS)
        of_types = (CLASS, *self._types.values()) if owner == api.TYPE else ()
        for name in of_types or _EXECUTABLES.get(owner, (owner,)):
            type_ = self._program.type_named(name)
            made = self._unknown(call, type_)
            if not of_types and owner != CLASS:
                self._constraints.put(self._copies_of(type_), made)
            self.give(row.site, [made])

    def unknown_class(self, call: SiteCall) -> int:
        """Returns the unknown class of an object that a call returns if it isn't known what it does."""
        return self._unknown(call, self._program.type_named(CLASS))

    def _unknown(self, call: SiteCall, type_: int) -> int:
        """Returns the object of a class that a call returns if it isn't known which, made on first use."""
        key = (f"unknown {call.site}", type_)
        if key not in self._metaobjects:
            self._metaobjects[key] = self._constraints.object(
                heap.UNKNOWN, type_, call.method, call.offset, call.site
            )
        return self._metaobjects[key]

    def _return_text(self, row: rel.TextObject) -> None:
        self.give(row.site, [self._constraints.text_object(row.text)])

    def _return_unknown_text(self, row: rel.UnknownText) -> None:
        call = self.sites[row.site][1]
        if call.result >= 0:
            native = self._constraints.native_text()
            self._constraints.add(schema.Assign, call.method, call.offset, native, call.result)

    def _make_array(self, row: rel.NewArray) -> None:
        """A call makes an array, of which code of the JVM may make others of the same class."""
        made = self.array(row.type, bool(row.standing))
        self.give(row.site, [made])
        each, call = self.sites[row.site]
        if each.takes_lengths:
            self._fill_array(call, made, row)
        if row.standing:
            self._constraints.put(self._constraints.pool(STANDING_ARRAYS), made)
        else:
            self._constraints.make_array(row.type)

    def _fill_array(self, call: SiteCall, made: int, row: rel.NewArray) -> None:
        """Has an array of arrays hold one of these."""
        constraints = self._constraints
        held = self._program.name_of_type(row.type)
        held = held if row.standing else held.removeprefix("[")
        if held.startswith("["):
            array, elements = constraints.fresh(), constraints.fresh()
            constraints.put(array, made)
            constraints.put(elements, self.array(self._program.type_named(held), bool(row.standing)))
            constraints.add(schema.ArrayStore, call.method, call.offset, elements, NONE, array)

    def _create(self, row: rel.NewInstanceTarget) -> None:
        """A new object flows to the result, its constructor runs on it (Livshits, Whaley, Lam, § 5.2.3).

        calls.init: calls(i, m) :- newInstanceTargets(i, t), m = t + ".<init>".
        """
        each, call = self.sites[row.site]
        constraints = self._constraints
        declaring = self._program.name_of_method(row.method)[0]
        made = self.instance(declaring, call)
        receiver = constraints.fresh()
        constraints.put(receiver, made)
        self.give(row.site, [made])
        constraints.initialise([declaring], call.method, call.offset, row.site)
        arguments = self._arguments(each, call, row.method, 1)
        thrown = call.thrown if each.role == api.CLASS_NEW else self._wrapped(call)
        constraints.call(row.site, SPECIAL, row.method, receiver, arguments, NONE, thrown, REFLECTION)

    def instance(self, type_: int, call: SiteCall) -> int:
        """Returns the object of a class that reflection makes, first at `call`."""
        key = ("instance", type_)
        if key not in self._metaobjects:
            made = self._constraints.object(heap.REFLECTIVE, type_, call.method, call.offset, call.site)
            self._metaobjects[key] = made
            if self._constraints.has_finalizer(type_):
                self._constraints.put(self._constraints.pool(FINALIZABLE), made)
        return self._metaobjects[key]

    def _invoke(self, row: rel.ResolvedInvoke) -> None:
        """The receiver, the elements of the argument array, the result and what is thrown flow as in a call (§ 5.2.5).

        assign.receiver: assign(v1, v2) :- resolvedInvoke(i, m), formal(m, 0, v1), actual(i, 1, v2).
        assign.return: assign(v1, v2) :- resolvedInvoke(i, m), ret(i, v1), mret(m, v2).
        points-to.arguments: points-to(v, h) :- resolvedInvoke(i, m), formal(m, z, v), z > 0, actual(i, 2, v2),
                                                points-to(v2, h2), hpoints-to(h2, "null", h).

        Differs: a receiver is of the class of m or below it and dispatches; elements of an array that the method makes
        itself are arguments by their index, other elements where their classes allow.
        """
        each, call = self.sites[row.site]
        constraints, program = self._constraints, self._program
        declaring, _, descriptor = program.name_of_method(row.method)
        flags = program.flags_of_method(row.method)
        returned = descriptor.rpartition(")")[2]
        result = call.result if returned[0] in "L[" else NONE
        if result < 0 <= call.result and returned != "V":
            self.give(row.site, [self.boxed(returned)])
        thrown = self._wrapped(call)
        if flags & ACC_STATIC:
            constraints.initialise([declaring], call.method, call.offset, row.site)
            arguments = self._arguments(each, call, row.method, 0)
            self.call(call, STATIC, row.method, NONE, arguments, result, thrown)
            return
        receiver = self.cast(call, call.argument(each.target), declaring)
        if receiver < 0:
            return
        arguments = self._arguments(each, call, row.method, 1)
        if is_called_itself(program, row.method) or (each.sort == "special" and not flags & ABSTRACT):
            self.call(call, SPECIAL, row.method, receiver, arguments, result, thrown)
        else:
            signature = program.signature_of(row.method)
            constraints.call(row.site, VIRTUAL, signature, receiver, arguments, result, thrown, REFLECTION)

    def call(
        self, call: SiteCall, kind: int, method: int, receiver: int, arguments: Sequence[tuple[int, int]], result: int,
        thrown: int,
    ) -> None:  # fmt: skip
        """Calls a method on behalf of a reflective call; a call of the reflective API is one itself, of the same instruction.

        There is one for each of its methods: what it calls by reflection in its turn may be itself. Methods of the API
        that nobody is known to mean (see `follow`) are called like others: where all methods of all objects may be called,
        these are among them.
        """
        constraints = self._constraints
        if call.site < 0 or method not in self._followed:
            constraints.call(call.site, kind, method, receiver, arguments, result, thrown, REFLECTION)
            if call.site >= 0 and self.is_reflective(method):
                again = partial(self.call, call, kind, method, receiver, arguments, result, thrown)
                self._not_followed[method].append(again)
            return
        cause = self._caused.get(call.site, call.site)
        known = self._reflected.get((cause, method))
        if known is None:
            first = 0 if self._program.flags_of_method(method) & ACC_STATIC else 1
            types = enumerate(self._program.parameter_types(method), first)
            positions = [*range(first), *(position for position, type_ in types if type_ >= 0)]
            made = {position: constraints.fresh() for position in positions}
            returned, failed = constraints.fresh(), constraints.fresh()
            own = made[0] if first else NONE
            others = list(made.items())[first:]
            site = constraints.call(cause, kind, method, own, others, returned, failed, REFLECTION)
            constraints.reflected.add(site)
            known = SiteCall(site, call.method, call.offset, made, returned, failed)
            self._caused[site], self._reflected[cause, method] = cause, known
        flows = [(pointer, known.argument(position)) for position, pointer in arguments]
        flows += [(receiver, known.argument(0)), (known.result, result), (known.thrown, thrown)]
        for source, target in flows:
            if source >= 0 <= target:
                constraints.add(schema.Assign, call.method, call.offset, source, target)

    def follow(self, method: int) -> None:
        """Has calls of a method of the reflective API be reflective ones, where they are made by reflection."""
        if method not in self._followed:
            self._followed.add(method)
            for again in self._not_followed.pop(method, ()):
                again()

    def cast(self, call: SiteCall, pointer: int, type_: int) -> int:
        """Returns a pointer to those objects of `pointer`, an operand of `call`, that are of `type_`."""
        if pointer < 0:
            return NONE
        cast = self._casts.get((call.site, pointer, type_))
        if cast is None:
            cast = self._casts[call.site, pointer, type_] = self._constraints.fresh()
            self._constraints.add(schema.Cast, call.method, call.offset, pointer, type_, cast)
        return cast

    def elements(self, call: SiteCall, array: int) -> int:
        """Returns the pointer to what is in an array that `call` takes."""
        elements = self._loaded.get((call.site, array))
        if elements is None:
            elements = self._loaded[call.site, array] = self._constraints.fresh()
            self._constraints.add(schema.ArrayLoad, call.method, call.offset, array, elements)
        return elements

    def passed(self, each: Api, call: SiteCall) -> int:
        """Returns how many arguments a call passes in its array, -1 if that isn't known; null is none."""
        return 0 if call.argument(each.arguments) < 0 else self.lengths.get((call.site, each.arguments), NONE)

    def _arguments(self, each: Api, call: SiteCall, method: int, shift: int) -> list[tuple[int, int]]:
        """Returns (position, pointer) of the reference arguments that come out of the argument array."""
        array = call.argument(each.arguments) if each.arguments >= 0 else NONE
        if array < 0:
            return []
        wanted = self._program.parameter_types(method)
        known = (call.site, each.arguments) in self.lengths
        found = []
        for index, type_ in enumerate(wanted):
            if type_ < 0:
                continue
            if known:
                source = self.exact[call.site].get((each.arguments, index), NONE)
            else:
                source = self.elements(call, array)
            pointer = self.cast(call, source, type_)
            if pointer >= 0:
                found.append((index + shift, pointer))
        return found

    def boxed(self, letter: str) -> int:
        """Returns the object of the wrapper class of a primitive type."""
        name = next(name for name, each in WRAPPERS.items() if each == letter)
        return self.metaobject("boxed", ord(letter), f"java/lang/{name}", heap.REFLECTIVE)

    def _wrapped(self, call: SiteCall) -> int:
        """Returns the pointer for what the callee throws; an InvocationTargetException with it is thrown instead."""
        type_ = self._program.type_named(INVOCATION_TARGET)
        if call.thrown < 0 or type_ < 0:
            return call.thrown
        if call.site in self._inner:
            return self._inner[call.site]
        inner, outer = self._constraints.fresh(), self._constraints.fresh()
        self._constraints.put(outer, self.metaobject("thrown", 0, INVOCATION_TARGET, heap.REFLECTIVE))
        self._constraints.add(schema.Assign, call.method, call.offset, outer, call.thrown)
        for field in fields_named(self._program, type_, "target"):
            self._constraints.add(schema.Store, call.method, call.offset, inner, field, outer)
        self._inner[call.site] = inner
        return inner

    def _access(self, row: rel.ResolvedField) -> None:
        """Loads or stores the field, of the objects at the receiver or the static one (§ 5.2.6); field -1: array elements.

        load: load(v1, f, v2) :- calls(i, "Field.get"), actual(i, 0, v), points-to(v, h), fieldObject(h, f),
                                 actual(i, 1, v1), ret(i, v2).
        store: store(v1, f, v2) :- calls(i, "Field.set"), actual(i, 0, v), points-to(v, h), fieldObject(h, f),
                                   actual(i, 1, v1), actual(i, 2, v2).
        """
        each, call = self.sites[row.site]
        program = self._program
        base, last = call.argument(each.target), max(call.arguments, default=0)
        value = call.argument(each.arguments if each.arguments >= 0 else last)
        static = row.field >= 0 and program.flags_of_field(row.field) & ACC_STATIC
        if each.role != api.FIELD_SET or (last == each.target and not static):
            value = NONE
        if row.field < 0:
            if base >= 0 <= call.result:
                self._constraints.add(schema.ArrayLoad, call.method, call.offset, base, call.result)
            if base >= 0 <= value:
                self._constraints.add(schema.ArrayStore, call.method, call.offset, value, NONE, base)
            return
        declaring, _, descriptor = program.name_of_field(row.field)
        if static:
            self._constraints.initialise([declaring], call.method, call.offset, row.site)
            base = NONE
        else:
            base = self.cast(call, base, declaring)
            if base < 0:
                return
        if descriptor[0] not in "L[":
            if each.role == api.FIELD_GET and each.owner == api.FIELD:
                self.give(row.site, [self.boxed(descriptor)])
            return
        value = self.cast(call, value, class_of_descriptor(program, descriptor))
        if value >= 0:
            self.store(call, value, row.field, base)
        if call.result >= 0:
            self.load(call, base, row.field, call.result)

    def load(self, call: SiteCall, base: int, field: int, target: int) -> None:
        """Loads a field at a site; base -1: a static one."""
        if base >= 0:
            self._constraints.add(schema.Load, call.method, call.offset, base, field, target)
        else:
            self._constraints.add(schema.StaticLoad, call.method, call.offset, field, target)

    def store(self, call: SiteCall, value: int, field: int, base: int) -> None:
        """Stores to a field at a site; base -1: a static one."""
        if base >= 0:
            self._constraints.add(schema.Store, call.method, call.offset, value, field, base)
        else:
            self._constraints.add(schema.StaticStore, call.method, call.offset, value, field)
