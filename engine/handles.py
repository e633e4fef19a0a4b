"""What calls of method handles do, those of combined handles included (java.lang.invoke).

A handle that is made of others is an object of its own. When it is called, each of those may be called, with
whatever was passed or bound or returned on the way: which argument goes where is not followed, types decide.
Only a bound receiver is told from the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from cypher import schema
from cypher.program import ACC_STATIC
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL, Rows
from engine import heap
from engine.constraints import Constraints
from engine.effects import Effects, is_called_itself
from engine.layout import reference_fields
from engine.machine import LINKED
from engine.models import SiteCall
from engine.reflection import api
from engine.reflection import relations as rel
from engine.reflection.api import Api
from engine.reflection.names import class_of_descriptor
from engine.sites import REFLECTION

DIRECT_HANDLE = "java/lang/invoke/DirectMethodHandle"
VARARGS = 0x80
# Where `Unsafe` takes the offset.
_OFFSET_POSITION = 2
_BINDING = ("bindTo", "bind")
_INVOKERS = ("exactInvoker", "invoker", "spreadInvoker")


class Invocation(NamedTuple):
    """A call of a handle by the site `call`: one of the program, or one that a combined handle makes.

    `arguments` are pointers by position, without the handle; `anything` is the pointer to what may be at any of
    them, -1 if each is where it stands.
    """

    call: SiteCall
    arguments: Mapping[int, int]
    anything: int
    result: int


@dataclass(frozen=True)
class Made:
    """A site that makes a handle of `handles` and of the values `bound`."""

    each: Api
    call: SiteCall
    handles: tuple[int, ...]
    bound: tuple[int, ...]


class HandleEffects:
    """Enters what follows from the rows of the rules for handles.

    `ask(invocation, pointer, method)` has the rules look at the handles that an invocation may call, for `method`.
    """

    def __init__(
        self, constraints: Constraints, effects: Effects, ask: Callable[[int, int, int], None]
    ) -> None:
        self._constraints, self._program, self._effects, self._ask = (
            constraints,
            constraints.program,
            effects,
            ask,
        )
        self.invocations: dict[int, Invocation] = {}
        self.made: dict[int, Made] = {}
        self._found: dict[int, int] = {}  # by site that binds a handle which it finds, the pointer to this
        self._inner: dict[int, int] = {}  # by site, the number of what combined handles call
        self._filled: set[str] = set()
        self.by_head: dict[type, Callable[[Any], None]] = {
            rel.HandleObject: self._return_handle,
            rel.MadeHandle: self._return_made,
            rel.MethodTypeObject: self._return_type,
            rel.HandleTarget: self._do,
            rel.MadeTarget: self._call_made,
            rel.MemoryAccess: self._access_memory,
        }

    def site_of(self, invocation: int) -> int:
        """Returns the site of the program on whose behalf a handle is called."""
        return self.invocations[invocation].call.site if invocation < 0 else invocation

    # --- handles as objects
    def enter_call(self, each: Api, call: SiteCall) -> None:
        """Notes a call of a handle."""
        arguments = {position - 1: pointer for position, pointer in call.arguments.items() if position}
        anything = NONE
        if each.name == "invokeWithArguments":
            length = self._effects.lengths.get((call.site, 1))
            exact = self._effects.exact.get(call.site, {})
            arguments = {index: pointer for (_, index), pointer in exact.items()}
            if length is None:
                anything = self._effects.elements(call, call.argument(1)) if call.argument(1) >= 0 else NONE
        elif self._constraints.confined.covers_one(call.method):
            # The library's own code passes on what it was given, in arrays as well.
            anything = self._constraints.fresh()
            for pointer in arguments.values():
                self._assign(call, pointer, anything)
                self._constraints.add(schema.ArrayLoad, call.method, call.offset, pointer, anything)
        self.invocations[call.site] = Invocation(call, arguments, anything, call.result)

    def enter_made(self, each: Api, call: SiteCall, parameters: list[str]) -> None:
        """Notes a site that makes a handle; `parameters` are the names of its parameter types, the receiver's first."""
        handles, bound = [], []
        for position, name in enumerate(parameters):
            pointer = call.argument(position)
            if pointer < 0:
                continue
            if name.startswith("["):
                pointer = self._effects.elements(call, pointer)
            if name.lstrip("[L").rstrip(";") == api.HANDLE:
                handles.append(pointer)
            elif name.lstrip("[L").rstrip(";") == "java/lang/Object":
                bound.append(pointer)
        self.made[call.site] = Made(each, call, tuple(handles), tuple(bound))

    def enter_bound(self, each: Api, call: SiteCall, receiver: int) -> None:
        """Notes a site that finds a handle and binds it to a receiver."""
        self._found[call.site] = found = self._constraints.fresh()
        self.made[call.site] = Made(each, call, (found,), (receiver,))

    def enter_constants(self, constants: Rows) -> None:
        """Puts the method handles of a constant pool into their targets."""
        columns = (constants.kind, constants.callee, constants.field, constants.target)
        for kind, callee, field, target in zip(*(each.tolist() for each in columns), strict=True):
            member = field if kind <= api.PUT_STATIC else callee
            if member >= 0:
                self._constraints.put(target, self._direct(member, kind))

    def _direct(self, member: int, kind: int) -> int:
        """Returns the direct method handle of a member."""
        name = DIRECT_HANDLE if self._program.type_named(DIRECT_HANDLE) >= 0 else api.HANDLE
        return self._filled_object("handle", heap.payload_of_handle(member, kind), name, heap.HANDLE)

    def _return_handle(self, row: rel.HandleObject) -> None:
        each, call = self._effects.sites[row.site]
        if row.site in self._found:
            self._constraints.put(self._found[row.site], self._direct(row.member, row.kind))
        elif self._effects.supplies(each, call):
            self._effects.give(row.site, [self._direct(row.member, row.kind)])

    def _return_made(self, row: rel.MadeHandle) -> None:
        made = self._filled_object("made", row.made, api.HANDLE, heap.MADE_HANDLE)
        self._effects.give(row.site, [made])

    def _return_type(self, row: rel.MethodTypeObject) -> None:
        each, call = self._effects.sites[row.site]
        if self._effects.supplies(each, call):
            made = self._filled_object("type", row.made, api.METHOD_TYPE_CLASS, heap.METHOD_TYPE)
            self._effects.give(row.site, [made])

    def _filled_object(self, sort: str, what: int, name: str, kind: int) -> int:
        """Returns an object of a class, which has the fields of what the JVM makes of it; one has them for all."""
        made = self._effects.metaobject(sort, what, name, kind)
        if name not in self._filled:
            self._filled.add(name)
            self._fill(made, self._program.type_named(name))
        return made

    def _fill(self, made: int, type_: int) -> None:
        constraints = self._constraints
        base = constraints.fresh()
        constraints.put(base, made)
        for field in reference_fields(self._program, type_):
            value = constraints.fresh()
            constraints.add(schema.Load, NONE, NONE, constraints.pool(LINKED), field, value)
            constraints.add(schema.Store, NONE, NONE, value, field, base)

    # --- calls
    def _do(self, row: rel.HandleTarget) -> None:
        """Does what a direct handle does that an invocation may call."""
        self._run(self.invocations[row.site], row.member, row.kind)

    def _run(self, invocation: Invocation, member: int, kind: int) -> None:
        """Does what a direct handle does: calls a method, makes an object, or accesses a field."""
        if kind <= api.PUT_STATIC:
            self._access(invocation, member, kind)
        else:
            self._call(invocation, member, kind)

    def _given(self, invocation: Invocation, position: int) -> int:
        """Returns a pointer to what may be at `position`, -1 if nothing is."""
        return invocation.anything if invocation.anything >= 0 else invocation.arguments.get(position, NONE)

    def _argument(self, invocation: Invocation, position: int, type_: int) -> int:
        """Returns a pointer to the argument at `position` as far as it is of `type_`, -1 if there is none."""
        return self._effects.cast(invocation.call, self._given(invocation, position), type_)

    def _access(self, invocation: Invocation, field: int, kind: int) -> None:
        constraints, program, call = self._constraints, self._program, invocation.call
        static = kind in (api.GET_STATIC, api.PUT_STATIC)
        reads = kind in (api.GET_FIELD, api.GET_STATIC)
        # (the last argument is what setters store, and what is stored by a handle of a var handle that compares first)
        last = max([0 if static else 1, *invocation.arguments])
        if field < 0:
            value, result = (NONE, invocation.result) if reads else (self._given(invocation, last), NONE)
            self._access_elements(call, self._given(invocation, 0), value, result)
            return
        declaring, _, descriptor = program.name_of_field(field)
        if static:
            constraints.initialise([declaring], call.method, call.offset, call.site)
        if descriptor[0] not in "L[":
            return
        base = NONE if static else self._argument(invocation, 0, declaring)
        if reads:
            if invocation.result >= 0:
                self._effects.load(call, base, field, invocation.result)
            return
        value = self._argument(invocation, last, class_of_descriptor(program, descriptor))
        if value >= 0:
            self._effects.store(call, value, field, base)

    def _call(self, invocation: Invocation, method: int, kind: int) -> None:
        constraints, program, call = self._constraints, self._program, invocation.call
        declaring, _, descriptor = program.name_of_method(method)
        shift = int(kind not in (api.CALL_STATIC, api.NEW))
        arguments = list(self._arguments(invocation, method, shift, int(kind != api.CALL_STATIC)))
        returned = descriptor.rpartition(")")[2]
        result = invocation.result if returned[0] in "L[" else NONE
        if result < 0 <= invocation.result and returned != "V":
            constraints.put(invocation.result, self._effects.boxed(returned))
        if kind in (api.CALL_STATIC, api.NEW):
            constraints.initialise([declaring], call.method, call.offset, call.site)
        if kind == api.CALL_STATIC:
            self._effects.call(call, STATIC, method, NONE, arguments, result, call.thrown)
            return
        if kind == api.NEW:
            receiver = constraints.fresh()
            constraints.put(receiver, self._effects.instance(declaring, call))
            if invocation.result >= 0:
                constraints.add(schema.Assign, call.method, call.offset, receiver, invocation.result)
        else:
            receiver = self._argument(invocation, 0, declaring)
        if receiver < 0:
            return
        if kind in (api.CALL_SPECIAL, api.NEW) or is_called_itself(program, method):
            self._effects.call(call, SPECIAL, method, receiver, arguments, result, call.thrown)
        else:
            signature = program.signature_of(method)
            constraints.call(
                call.site, VIRTUAL, signature, receiver, arguments, result, call.thrown, REFLECTION
            )

    def _arguments(
        self, invocation: Invocation, method: int, shift: int, first: int
    ) -> Iterator[tuple[int, int]]:
        """Yields (position, pointer) of the reference arguments of a method; `first` counts its receiver."""
        program, constraints, call = self._program, self._constraints, invocation.call
        types = program.parameter_types(method)
        collects = program.flags_of_method(method) & VARARGS and types and types[-1] >= 0
        for index, type_ in enumerate(types):
            if type_ < 0:
                continue
            pointer = self._argument(invocation, index + shift, type_)
            is_array = program.name_of_type(type_).startswith("[")
            if is_array and (invocation.anything >= 0 or (collects and index == len(types) - 1)):
                collected = constraints.fresh()
                constraints.put(collected, self._effects.array(type_))
                rest = [each for at, each in invocation.arguments.items() if at >= index + shift]
                for source in rest if invocation.anything < 0 else [invocation.anything]:
                    constraints.add(schema.ArrayStore, call.method, call.offset, source, NONE, collected)
                if pointer >= 0:
                    constraints.add(schema.Assign, call.method, call.offset, pointer, collected)
                pointer = collected
            if pointer >= 0:
                yield index + first, pointer

    def call_with_anything(self, member: int, kind: int, anything: int) -> None:
        """Calls a direct handle on behalf of the JVM, with what is at `anything`, where its result goes, too."""
        call = SiteCall(NONE, NONE, NONE, {}, NONE, anything)
        self._run(Invocation(call, {}, anything, anything), member, kind)

    # --- combined handles
    def _call_made(self, row: rel.MadeTarget) -> None:
        """Calls the handles of which the handle is made."""
        invocation, made = self.invocations[row.site], self.made[row.made]
        if made.each.name in _BINDING and invocation.anything < 0 and row.site >= 0:
            shifted = {position + 1: pointer for position, pointer in invocation.arguments.items()}
            bound = shifted | ({0: made.bound[0]} if made.bound else {})
            number = self._number(Invocation(invocation.call, bound, NONE, invocation.result))
            for handle in made.handles:
                self._ask(number, handle, made.call.method)
            return
        number, call = self._inner_call(invocation), invocation.call
        _, _, anything, result = self.invocations[number]
        for pointer in made.bound:
            self._assign(call, pointer, anything)
        self._mix(made.each.name, call, anything, invocation.result)
        for handle in (*made.handles, *([anything] if made.each.name in _INVOKERS else [])):
            self._ask(number, handle, made.call.method)
        self._assign(call, result, invocation.result)

    def _mix(self, name: str, call: SiteCall, anything: int, result: int) -> None:
        """Enters what a combination does with the values themselves."""
        constraints = self._constraints
        if name in ("constant", "identity", "explicitCastArguments", "loop", "countedLoop"):
            self._assign(call, anything, result)
        elif name == "iteratedLoop":
            self._iterate(call, anything)
        elif name in ("catchException", "tryFinally"):
            self._assign(call, call.thrown, anything)
        elif name == "throwException":
            self._assign(call, anything, call.thrown)
        elif name in ("asSpreader", "spreadInvoker", "arrayElementGetter"):
            constraints.add(schema.ArrayLoad, call.method, call.offset, anything, anything)
            self._assign(call, anything, result if name == "arrayElementGetter" else NONE)
        elif name == "arrayElementSetter":
            constraints.add(schema.ArrayStore, call.method, call.offset, anything, NONE, anything)

    def _iterate(self, call: SiteCall, anything: int) -> None:
        """Takes elements out of what may be iterated over."""
        program, constraints = self._program, self._constraints
        iterator = constraints.fresh()
        for owner, name, descriptor, receiver, result in (
            ("java/lang/Iterable", "iterator", "()Ljava/util/Iterator;", anything, iterator),
            ("java/util/Iterator", "next", "()Ljava/lang/Object;", iterator, anything),
        ):
            method = program.method_of(program.type_named(owner), name, descriptor)
            if method >= 0:
                signature = program.signature_of(method)
                constraints.call(call.site, VIRTUAL, signature, receiver, (), result, call.thrown, REFLECTION)

    def _assign(self, call: SiteCall, source: int, target: int) -> None:
        if source >= 0 <= target:
            self._constraints.add(schema.Assign, call.method, call.offset, source, target)

    def _inner_call(self, invocation: Invocation) -> int:
        """Returns the number of what stands for all that combined handles call on behalf of a site, `invocation` included."""
        call, constraints = invocation.call, self._constraints
        if call.site not in self._inner:
            inner = Invocation(call, {}, constraints.fresh(), constraints.fresh())
            self._inner[call.site] = self._number(inner)
            self._assign(call, inner.result, inner.anything)
        number = self._inner[call.site]
        anything = self.invocations[number].anything
        for pointer in (*invocation.arguments.values(), invocation.anything):
            if pointer != anything:
                self._assign(call, pointer, anything)
        return number

    def _number(self, inner: Invocation) -> int:
        """Returns the number of an invocation that a combined handle makes."""
        number = -2 - len(self.invocations)
        self.invocations[number] = inner
        return number

    # --- memory
    def enter_memory(self, call: SiteCall) -> None:
        """Accesses the elements of arrays, whatever the offset."""
        base, value = self._memory_operands(call)
        self._access_elements(call, base, value, call.result)

    def _access_elements(self, call: SiteCall, base: int, value: int, result: int) -> None:
        """Puts what is at `value` into the arrays at `base`, and what they hold to `result`; -1 stands for neither."""
        array = self._program.type_named("[Ljava/lang/Object;")
        elements = self._effects.cast(call, base, array) if array >= 0 else NONE
        if elements >= 0 <= result:
            self._constraints.add(schema.ArrayLoad, call.method, call.offset, elements, result)
        if elements >= 0 <= value:
            self._constraints.add(schema.ArrayStore, call.method, call.offset, value, NONE, elements)

    def _memory_operands(self, call: SiteCall) -> tuple[int, int]:
        """Returns the object and what is stored: the last argument behind the offset."""
        last = max(call.arguments, default=0)
        return call.argument(1), call.argument(last) if last > _OFFSET_POSITION else NONE

    def _access_memory(self, row: rel.MemoryAccess) -> None:
        call = self._effects.sites[row.site][1]
        base, value = self._memory_operands(call)
        program = self._program
        declaring, _, descriptor = program.name_of_field(row.field)
        if descriptor[0] not in "L[":
            return
        static = program.flags_of_field(row.field) & ACC_STATIC
        base = NONE if static else self._effects.cast(call, base, declaring)
        if base < 0 and not static:
            return
        if call.result >= 0:
            self._effects.load(call, base, row.field, call.result)
        value = self._effects.cast(call, value, class_of_descriptor(program, descriptor))
        if value >= 0:
            self._effects.store(call, value, row.field, base)
