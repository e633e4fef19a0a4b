"""The relations over which reflection rules speak.

Pointers, sites, types, methods and fields are ids; rules see points-to only at the operands of reflective calls.
"""

from __future__ import annotations

from typing import NamedTuple

from cypher.schema import CallSite, Field, Method, Text, Type, Variable


class StringAt(NamedTuple):
    """Holds if `pointer` may be the string constant `text`, whose characters are known."""

    pointer: Variable
    text: str


class ClassAt(NamedTuple):
    """Holds if `pointer` may be the class object c^t of `type`; primitive types are `-ord` of their descriptor."""

    pointer: Variable
    type: Type


class MethodAt(NamedTuple):
    """Holds if `pointer` may be the method object or constructor object of `method`."""

    pointer: Variable
    method: Method


class FieldAt(NamedTuple):
    """Holds if `pointer` may be the field object of `field`."""

    pointer: Variable
    field: Field


class TypeAt(NamedTuple):
    """Holds if `pointer` may be the generic type that `signature` describes (JVMS 4.7.9.1), which is no class."""

    pointer: Variable
    signature: Text


class HandleAt(NamedTuple):
    """Holds if `pointer` may be the direct method handle of `member`; `kind` is its reference kind (JVMS 4.4.8)."""

    pointer: Variable
    member: Method
    kind: int


class MadeAt(NamedTuple):
    """Holds if `pointer` may be the method handle that the call `made` makes of others."""

    pointer: Variable
    made: CallSite


class MethodTypeAt(NamedTuple):
    """Holds if `pointer` may be the method type that the call `made` returns."""

    pointer: Variable
    made: CallSite


class UnknownAt(NamedTuple):
    """Holds if `pointer` may be a string, class, method or field object or handle of which nothing is known.

    `made` is the reflective call that returned it, -1 if none did.
    """

    pointer: Variable
    made: CallSite


class MethodTypeObject(NamedTuple):
    """Holds if `site` returns the method type `made`, which is its own."""

    site: CallSite
    made: CallSite


class MadeHandle(NamedTuple):
    """Holds if `site` returns the method handle `made`, which it makes of others."""

    site: CallSite
    made: CallSite


class ForName(NamedTuple):
    """Holds if `site` asks for the class that `name` names; `initialises` is 1 if it also initialises it."""

    site: CallSite
    name: Variable
    initialises: int


class Local(NamedTuple):
    """Holds if all that may be at `pointer`, an operand of `site`, comes from constants of the same method."""

    site: CallSite
    pointer: Variable


class ResultCast(NamedTuple):
    """Holds if what `site` returns is cast to `type` on every way on which its method goes on.

    `inside` is 1 in the JDK's code, where its own classes are confined (see `engine.confined`).
    """

    site: CallSite
    type: Type
    inside: int


class GetMember(NamedTuple):
    """Holds if `site` asks the class at `receiver` for the member that `name` names.

    `sort` is `method`, `constructor` (then `name` is -1) or `field`; `declared` is 1 for `getDeclared…`.
    """

    site: CallSite
    sort: str
    declared: int
    receiver: Variable
    name: Variable


class ListMembers(NamedTuple):
    """Holds if `site` asks the class at `receiver` for all its members of a sort; `sort` and `declared` as in GetMember.

    `sort` is `accessor` for the components of a record, and `[indexed ]getter` or `setter` for properties of a bean, for
    which any bean is at `receiver`.
    """

    site: CallSite
    sort: str
    declared: int
    receiver: Variable


class ParameterClasses(NamedTuple):
    """Holds if `site` asks for a member with exactly `length` parameter classes."""

    site: CallSite
    length: int


class ParameterVariable(NamedTuple):
    """Holds if the parameter class at `place` that `site` asks for is at `variable`."""

    site: CallSite
    place: int
    variable: Variable


class RelatedCall(NamedTuple):
    """Holds if `site` asks the class or member at `receiver` for classes: its `superclass` or `parameters`, as `sort` says.

    Or a component of a record for its `accessor`.
    """

    site: CallSite
    sort: str
    receiver: Variable


class NameCall(NamedTuple):
    """Holds if `site` asks the class or member at `receiver` for its name: its `type name`, if `sort` says so."""

    site: CallSite
    sort: str
    receiver: Variable


class ArrayCall(NamedTuple):
    """Holds if `site` makes an array with elements of the class at `component`.

    At `few` are the same classes, if these are few; else they are at `many`. `lengths` is 1 if the call takes an array
    of lengths, so that the elements may be arrays of them, else 0.
    """

    site: CallSite
    component: Variable
    few: Variable
    many: Variable
    lengths: int


class NewInstanceCall(NamedTuple):
    """Holds if `site` is `Class.newInstance` on `receiver`.

    `trusted` is 1 if it may use members that are accessible to the JDK only, else 0.
    """

    site: CallSite
    receiver: Variable
    trusted: int


class ConstructorCall(NamedTuple):
    """Holds if `site` is `Constructor.newInstance` on `receiver`; `trusted` as in `NewInstanceCall`.

    `length` is how many arguments it passes, -1 if that isn't known.
    """

    site: CallSite
    receiver: Variable
    trusted: int
    length: int


class InvokeCall(NamedTuple):
    """Holds if `site` is `Method.invoke` on the method at `receiver`; `trusted` and `length` as in `ConstructorCall`."""

    site: CallSite
    receiver: Variable
    trusted: int
    length: int


class FieldCall(NamedTuple):
    """Holds if `site` reads (`writes` 0) or writes (1) the field at `receiver` reflectively; `trusted` as in `NewInstanceCall`."""

    site: CallSite
    receiver: Variable
    writes: int
    trusted: int


class OffsetCall(NamedTuple):
    """Holds if `site` asks where in objects the field is that it names itself, or that is at `receiver`.

    `scope` tells who sees the offset.
    """

    site: CallSite
    receiver: Variable
    scope: str


class MemoryCall(NamedTuple):
    """Holds if `site` accesses an object at an offset that some site of `scope` asked for."""

    site: CallSite
    scope: str


class LookupCall(NamedTuple):
    """Holds if `site` asks for a handle, of this `kind`, of the member `name` of the class at `receiver`.

    `type` is the pointer to its method type (-1 for fields).
    """

    site: CallSite
    kind: int
    receiver: Variable
    name: Variable
    type: Variable


class UnreflectCall(NamedTuple):
    """Holds if `site` asks for a handle of the member at `receiver`; `kind` 0 is that by which a method is called, -1 a var handle."""

    site: CallSite
    kind: int
    receiver: Variable


class ArrayHandleCall(NamedTuple):
    """Holds if `site` asks for the var handle of arrays."""

    site: CallSite


class MethodTypeCall(NamedTuple):
    """Holds if `site` asks for a method type of classes that it lists."""

    site: CallSite


class MakeCall(NamedTuple):
    """Holds if `site` makes a method handle of others."""

    site: CallSite


class HandleCall(NamedTuple):
    """Holds if `site` calls the method handle at `receiver`."""

    site: CallSite
    receiver: Variable


class InitialiseCall(NamedTuple):
    """Holds if `site` initialises the class at `operand`."""

    site: CallSite
    operand: Variable


class ServiceCall(NamedTuple):
    """Holds if `site` loads the providers of the service whose class is at `service`."""

    site: CallSite
    service: Variable


class AnnotationCall(NamedTuple):
    """Holds if `site` reads annotations of the classes at `annotation`."""

    site: CallSite
    annotation: Variable


class ProxyCall(NamedTuple):
    """Holds if `site` makes a dynamic proxy."""

    site: CallSite


class EnumCall(NamedTuple):
    """Holds if `site` asks the enum at `receiver` for its constants; `inside` says whether it is in the JDK's code."""

    site: CallSite
    receiver: Variable
    inside: int


class BundleCall(NamedTuple):
    """Holds if `site` asks for the resource bundle of a name."""

    site: CallSite
    name: Variable


class AllocateCall(NamedTuple):
    """Holds if `site` makes an object of the class at `operand` without a constructor."""

    site: CallSite
    operand: Variable


class ParameterClass(NamedTuple):
    """Holds if the parameter class at `place` that `site` asks for may be `type`; place -1 is what is returned."""

    site: CallSite
    place: int
    type: Type


class Candidate(NamedTuple):
    """Holds if `method` has the class and the name that `site` asks for, whatever its parameters."""

    site: CallSite
    method: Method


class ClassObject(NamedTuple):
    """Holds if `site` may return the class object of `type`; `classObjects` of the paper."""

    site: CallSite
    type: Type


class TypeObject(NamedTuple):
    """Holds if `site` may return the type, a class or not, that `signature` describes (JVMS 4.7.9.1)."""

    site: CallSite
    signature: Text


class InitialisedBy(NamedTuple):
    """Holds if `site` may initialise `type`."""

    site: CallSite
    type: Type


class MethodObject(NamedTuple):
    """Holds if `site` may return the method or constructor object of `method`."""

    site: CallSite
    method: Method


class FieldObject(NamedTuple):
    """Holds if `site` may return the field object of `field`."""

    site: CallSite
    field: Field


class UnknownObject(NamedTuple):
    """Holds if `site` may return a class, method or field object of which nothing is known, for want of `operand`."""

    site: CallSite
    operand: Variable


class TextObject(NamedTuple):
    """Holds if `site` may return the string `text`, as if it were a constant of the program."""

    site: CallSite
    text: Text


class UnknownText(NamedTuple):
    """Holds if `site` may return a string of which nothing is known, for want of `operand`."""

    site: CallSite
    operand: Variable


class NewArray(NamedTuple):
    """Holds if `site` may make an array of this `type`; if it is `standing`, of a subtype."""

    site: CallSite
    type: Type
    standing: int


class NewInstanceTarget(NamedTuple):
    """Holds if `site` may create an object with the constructor `method`; `newInstanceTargets` of the paper."""

    site: CallSite
    method: Method


class ResolvedInvoke(NamedTuple):
    """Holds if `site` may call `method` reflectively; `resolvedInvoke` of the paper."""

    site: CallSite
    method: Method


class ResolvedField(NamedTuple):
    """Holds if `site` may access `field` reflectively."""

    site: CallSite
    field: Field


class OffsetField(NamedTuple):
    """Holds if `site` may ask where in objects `field` is; `scope` as in `OffsetCall`."""

    site: CallSite
    field: Field
    scope: str


class MemoryAccess(NamedTuple):
    """Holds if `site` may access `field` by its offset."""

    site: CallSite
    field: Field


class HandleCandidate(NamedTuple):
    """Holds if `member` has the class and the name that `site` asks for, whatever its type."""

    site: CallSite
    member: Method
    kind: int


class HandleObject(NamedTuple):
    """Holds if `site` may return the direct method handle of `member` with this reference `kind`."""

    site: CallSite
    member: Method
    kind: int


class HandleTarget(NamedTuple):
    """Holds if `site` may do what the direct method handle of `member` does."""

    site: CallSite
    member: Method
    kind: int


class MadeTarget(NamedTuple):
    """Holds if `site` may call the method handle that the call `made` makes of others."""

    site: CallSite
    made: CallSite


class Provider(NamedTuple):
    """Holds if `site` may load a provider of `service` that `method` makes: a constructor or a provider method."""

    site: CallSite
    method: Method
    service: Type


class AnnotationObject(NamedTuple):
    """Holds if `site` may return an annotation of this `type`."""

    site: CallSite
    type: Type


class ProxyInterface(NamedTuple):
    """Holds if the proxy that `site` makes may implement `type`, listed at `place`."""

    site: CallSite
    place: int
    type: Type


class EnumConstants(NamedTuple):
    """Holds if `site` may return what `method`, the `values` of an enum, returns."""

    site: CallSite
    method: Method


class BundleClass(NamedTuple):
    """Holds if `site` may create a resource bundle with the constructor `method`."""

    site: CallSite
    method: Method


class Allocated(NamedTuple):
    """Holds if `site` may make an object of `type` without a constructor."""

    site: CallSite
    type: Type
