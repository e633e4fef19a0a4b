"""`invokedynamic`: what each call site's bootstrap method makes of it (JVMS 6.5, 4.7.23)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cypher.program import APPLICATION, FINAL, JDK, SYNTHETIC
from cypher.schema import NONE, Diagnostic, Initialises, New
from loader.expansion import Body, Linkage, Row
from loader.lambdas import Lambda, lambda_body, lambda_of, make_lambda
from loader.members import MadeMethod
from loader.names import STRING_CLASS, parameters, reference_name
from loader.records import RecordMethod, record_body, record_method_of
from loader.resolution import INVOKESTATIC, INVOKEVIRTUAL
from loader.site import DynamicCall, host_name, read_calls

_STRING_CONCAT = "java/lang/invoke/StringConcatFactory"
_LAMBDA = "java/lang/invoke/LambdaMetafactory"
_RECORD = "java/lang/runtime/ObjectMethods"
_SWITCH = "java/lang/runtime/SwitchBootstraps"


class Made(NamedTuple):
    """Where a made method comes from, and what its body is."""

    host: int
    offset: int
    shape: Lambda | RecordMethod


class Dynamics:
    """Expands `invokedynamic`, once for each method that is asked for."""

    def __init__(self, linkage: Linkage) -> None:
        self._linkage = linkage
        self._expanded: dict[int, list[Row]] = {}
        self._made: dict[int, Made] = {}
        self.diagnostics: list[Diagnostic] = []
        self._expanders: dict[str, Callable[[Body, DynamicCall], bool]] = {
            _STRING_CONCAT: self._concatenate,
            _LAMBDA: self._lambda,
            _RECORD: self._record,
            _SWITCH: _switch,
        }

    def call_sites(self, method: int) -> list[Row]:
        """Returns the rows that the `invokedynamic` instructions of a method of a class file stand for."""
        found = self._expanded.get(method)
        if found is None:
            body = Body(method, NONE)
            for call in read_calls(self._linkage, method):
                body.offset = call.offset
                expand = self._expanders.get(call.bootstrap_class, self._unknown)
                if not expand(body, call):
                    self._unknown(body, call)
            found = self._expanded[method] = body.rows
        return found

    def body(self, method: int) -> list[Row]:
        """Returns the rows of a method that the JVM makes."""
        found = self._expanded.get(method)
        if found is None:
            made = self._made[method]
            if isinstance(made.shape, Lambda):
                found = lambda_body(self._linkage, method, made.shape)
            else:
                found = record_body(self._linkage, method, made.shape)
            self._expanded[method] = found
        return found

    def origin(self, method: int) -> tuple[int, int] | None:
        """Returns (method, offset) of the call site for which the JVM makes `method`, None for others."""
        made = self._made.get(method)
        return None if made is None else (made.host, made.offset)

    def unknown_constant(self, method: int, offset: int) -> None:
        """Notes a dynamically computed constant of unknown value."""
        text = "the value of a dynamically computed constant is unknown"
        self._report(method, offset, "CLS-CONDY", text)

    # --- what bootstrap methods do
    def _concatenate(self, body: Body, call: DynamicCall) -> bool:
        linkage = self._linkage
        if call.result != NONE:
            string = linkage.types.named(STRING_CLASS)
            body.add(New, string, call.result)
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
        linkage = self._linkage
        shape = record_method_of(call)
        if shape is None:
            return False
        flags = FINAL | SYNTHETIC | (linkage.types.flags[call.caller] & (APPLICATION | JDK))
        name = host_name(linkage, call, "ObjectMethods")
        type_ = linkage.types.make(name, flags, [], 1)
        count = len(parameters(call.descriptor))
        linkage.methods.add_made(
            type_,
            [
                MadeMethod(
                    call.name, call.descriptor, shape.flags, count, count + 3 + 2 * len(shape.components)
                )
            ],
        )
        method = linkage.methods.of_type(type_)[0]
        self._made[method] = Made(call.method, call.offset, shape)
        signature = linkage.signatures.of(call.name, call.descriptor)
        target = linkage.resolver.call(INVOKESTATIC, type_, signature, call.caller)
        body.invoke(target, sorted(call.arguments.items()), call.result, call.thrown)
        return True

    def _unknown(self, body: Body, call: DynamicCall) -> bool:
        """Adds an unresolved call, and a call of the bootstrap method, which does run."""
        linkage, resolver = self._linkage, self._linkage.resolver
        signature = linkage.signatures.of(call.name, call.descriptor)
        owner, name, descriptor = call.bootstrap_class, call.bootstrap_name, call.bootstrap_descriptor
        declared = linkage.types.named(owner) if owner else linkage.types.object
        unresolved = resolver.unresolved(INVOKESTATIC, declared, signature)
        body.invoke(unresolved, sorted(call.arguments.items()), call.result, call.thrown)
        if owner:
            target = resolver.call(
                INVOKESTATIC, declared, linkage.signatures.of(name, descriptor), call.caller
            )
            body.invoke(target, [], NONE, call.thrown)
            if target.callee >= 0:
                type_ = linkage.methods.declaring_type(target.callee)
                body.add(Initialises, type_)
        what = f"{owner.replace('/', '.')}.{name}" if owner else "a bootstrap method that is missing"
        self._report(
            call.method, call.offset, "CLS-INDY", f"the targets of a call linked by {what} are unknown"
        )
        return True

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
