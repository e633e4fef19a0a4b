"""Reflective calls in an analysis: finds them, shows the rules what reaches their operands, and does what they derive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.program import ABSTRACT, ACC_STATIC, PRIVATE
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL, Facts, Int32
from engine import direct, heap
from engine.constraints import CLASS, Constraints
from engine.models import WRAPPERS, SiteCall, calls_at
from engine.reflection import api
from engine.reflection import relations as rel
from engine.reflection.api import API, Api
from engine.reflection.modes import rules_in
from engine.reflection.names import Members
from engine.rules import Derivation, Rules
from engine.sites import REFLECTION

INVOCATION_TARGET = "java/lang/reflect/InvocationTargetException"
LOADER = "java/lang/ClassLoader"
# Without rules, and in the JDK's code, these are analysed like any other method.
_BY_BODY = (api.RELATED, api.ARRAY_NEW)
# What a site returns, and what then is at an operand that this comes to.
_FOUND: dict[type, Any] = {
    rel.ClassObject: rel.ClassAt,
    rel.MethodObject: rel.MethodAt,
    rel.FieldObject: rel.FieldAt,
    rel.UnknownObject: rel.UnknownAt,
}


class Reflection:
    """The reflective sites of an analysis under one mode."""

    def __init__(self, constraints: Constraints, mode: str, receivers: Mapping[int, int]) -> None:
        """`receivers` are those of the calls of getClass, by site."""
        self._constraints = constraints
        self._receivers = receivers
        self._program = constraints.program
        self.rules = Rules(
            rules_in(mode), {"program": constraints.program, "members": Members(constraints.program)}
        )
        self.active = bool(rules_in(mode))
        self.sites: dict[int, tuple[Api, SiteCall]] = {}
        self.derivations: list[Derivation] = []
        self._exact: dict[int, dict[tuple[int, int], int]] = defaultdict(dict)
        self._lengths: dict[tuple[int, int], int] = {}
        self._watched: set[int] = set()
        self._confined = constraints.confined
        # Operands that get what a site returns by direct flow.
        self._dependents: dict[int, set[int]] = defaultdict(set)
        # By operand, the calls of getClass whose class objects come to it; whether they were found by direct flow.
        self._symbolic: dict[int, dict[int, bool]] = defaultdict(dict)
        # What came to operands by direct flow since the rules were last run.
        self._arrived: dict[type, list[tuple[Any, ...]]] = defaultdict(list)
        self._fresh_watches: list[int] = []
        self._metaobjects: dict[tuple[str, int], int] = {}
        # What was made for a site once and serves all its targets.
        self._casts: dict[tuple[int, int, int], int] = {}
        self._loaded: dict[tuple[int, int], int] = {}
        self._inner: dict[int, int] = {}
        self._api = {method: each for each in API if (method := self._method(each)) >= 0}
        self._effects: dict[type, Callable[[Any], None]] = {
            rel.ClassObject: self._return_class,
            rel.InitialisedBy: self._initialise,
            rel.MethodObject: self._return_method,
            rel.FieldObject: self._return_field,
            rel.UnknownObject: self._return_unknown,
            rel.NewArray: self._make_array,
            rel.NewInstanceTarget: self._create,
            rel.ResolvedInvoke: self._invoke,
            rel.ResolvedField: self._access,
        }
        load = next((method for method, each in self._api.items() if each.owner == LOADER), NONE)
        self._load_signature = self._program.signature_of(load) if load >= 0 else NONE
        self._loader = self._program.type_named(LOADER)
        self._load_api = next(each for each in API if each.owner == LOADER)

    def _method(self, each: Api) -> int:
        type_ = self._program.type_named(each.owner)
        return self._program.method_of(type_, each.name, each.descriptor) if type_ >= 0 else NONE

    def is_api(self, callees: Int32) -> NDArray[np.bool_]:
        """Returns which methods are final ones of the reflective API, which the rules stand for."""
        methods = [method for method, each in self._api.items() if each.owner not in (LOADER, api.ARRAY)]
        return np.isin(callees, np.array(methods, np.int32)) & self.active

    # --- finding sites
    def on_sites(self, facts: Facts) -> Int32:
        """Enters the reflective calls of a batch; returns the sites whose results the rules supply."""
        invoke = facts[schema.Invoke]
        mask = np.isin(invoke.callee, np.fromiter(self._api, np.int32))
        if self._load_signature >= 0:
            mask |= (invoke.signature == self._load_signature) & (invoke.kind == VIRTUAL)
        found = np.flatnonzero(mask)
        if found.size == 0:
            return invoke.site[found]
        self._note_exact_arguments(facts, invoke.site[found])
        kept = []
        for call, callee in zip(calls_at(facts, found), invoke.callee[found].tolist(), strict=True):
            each = self._api.get(callee)
            if each is None and callee >= 0:
                declaring = self._program.name_of_method(callee)[0]
                if self._loader in self._program.supertypes_of(declaring):
                    each = self._load_api
            if each is None or (each.role in _BY_BODY and self._is_by_body(call)):
                continue
            self._enter(each, call)
            if each.role != api.ARRAY_NEW:
                kept.append(call.site)
        return np.array(kept, np.int32)

    def _is_by_body(self, call: SiteCall) -> bool:
        return not self.active or self._confined.covers_one(call.method)

    def _note_exact_arguments(self, facts: Facts, sites: Int32) -> None:
        exact = facts.get(schema.ExactArgument)
        if exact is None:
            return
        exact = exact.take(np.isin(exact.site, sites))
        for site, position, length, index, variable in zip(
            *(column.tolist() for column in exact), strict=True
        ):
            self._lengths[site, position] = length
            if index >= 0:
                self._exact[site][position, index] = variable

    def _enter(self, each: Api, call: SiteCall) -> None:
        self.sites[call.site] = each, call
        if not self.active:
            return
        add = self.rules.add
        site: Any = call.site
        subject: Any = call.argument(each.subject) if each.subject >= 0 else NONE
        named: Any = call.argument(each.named) if each.named >= 0 else NONE
        self._ask(subject, call.method)
        self._ask(named, call.method)
        if each.role == api.FOR_NAME:
            add({rel.ForName: [rel.ForName(site, named, int(each.initialises))]})
        elif each.role == api.GET_MEMBER:
            add({rel.GetMember: [rel.GetMember(site, each.sort, int(each.declared), subject, named)]})
            self._ask_parameters(each, call)
        elif each.role == api.RELATED:
            add({rel.RelatedCall: [rel.RelatedCall(site, each.sort, subject)]})
        elif each.role == api.ARRAY_NEW:
            add({rel.ArrayCall: [rel.ArrayCall(site, subject)]})
        elif each.role == api.CLASS_NEW:
            add({rel.NewInstanceCall: [rel.NewInstanceCall(site, subject)]})
        elif each.role == api.CONSTRUCTOR_NEW:
            add({rel.ConstructorCall: [rel.ConstructorCall(site, subject)]})
        elif each.role == api.INVOKE:
            add({rel.InvokeCall: [rel.InvokeCall(site, subject)]})
        else:
            add({rel.FieldCall: [rel.FieldCall(site, subject, int(each.role == api.FIELD_SET))]})

    def _ask_parameters(self, each: Api, call: SiteCall) -> None:
        """Tells the rules which parameter classes a member call names, if its array is exact or null."""
        if each.classes < 0:
            return
        site: Any = call.site
        length = self._lengths.get((call.site, each.classes))
        if length is None:
            if call.argument(each.classes) >= 0:
                return
            length = 0
        self.rules.add({rel.ParameterClasses: [rel.ParameterClasses(site, length)]})
        for (position, index), variable in self._exact[call.site].items():
            if position == each.classes and variable >= 0:
                self._ask(variable, call.method)
                at: Any = variable
                self.rules.add({rel.ParameterVariable: [rel.ParameterVariable(site, index, at)]})

    def _ask(self, pointer: int, method: int) -> None:
        """Watches an operand; what resolves it may be confined."""
        if pointer < 0:
            return
        self._confined.operands[pointer] = self._confined.covers_one(method)
        self._watch(pointer)

    def _watch(self, pointer: int) -> None:
        if pointer >= 0 and pointer not in self._watched:
            self._watched.add(pointer)
            self._fresh_watches.append(pointer)

    def flush(self) -> None:
        """Asks the solver to watch the operands that were found."""
        if self._fresh_watches:
            pointers = np.array(self._fresh_watches, np.int32)
            self._fresh_watches = []
            self._constraints.solver.watch(pointers, pointers)

    # --- what reaches operands
    def observe(self, pointers: Int32, objects: Int32, types: Int32) -> None:
        """Shows the rules new pairs of watched pointers and objects; `types` are those that class objects stand for."""
        rows: dict[type, list[tuple[Any, ...]]] = defaultdict(list)
        unknown: set[Any] = set()
        for pointer, obj, class_type in zip(pointers.tolist(), objects.tolist(), types.tolist(), strict=True):
            if pointer not in self._watched:
                continue
            kind, _, _, _, payload = self._constraints.heap.entry(obj)
            if kind == heap.CLASS_OF:
                self._symbolic[pointer][payload] = False
            elif not self.admits(pointer, kind, payload, class_type):
                unknown.add(pointer)
            elif kind == NONE and class_type >= 0:
                rows[rel.ClassAt].append(rel.ClassAt(pointer, class_type))
            elif kind == heap.CLASS_OBJECT:
                rows[rel.ClassAt].append(rel.ClassAt(pointer, payload))  # type: ignore[arg-type]
            elif kind == heap.STRING:
                text = self._program.text(payload)
                rows[rel.StringAt].append(rel.StringAt(pointer, text))
            elif kind == heap.METHOD_OBJECT:
                rows[rel.MethodAt].append(rel.MethodAt(pointer, payload))  # type: ignore[arg-type]
            elif kind == heap.FIELD_OBJECT:
                rows[rel.FieldAt].append(rel.FieldAt(pointer, payload))  # type: ignore[arg-type]
            elif kind not in (NONE, heap.GENERIC):
                unknown.add(pointer)
        rows[rel.UnknownAt] = [rel.UnknownAt(pointer) for pointer in sorted(unknown)]
        self.rules.add(rows)

    def admits(self, pointer: int, kind: int, payload: int, class_type: int) -> bool:
        """Returns whether an object may resolve the operand at `pointer` (see `engine.confined`)."""
        return self._confined.admits(pointer, kind, payload, class_type)

    def search(self) -> None:
        """Shows the rules what comes to operands by direct flow (see `engine.confined`)."""
        constraints, rows = self._constraints, self._arrived
        types: dict[int, list[Any]] = {}
        cut = constraints.sites.cut_mask()
        found = self._confined.search(
            constraints.solver, constraints.batches, constraints.parameters.values(), cut, self._symbolic
        )
        for operand, kind, value in found:
            at: Any = operand
            inside = self._confined.operands[operand]
            if kind == direct.RESULT and value in self._receivers:
                if inside or value in self._symbolic[operand]:
                    self._symbolic[operand][value] = True
                    listed = types.get(value) or types.setdefault(value, self._classes_of(value))
                    confines = self._confined.confines if inside else lambda _: False
                    rows[rel.ClassAt] += [rel.ClassAt(at, each) for each in listed if not confines(each)]
            elif kind == direct.RESULT and value in self.sites:
                self._depend(operand, value)
            elif inside and kind == direct.TEXT:
                rows[rel.StringAt].append(rel.StringAt(at, self._program.text(value)))
            elif inside and kind == direct.TYPE:
                rows[rel.ClassAt].append(rel.ClassAt(at, value))  # type: ignore[arg-type]
            elif inside and kind == direct.OTHER:
                rows[rel.UnknownAt].append(rel.UnknownAt(at))
        for pointer, calls in self._symbolic.items():
            if not all(calls.values()):
                rows[rel.UnknownAt].append(rel.UnknownAt(pointer))  # type: ignore[arg-type]

    def _depend(self, operand: int, site: int) -> None:
        """Has `operand` see all that `site` finds, so far and from now on."""
        if operand not in self._dependents[site]:
            self._dependents[site].add(operand)
            for relation in _FOUND:
                for row in self.rules.tables[relation].where(site=site):
                    self._pass_on(operand, row)

    def _classes_of(self, site: int) -> list[int]:
        """Returns the types of the objects whose class the call of getClass asks for."""
        solver = self._constraints.solver
        types: list[int] = np.unique(solver.types_of(solver.objects_of(self._receivers[site]))).tolist()
        return types

    def _pass_on(self, operand: Any, row: tuple[Any, ...]) -> None:
        """Shows the rules that what a site found comes to `operand` by direct flow."""
        arrives = _FOUND.get(type(row))
        if arrives is not None:
            self._arrived[arrives].append(
                arrives(operand) if arrives is rel.UnknownAt else arrives(operand, row[1])
            )

    def tells_classes(self, pointer: int, site: int) -> bool:
        """Returns whether the classes that the call of getClass at `site` returns resolve the operand at `pointer`."""
        return self._symbolic[pointer].get(site, False)

    def texts_within_jdk(self, pointer: int) -> list[str]:
        """Returns the constants that direct flow brings to an operand in the JDK's code."""
        inside = self._confined.operands.get(pointer)
        return [row.text for row in self.rules.tables[rel.StringAt].where(pointer=pointer)] if inside else []

    def is_unknown_within_jdk(self, pointer: int) -> bool:
        """Returns whether something unknown may be at an operand in the JDK's code."""
        inside = self._confined.operands.get(pointer)
        return bool(inside and self.rules.tables[rel.UnknownAt].where(pointer=pointer))

    def derive(self) -> bool:
        """Runs the rules and does what they derive; returns whether they derived anything."""
        arrived, self._arrived = self._arrived, defaultdict(list)
        self.rules.add(arrived)
        derived = self.rules.derive()
        for each in derived:
            effect = self._effects.get(each.rule.head)
            if effect is not None:
                effect(each.row)
                self.derivations.append(each)
            for operand in self._dependents.get(each.row[0], ()):
                self._pass_on(operand, each.row)
        return bool(derived or self._arrived)

    # --- what derived rows do
    def _metaobject(self, sort: str, what: int, class_name: str, kind: int) -> int:
        """Returns the object that stands for a method, constructor or field, made on first use."""
        known = self._metaobjects.get((sort, what))
        if known is None:
            type_ = self._program.type_named(class_name)
            known = self._metaobjects[sort, what] = self._constraints.object(kind, type_, payload=what)
        return known

    def _result(self, site: int, objects: Iterable[int]) -> None:
        result = self.sites[site][1].result
        if result >= 0:
            for obj in objects:
                self._constraints.put(result, obj)

    def _return_class(self, row: rel.ClassObject) -> None:
        if self._is_inside_jdk(row.site) and self._confined.confines(row.type):
            self._result(row.site, [self._constraints.generic(self._program.type_named(CLASS))])
        else:
            self._result(row.site, [self._constraints.class_object(row.type)])

    def _is_inside_jdk(self, site: int) -> bool:
        return self._confined.covers_one(self.sites[site][1].method)

    def _initialise(self, row: rel.InitialisedBy) -> None:
        call = self.sites[row.site][1]
        self._constraints.initialise([row.type], call.method, call.offset, row.site)

    def _return_method(self, row: rel.MethodObject) -> None:
        name = self._program.name_of_method(row.method)[1]
        owner = api.CONSTRUCTOR if name == "<init>" else api.METHOD
        self._return_member(row.site, "method", row.method, owner, heap.METHOD_OBJECT)

    def _return_field(self, row: rel.FieldObject) -> None:
        self._return_member(row.site, "field", row.field, api.FIELD, heap.FIELD_OBJECT)

    def _return_member(self, site: int, sort: str, member: int, owner: str, kind: int) -> None:
        """Returns a member object; one that the JDK's code finds is followed over direct flow only."""
        if self._is_inside_jdk(site):
            self._result(site, [self._constraints.generic(self._program.type_named(owner))])
        else:
            self._result(site, [self._metaobject(sort, member, owner, kind)])

    def _return_unknown(self, row: rel.UnknownObject) -> None:
        each, call = self.sites[row.site]
        owner = {"method": api.METHOD, "constructor": api.CONSTRUCTOR, "field": api.FIELD}.get(
            each.sort, CLASS
        )
        key = ("unknown", row.site)
        if key not in self._metaobjects:
            self._metaobjects[key] = self._constraints.object(
                heap.UNKNOWN, self._program.type_named(owner), call.method, call.offset, row.site
            )
        self._result(row.site, [self._metaobjects[key]])

    def _make_array(self, row: rel.NewArray) -> None:
        self._result(
            row.site,
            [self._metaobject("array", row.type, self._program.name_of_type(row.type), heap.REFLECTIVE)],
        )

    def _create(self, row: rel.NewInstanceTarget) -> None:
        """A new object flows to the result, its constructor runs on it."""
        each, call = self.sites[row.site]
        constraints = self._constraints
        declaring = self._program.name_of_method(row.method)[0]
        key = ("instance", declaring)
        if key not in self._metaobjects:
            self._metaobjects[key] = constraints.object(
                heap.REFLECTIVE, declaring, call.method, call.offset, row.site
            )
        receiver = constraints.fresh()
        constraints.put(receiver, self._metaobjects[key])
        self._result(row.site, [self._metaobjects[key]])
        constraints.initialise([declaring], call.method, call.offset, row.site)
        arguments = self._arguments(each, call, row.method, 1)
        thrown = call.thrown if each.role == api.CLASS_NEW else self._wrapped(call)
        constraints.call(row.site, SPECIAL, row.method, receiver, arguments, NONE, thrown, REFLECTION)

    def _invoke(self, row: rel.ResolvedInvoke) -> None:
        """The receiver, the elements of the argument array, the result and what is thrown flow as in a call."""
        each, call = self.sites[row.site]
        constraints, program = self._constraints, self._program
        declaring, _, descriptor = program.name_of_method(row.method)
        flags = program.flags_of_method(row.method)
        returned = descriptor.rpartition(")")[2]
        result = call.result if returned[0] in "L[" else NONE
        if result < 0 <= call.result and returned != "V":
            self._result(row.site, [self._boxed(returned)])
        thrown = self._wrapped(call)
        if flags & ACC_STATIC:
            constraints.initialise([declaring], call.method, call.offset, row.site)
            arguments = self._arguments(each, call, row.method, 0)
            constraints.call(row.site, STATIC, row.method, NONE, arguments, result, thrown, REFLECTION)
            return
        receiver = self._cast(call, call.argument(each.target), declaring)
        if receiver < 0:
            return
        arguments = self._arguments(each, call, row.method, 1)
        if flags & PRIVATE and not flags & ABSTRACT:
            constraints.call(row.site, SPECIAL, row.method, receiver, arguments, result, thrown, REFLECTION)
        else:
            signature = program.signature_of(row.method)
            constraints.call(row.site, VIRTUAL, signature, receiver, arguments, result, thrown, REFLECTION)

    def _cast(self, call: SiteCall, pointer: int, type_: int) -> int:
        """Returns a pointer to those objects of `pointer`, an operand of `call`, that are of `type_`."""
        if pointer < 0:
            return NONE
        cast = self._casts.get((call.site, pointer, type_))
        if cast is None:
            cast = self._casts[call.site, pointer, type_] = self._constraints.fresh()
            self._constraints.add(schema.Cast, call.method, call.offset, pointer, type_, cast)
        return cast

    def _elements(self, call: SiteCall, array: int) -> int:
        """Returns the pointer to what is in an array that `call` takes."""
        elements = self._loaded.get((call.site, array))
        if elements is None:
            elements = self._loaded[call.site, array] = self._constraints.fresh()
            self._constraints.add(schema.ArrayLoad, call.method, call.offset, array, elements)
        return elements

    def _arguments(self, each: Api, call: SiteCall, method: int, shift: int) -> list[tuple[int, int]]:
        """Returns (position, pointer) of the reference arguments that come out of the argument array."""
        array = call.argument(each.arguments) if each.arguments >= 0 else NONE
        if array < 0:
            return []
        wanted = self._program.parameter_types(method)
        length = self._lengths.get((call.site, each.arguments))
        if length is not None and length != len(wanted):
            return []
        found = []
        for index, type_ in enumerate(wanted):
            if type_ < 0:
                continue
            if length is not None:
                source = self._exact[call.site].get((each.arguments, index), NONE)
            else:
                source = self._elements(call, array)
            pointer = self._cast(call, source, type_)
            if pointer >= 0:
                found.append((index + shift, pointer))
        return found

    def _boxed(self, letter: str) -> int:
        """Returns the object of the wrapper class of a primitive type."""
        name = next(name for name, each in WRAPPERS.items() if each == letter)
        return self._metaobject("boxed", ord(letter), f"java/lang/{name}", heap.REFLECTIVE)

    def _wrapped(self, call: SiteCall) -> int:
        """Returns the pointer for what the callee throws; an InvocationTargetException with it is thrown instead."""
        type_ = self._program.type_named(INVOCATION_TARGET)
        if call.thrown < 0 or type_ < 0:
            return call.thrown
        if call.site in self._inner:
            return self._inner[call.site]
        inner, outer = self._constraints.fresh(), self._constraints.fresh()
        self._constraints.put(outer, self._metaobject("thrown", 0, INVOCATION_TARGET, heap.REFLECTIVE))
        self._constraints.add(schema.Assign, call.method, call.offset, outer, call.thrown)
        for field in self._program.fields_of(type_):
            if self._program.name_of_field(field)[1] == "target":
                self._constraints.add(schema.Store, call.method, call.offset, inner, field, outer)
        self._inner[call.site] = inner
        return inner

    def _access(self, row: rel.ResolvedField) -> None:
        """Loads or stores the field, of the objects at the receiver or the static one."""
        each, call = self.sites[row.site]
        constraints, program = self._constraints, self._program
        declaring, _, descriptor = program.name_of_field(row.field)
        reference = descriptor[0] in "L["
        writing = each.role == api.FIELD_SET
        if program.flags_of_field(row.field) & ACC_STATIC:
            constraints.initialise([declaring], call.method, call.offset, row.site)
            base = NONE
        else:
            base = self._cast(call, call.argument(each.target), declaring)
            if base < 0:
                return
        if writing:
            type_ = program.type_named(descriptor[1:-1] if descriptor[0] == "L" else descriptor)
            value = self._cast(call, call.argument(each.arguments), type_) if reference else NONE
            if value >= 0 and base >= 0:
                constraints.add(schema.Store, call.method, call.offset, value, row.field, base)
            elif value >= 0:
                constraints.add(schema.StaticStore, call.method, call.offset, value, row.field)
        elif not reference:
            self._result(row.site, [self._boxed(descriptor)])
        elif call.result >= 0 and base >= 0:
            constraints.add(schema.Load, call.method, call.offset, base, row.field, call.result)
        elif call.result >= 0:
            constraints.add(schema.StaticLoad, call.method, call.offset, row.field, call.result)
