"""`invokedynamic` and dynamic constants: what each bootstrap method makes of them (JVMS 6.5, 4.7.23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from cypher.program import (
    ABSTRACT,
    ACC_STATIC,
    APPLICATION,
    FINAL,
    INTERFACE,
    JDK,
    PUBLIC,
    STRING_CONCAT,
    SYNTHETIC,
)  # fmt: skip
from cypher.schema import NONE, Diagnostic, New
from loader.bootstrap import SHARING, Linked, Shared, linked_body, shared_body
from loader.expansion import Body, Linkage, Row
from loader.lambdas import Lambda, lambda_body, lambda_of, make_lambda
from loader.members import MadeMethod
from loader.names import STRING_CLASS, parameters, reference_name
from loader.proxies import ProxyMethod, make_proxy, proxy_body
from loader.records import RecordMethod, record_body, record_method_of
from loader.resolution import INVOKESTATIC, INVOKEVIRTUAL
from loader.site import DynamicCall, bootstrap_entries, host_name, read_calls
from loader.texts import Texts

_LAMBDA = "java/lang/invoke/LambdaMetafactory"
_RECORD = "java/lang/runtime/ObjectMethods"
_SWITCH = "java/lang/runtime/SwitchBootstraps"
_SCALA_LAMBDAS = "scala/runtime/LambdaDeserialize"


class Made(NamedTuple):
    """Where a made method comes from (-1 for a proxy's), and what its body is."""

    host: int
    offset: int
    shape: Lambda | RecordMethod | Linked | Shared | ProxyMethod


class Dynamics:
    """Expands `invokedynamic`, once for each method that is asked for."""

    def __init__(self, linkage: Linkage, texts: Texts) -> None:
        self._linkage, self._texts = linkage, texts
        self._proxies: dict[tuple[int, ...], int] = {}
        self._expanded: dict[int, list[Row]] = {}
        self._made: dict[int, Made] = {}
        # By bootstrap method, the method that calls what it links, if that is shared.
        self._shares: dict[tuple[str, str, str], int] = {}
        self.diagnostics: list[Diagnostic] = []
        self._expanders: dict[str, Callable[[Body, DynamicCall], bool]] = {
            STRING_CONCAT: self._concatenate,
            _LAMBDA: self._lambda,
            _RECORD: self._record,
            _SWITCH: _switch,
            _SCALA_LAMBDAS: self._read_lambda,
        }

    def call_sites(self, method: int) -> list[Row]:
        """Returns the rows that the `invokedynamic` instructions of a method of a class file stand for."""
        found = self._expanded.get(method)
        if found is None:
            body = Body(method, NONE)
            for call in read_calls(self._linkage, method):
                body.offset = call.offset
                expand = self._expanders.get(call.bootstrap_class, self._linked)
                if call.is_constant or not expand(body, call):
                    self._linked(body, call)
            found = self._expanded[method] = body.rows
        return found

    def body(self, method: int) -> list[Row]:
        """Returns the rows of a method that the JVM makes."""
        found = self._expanded.get(method)
        if found is None:
            made = self._made[method]
            if isinstance(made.shape, Lambda):
                found = lambda_body(self._linkage, self._texts, method, made.shape)
            elif isinstance(made.shape, RecordMethod):
                found = record_body(self._linkage, method, made.shape)
            elif isinstance(made.shape, Linked):
                found = linked_body(self._linkage, self._texts, method, made.shape)
            elif isinstance(made.shape, Shared):
                found = shared_body(self._linkage, method, made.shape)
            else:
                found = proxy_body(self._linkage, method, made.shape)
            self._expanded[method] = found
        return found

    def origin(self, method: int) -> tuple[int, int] | None:
        """Returns (method, offset) of the call site for which the JVM makes `method`, None for others."""
        made = self._made.get(method)
        return None if made is None or made.host < 0 else (made.host, made.offset)

    def proxy_of(self, interfaces: Sequence[int], *, annotates: bool) -> int:
        """Returns the class of dynamic proxies that implement `interfaces`; or of the annotations of a type."""
        key = *interfaces, annotates
        if key not in self._proxies:
            type_, shapes = make_proxy(self._linkage, interfaces, annotates=annotates)
            for method, shape in zip(self._linkage.methods.of_type(type_), shapes, strict=True):
                self._made[method] = Made(NONE, NONE, shape)
            self._proxies[key] = type_
        return self._proxies[key]

    # --- what bootstrap methods do
    def _concatenate(self, body: Body, call: DynamicCall) -> bool:
        linkage = self._linkage
        if call.result != NONE:
            string = linkage.types.named(STRING_CLASS)
            body.add(New, string, call.result)
        # (nothing is called, but the operands go into the text)
        signature = linkage.signatures.of(call.name, call.descriptor)
        joins = linkage.resolver.unresolved(INVOKESTATIC, linkage.types.named(STRING_CONCAT), signature)
        body.invoke(joins, sorted(call.arguments.items()), call.result, NONE)
        to_string = linkage.signatures.of("toString", f"()L{STRING_CLASS};")
        for position, descriptor in enumerate(parameters(call.descriptor)):
            name, variable = reference_name(descriptor), call.arguments.get(position, NONE)
            if name and name != STRING_CLASS and variable != NONE:
                type_ = linkage.types.named(name)
                target = linkage.resolver.call(INVOKEVIRTUAL, type_, to_string, call.caller)
                body.invoke(target, [(0, variable)], NONE, call.thrown)
        return True

    def _lambda(self, body: Body, call: DynamicCall) -> bool:
        shape = lambda_of(call)
        if shape is None:
            return False
        type_, shape = make_lambda(self._linkage, body, call, shape)
        for method in self._linkage.methods.of_type(type_):
            self._made[method] = Made(call.method, call.offset, shape)
        return True

    def _record(self, body: Body, call: DynamicCall) -> bool:
        shape = record_method_of(call)
        if shape is None:
            return False
        count = len(parameters(call.descriptor))
        variables = count + 3 + 2 * len(shape.components)
        made = MadeMethod(call.name, call.descriptor, shape.flags, count, variables)
        self._call_made(body, call, "ObjectMethods", made, shape)
        return True

    def _call_made(
        self, body: Body, call: DynamicCall, what: str, made: MadeMethod, shape: RecordMethod | Linked
    ) -> None:
        """Adds a call of a static method that is made for a call site."""
        linkage = self._linkage
        origin = Made(call.method, call.offset, shape)
        method = self._make(host_name(linkage, call, what), call.caller, made, origin)
        signature = linkage.signatures.of(made.name, made.descriptor)
        declaring = linkage.methods.declaring_type(method)
        target = linkage.resolver.call(INVOKESTATIC, declaring, signature, call.caller)
        body.invoke(target, sorted(call.arguments.items()), call.result, call.thrown)

    def _make(self, name: str, like: int, made: MadeMethod, origin: Made) -> int:
        """Returns the only method of a new class, which is of the application or the JDK as the class `like` is."""
        linkage = self._linkage
        flags = FINAL | SYNTHETIC | (linkage.types.flags[like] & (APPLICATION | JDK))
        type_ = linkage.types.make(name, flags, [], 1)
        linkage.methods.add_made(type_, [made])
        method = linkage.methods.of_type(type_)[0]
        self._made[method] = origin
        return method

    def _linked(self, body: Body, call: DynamicCall) -> bool:
        """Adds a call of a method that calls the bootstrap method and what it returns."""
        if not call.bootstrap_class:
            self._report(
                call.method, call.offset, "CLS-INDY", "a call is linked by a bootstrap method that is missing"
            )
            self._unresolved(body, call)
            return True
        linked = Linked(call, NONE if call.is_constant else self._shared(call))
        count = len(parameters(linked.descriptor))
        made = MadeMethod(
            call.name, linked.descriptor, PUBLIC | ACC_STATIC | SYNTHETIC, count, linked.variables
        )
        self._call_made(body, call, "Linked", made, linked)
        if not call.is_constant:
            what = f"{call.bootstrap_class.replace('/', '.')}.{call.bootstrap_name}"
            owner = self._linkage.types.named(call.bootstrap_class)
            if self._linkage.types.is_missing(owner):
                text = (
                    f"a call is linked by {what}, whose class is missing: nothing of what it calls is found"
                )
            else:
                text = f"a call is linked by {what}: of what it calls only those are found whose method handles are known"
            self._report(call.method, call.offset, "CLS-INDY", text)
        return True

    def _shared(self, call: DynamicCall) -> int:
        """Returns the method that calls the targets of all call sites of a bootstrap method, -1 if there is none."""
        bootstrap = call.bootstrap_class, call.bootstrap_name, call.bootstrap_descriptor
        if self._entries[bootstrap] <= SHARING:
            return NONE
        if bootstrap not in self._shares:
            owner = self._linkage.types.named(call.bootstrap_class)
            name, shape = f"{call.bootstrap_class}$$Linked@{call.bootstrap_name}", Shared(owner)
            self._shares[bootstrap] = self._make(name, owner, shape.made, Made(NONE, NONE, shape))
        return self._shares[bootstrap]

    @cached_property
    def _entries(self) -> Counter[tuple[str, str, str]]:
        """How many entries of class files name each bootstrap method."""
        return bootstrap_entries(self._linkage.types.classes.parts)

    def _read_lambda(self, body: Body, call: DynamicCall) -> bool:
        """Calls the bootstrap method of a Scala class that reads its own lambdas; these are told by their streams."""
        linkage = self._linkage
        signature = linkage.signatures.of(call.bootstrap_name, call.bootstrap_descriptor)
        owner = linkage.types.named(call.bootstrap_class)
        body.invoke(linkage.resolver.call(INVOKESTATIC, owner, signature, call.caller), [], NONE, call.thrown)
        return True

    def _unresolved(self, body: Body, call: DynamicCall) -> None:
        """Adds a call that resolves to nothing, or a constant of which only the type is known."""
        linkage = self._linkage
        if call.is_constant:
            name = reference_name(call.descriptor)
            type_ = linkage.types.named(name) if name else NONE
            if type_ >= 0 and not linkage.types.flags[type_] & (INTERFACE | ABSTRACT):
                body.add(New, type_, call.result)
            return
        signature = linkage.signatures.of(call.name, call.descriptor)
        call_ = linkage.resolver.unresolved(INVOKESTATIC, linkage.types.object, signature)
        body.invoke(call_, sorted(call.arguments.items()), call.result, call.thrown)

    def _report(self, method: int, offset: int, code: str, text: str) -> None:
        declaring, name, descriptor = self._linkage.methods.name_of(method)
        class_name = self._linkage.types.names[declaring].replace("/", ".")
        archive = self._linkage.types.classes.archive(self._linkage.types.number[declaring]).label
        where = f"{class_name}.{name}{descriptor}"
        self.diagnostics.append(
            Diagnostic(code, "warning", text, "soundness", archive, method=where, offset=offset)
        )


def _switch(_body: Body, _call: DynamicCall) -> bool:
    """Adds nothing: what a switch over types or constants links to takes no reference anywhere."""
    return True
