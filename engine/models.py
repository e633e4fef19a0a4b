"""What a JVM does besides calls, as one table: each model is a method and what a call of it means.

A `site` model says what one call does, so that calls are told apart; what the callee returns is then cut off.
A `body` model stands for the body of a native method, or adds to that of another. Sources: the API specification of each method, and
JVMS 5.5 and 6.5 for what the machine does itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.program import ABSTRACT, ACC_STATIC, INTERFACE, JDK, NATIVE, UNREADABLE, MethodRows, TypeRows
from cypher.schema import NONE, SPECIAL, VIRTUAL, Facts, Int32
from engine import heap
from engine.asked import Asked
from engine.constraints import (
    CLASS,
    MADE_ARRAYS,
    OBJECT,
    RUNNING_THREADS,
    STANDING_ARRAYS,
    STRING,
    THROWABLE,
    Constraints,
)
from engine.jni import (
    COLLECTOR,
    Body,
    accept,
    notify_collection,
    return_address,
    return_interface,
    return_made_by,
    store_texts,
    transform,
    use_sensor,
)
from engine.layout import fields_named
from engine.reflection.names import class_of_descriptor
from engine.unknown import UnknownObjects

THREAD = "java/lang/Thread"
CALL_SITE, HANDLE = "java/lang/invoke/CallSite", "java/lang/invoke/MethodHandle"
LOOKUP = "java/lang/invoke/MethodHandles$Lookup"
# The field, of which no class file knows, with the class on whose behalf a lookup of code outside the JDK is.
HELD_CLASS = ("val$lookupClass", "Ljava/lang/Class;")
REFERENCE, LOADER = "java/lang/ref/Reference", "java/lang/ClassLoader"
# What the JVM keeps: what threads throw and don't catch; references, as they may become pending; class loaders.
UNCAUGHT, REFERENCES, LOADERS = "uncaught throwables", "references", "class loaders"
PROVIDERS = "service providers"
BEANS = "sun/management/ManagementFactoryHelper"
VAR_HANDLE, VAR_FORM = "java/lang/invoke/VarHandle", "java/lang/invoke/VarForm"
SPECIES, MODULE, MODULES = "java/lang/invoke/BoundMethodHandle$Species_", "java/lang/Module", "modules"
VAR_HANDLES, VAR_FORMS = "var handles", "forms of var handles"
FOUND_CLASSES = "classes that class loaders of the program find"
METAOBJECTS = (CLASS, "java/lang/reflect/Method", "java/lang/reflect/Constructor", "java/lang/reflect/Field")
WRAPPERS = {
    "Boolean": "Z", "Byte": "B", "Character": "C", "Short": "S", "Integer": "I", "Long": "J", "Float": "F",
    "Double": "D", "Void": "V",
}  # fmt: skip


class SiteCall(NamedTuple):
    """One call that a model explains."""

    site: int
    method: int
    offset: int
    arguments: Mapping[int, int]
    result: int
    thrown: int

    def argument(self, position: int) -> int:
        """Returns the variable of an argument, -1 if it is null or primitive."""
        return self.arguments.get(position, NONE)


class SiteModel(NamedTuple):
    """`means(constraints, call)` for calls of `name` (any descriptor, if `descriptor` is empty) in `owner`.

    `outside` says whether only for calls by code outside the JDK, and of the table below only if the JDK's code is analysed,
    too; `cuts` whether it says all that a call does.
    """

    owner: str
    name: str
    descriptor: str
    means: Callable[[Constraints, SiteCall], None]
    outside: bool = False
    cuts: bool = True


class BodyModel(NamedTuple):
    """`means(constraints, body)` for methods of this name, whatever their descriptors.

    `returns` is the position of the parameter that they return, -1 if that is not all they return.
    """

    owner: str
    name: str
    means: Callable[[Constraints, Body], None]
    returns: int = NONE


def _copy_array(constraints: Constraints, call: SiteCall) -> None:
    """Copies the elements of one array to another."""
    source, target = call.argument(0), call.argument(2)
    if source >= 0 and target >= 0:
        element = constraints.fresh()
        constraints.add(schema.ArrayLoad, call.method, call.offset, source, element)
        constraints.add(schema.ArrayStore, call.method, call.offset, element, NONE, target)


def _same_as_receiver(constraints: Constraints, call: SiteCall) -> None:
    """Returns the receiver: a clone shares its abstract object, and so does a lookup that may less."""
    if call.argument(0) >= 0 and call.result >= 0:
        constraints.add(schema.Assign, call.method, call.offset, call.argument(0), call.result)


def _run_privileged(constraints: Constraints, call: SiteCall) -> None:
    """Runs the action and returns what it returns."""
    program = constraints.program
    for owner in ("java/security/PrivilegedAction", "java/security/PrivilegedExceptionAction"):
        run = program.method_of(program.type_named(owner), "run", f"()L{OBJECT};")
        if run >= 0 and call.argument(0) >= 0:
            constraints.call(
                call.site, VIRTUAL, program.signature_of(run), call.argument(0), (), call.result, call.thrown
            )
            return


def _get_target(constraints: Constraints, call: SiteCall) -> None:
    """Returns the target of a call site instead of its invoker, which calls it (`CallSite.dynamicInvoker`)."""
    program = constraints.program
    get = program.method_of(program.type_named(CALL_SITE), "getTarget", f"()L{HANDLE};")
    if get >= 0 and call.argument(0) >= 0:
        signature = program.signature_of(get)
        constraints.call(call.site, VIRTUAL, signature, call.argument(0), (), call.result, call.thrown)


def _return_some_class(constraints: Constraints, call: SiteCall) -> None:
    """Returns a class, but none of the program: the one that is spun is made by the linker (see `loader.lambdas`)."""
    if call.result >= 0:
        constraints.put(call.result, constraints.generic(constraints.program.type_named(CLASS)))


def _look_up(constraints: Constraints, call: SiteCall) -> None:
    """Returns a lookup on behalf of the class in whose code the call is (`MethodHandles.lookup`)."""
    declaring, caller = constraints.program.name_of_method(call.method)[0], constraints.fresh()
    constraints.add(schema.ClassConstant, call.method, call.offset, declaring, caller)
    _return_lookup(constraints, call, caller)


def _look_up_in(position: int) -> Callable[[Constraints, SiteCall], None]:
    """Returns a lookup on behalf of a class that is an argument (`Lookup.in`, `MethodHandles.privateLookupIn`)."""

    def means(constraints: Constraints, call: SiteCall) -> None:
        _return_lookup(constraints, call, call.argument(position))

    return means


def _return_lookup(constraints: Constraints, call: SiteCall, class_: int) -> None:
    """Returns a lookup on behalf of the class at `class_`, which is of this call alone.

    The field of the JDK for that class stays empty: the JDK's code, without contexts, would take the class anywhere.
    """
    program, made = constraints.program, constraints.fresh()
    if call.result >= 0:
        lookup = program.type_named(LOOKUP)
        constraints.add(schema.New, call.method, call.offset, lookup, made)
        constraints.add(schema.Assign, call.method, call.offset, made, call.result)
        if class_ >= 0:
            field = program.made_field(lookup, *HELD_CLASS)
            constraints.add(schema.Store, call.method, call.offset, class_, field, made)


def _return_lookup_class(constraints: Constraints, call: SiteCall) -> None:
    """Returns the class on whose behalf the lookup looks members up, lookup by lookup."""
    program = constraints.program
    if call.result >= 0 and call.argument(0) >= 0:
        lookup = program.type_named(LOOKUP)
        own = program.made_field(lookup, *HELD_CLASS)
        for field in (own, *fields_named(program, lookup, "lookupClass")):
            constraints.add(schema.Load, call.method, call.offset, call.argument(0), field, call.result)


def _set_target(constraints: Constraints, body: Body) -> None:
    """Sets the target of a call site (`MethodHandleNatives.setCallSiteTargetNormal`)."""
    program = constraints.program
    for field in fields_named(program, program.type_named(CALL_SITE), "target"):
        constraints.add(schema.Store, body.method, 0, body.first + 1, field, body.first)


def _return_new(*names: str) -> Callable[[Constraints, Body], None]:
    """Returns new objects of these classes."""

    def means(constraints: Constraints, body: Body) -> None:
        for type_ in map(constraints.program.type_named, names):
            if type_ >= 0:
                constraints.put(body.returned, constraints.object(heap.NATIVE, type_, body.method))

    return means


def _run_thread(constraints: Constraints, body: Body) -> None:
    """Runs `run` of the thread; the thread is among those that `currentThread` returns."""
    program = constraints.program
    thread = program.type_named(THREAD)
    run = program.method_of(thread, "run", "()V")
    thrown = constraints.pool(UNCAUGHT)
    constraints.call(NONE, VIRTUAL, program.signature_of(run), body.first, thrown=thrown, method=body.method)
    constraints.add(schema.Assign, body.method, 0, body.first, constraints.pool(RUNNING_THREADS))


def _join(pool: str) -> Callable[[Constraints, Body], None]:
    """Puts the receiver among what the JVM keeps under a name."""

    def means(constraints: Constraints, body: Body) -> None:
        constraints.add(schema.Assign, body.method, 0, body.first, constraints.pool(pool))

    return means


def _yield_to(pool: str) -> Callable[[Constraints, Body], None]:
    """Puts what is returned among what is kept under a name."""

    def means(constraints: Constraints, body: Body) -> None:
        constraints.add(schema.Assign, body.method, 0, body.returned, constraints.pool(pool))

    return means


def _return_pool(*pools: str) -> Callable[[Constraints, Body], None]:
    """Returns what the JVM keeps under these names."""

    def means(constraints: Constraints, body: Body) -> None:
        for each in pools:
            constraints.add(schema.Assign, body.method, 0, constraints.pool(each), body.returned)

    return means


def _return_array(element: str) -> Callable[[Constraints, Body], None]:
    """Returns a new array of what stands for all objects of a class."""

    def means(constraints: Constraints, body: Body) -> None:
        array, type_ = (
            constraints.program.type_named(f"[L{element};"),
            constraints.program.type_named(element),
        )
        if array >= 0 <= type_:
            listed = constraints.fresh()
            constraints.put(listed, constraints.generic(type_))
            store_texts(constraints, type_, listed)
            constraints.put(body.returned, constraints.object(heap.NATIVE, array, body.method))
            constraints.add(schema.ArrayStore, body.method, 0, listed, NONE, body.returned)

    return means


def _set_texts(constraints: Constraints, body: Body) -> None:
    """Sets the texts of what a native method is given first, or of the elements of an array."""
    program, given = constraints.program, body.first
    static = program.flags_of_method(body.method) & ACC_STATIC
    type_ = program.parameter_types(body.method)[0] if static else program.name_of_method(body.method)[0]
    name = program.name_of_type(type_)
    if name.startswith("["):
        array, given = given, constraints.fresh()
        constraints.add(schema.ArrayLoad, body.method, 0, array, given)
    store_texts(constraints, program.type_named(name.removeprefix("[L").removesuffix(";")), given)


def _set_static(owner_prefix: str, name: str) -> Callable[[Constraints, Body], None]:
    """Sets a static field of all classes whose names begin so to the receiver."""

    def means(constraints: Constraints, body: Body) -> None:
        program = constraints.program
        for type_ in program.types_like(owner_prefix):
            for field in fields_named(program, type_, name):
                constraints.add(schema.StaticStore, body.method, 0, body.first, field)

    return means


def _get_element(constraints: Constraints, body: Body) -> None:
    constraints.add(schema.ArrayLoad, body.method, 0, body.first, body.returned)


def _set_element(constraints: Constraints, body: Body) -> None:
    constraints.add(schema.ArrayStore, body.method, 0, body.first + 2, NONE, body.first)


def _walk_stack(constraints: Constraints, body: Body) -> None:
    """Calls the walker back, with frames (`AbstractStackWalker.callStackWalk`)."""
    program = constraints.program
    declaring = program.name_of_method(body.method)[0]
    for method in program.methods_of(declaring):
        if program.name_of_method(method)[1] == "doStackWalk":
            constraints.call(NONE, SPECIAL, method, body.first, result=body.returned, method=body.method)


def _return_parameter(position: int) -> Callable[[Constraints, Body], None]:
    def means(constraints: Constraints, body: Body) -> None:
        constraints.add(schema.Assign, body.method, 0, body.first + position, body.returned)

    return means


def _set_stream(name: str) -> Callable[[Constraints, Body], None]:
    def means(constraints: Constraints, body: Body) -> None:
        program = constraints.program
        for field in fields_named(program, program.type_named("java/lang/System"), name):
            constraints.add(schema.StaticStore, body.method, 0, body.first, field)

    return means


def _nothing(constraints: Constraints, body: Body) -> None:
    """Returns nothing that the other models or the rules don't supply."""


SITE_MODELS: tuple[SiteModel, ...] = (
    SiteModel("java/lang/System", "arraycopy", "", _copy_array),
    SiteModel(OBJECT, "clone", f"()L{OBJECT};", _same_as_receiver),
    *(
        SiteModel(owner, "dynamicInvoker", "", _get_target)
        for owner in (CALL_SITE, *(f"java/lang/invoke/{kind}CallSite" for kind in ("Mutable", "Volatile")))
    ),
    SiteModel("java/lang/invoke/MethodHandles", "lookup", "", _look_up, outside=True),
    SiteModel("java/lang/invoke/MethodHandles", "privateLookupIn", "", _look_up_in(0), outside=True),
    SiteModel(LOOKUP, "in", "", _look_up_in(1), outside=True),
    SiteModel(LOOKUP, "dropLookupMode", "", _same_as_receiver, outside=True),
    SiteModel(LOOKUP, "lookupClass", "", _return_lookup_class, outside=True),
    SiteModel("java/lang/invoke/InnerClassLambdaMetafactory", "spinInnerClass", "", _return_some_class),
    SiteModel("java/security/AccessController", "doPrivileged", "", _run_privileged),
    SiteModel("java/security/AccessController", "doPrivilegedWithCombiner", "", _run_privileged),
)

BODY_MODELS: tuple[BodyModel, ...] = (
    BodyModel(THREAD, "start0", _run_thread),
    BodyModel(THREAD, "currentThread", _return_pool(RUNNING_THREADS)),
    BodyModel(THREAD, "currentCarrierThread", _return_pool(RUNNING_THREADS)),
    BodyModel("java/lang/reflect/Array", "newArray", _return_pool(MADE_ARRAYS, STANDING_ARRAYS)),
    BodyModel("java/lang/reflect/Array", "get", _get_element),
    BodyModel("java/lang/reflect/Array", "set", _set_element),
    BodyModel(REFERENCE, "<init>", _join(REFERENCES)),
    BodyModel(REFERENCE, "getAndClearReferencePendingList", _return_pool(REFERENCES)),
    BodyModel(LOADER, "<init>", _join(LOADERS)),
    BodyModel(VAR_HANDLE, "<init>", _join(VAR_HANDLES)),
    BodyModel(VAR_FORM, "<init>", _join(VAR_FORMS)),
    BodyModel(
        "java/lang/invoke/BoundMethodHandle$SpeciesData", "<init>", _set_static(SPECIES, "BMH_SPECIES")
    ),
    BodyModel(MODULE, "<init>", _join(MODULES)),
    BodyModel(CLASS, "getModule", _return_pool(MODULES)),
    BodyModel(CLASS, "getClassLoader0", _return_pool(LOADERS)),
    *(
        BodyModel(CLASS, f"getDeclared{each}s0", _return_array(f"java/lang/reflect/{each}"))
        for each in ("Constructor", "Method", "Field")
    ),
    BodyModel("java/lang/invoke/MethodHandleNatives", "setCallSiteTargetNormal", _set_target),
    BodyModel("java/lang/invoke/MethodHandleNatives", "setCallSiteTargetVolatile", _set_target),
    BodyModel("java/lang/StackTraceElement", "initStackTraceElements", _set_texts),
    BodyModel("java/lang/StackTraceElement", "initStackTraceElement", _set_texts),
    BodyModel("java/lang/ProcessHandleImpl$Info", "info0", _set_texts),
    BodyModel("com/sun/security/auth/module/UnixSystem", "getUnixInfo", _set_texts),
    BodyModel("com/sun/security/auth/module/NTSystem", "getCurrent", _set_texts),
    BodyModel("jdk/internal/perf/Perf", "createLong", _return_new("java/nio/DirectByteBuffer")),
    BodyModel("jdk/internal/perf/Perf", "attach", _return_new("java/nio/DirectByteBuffer")),
    BodyModel("java/net/Inet4AddressImpl", "lookupAllHostAddr", return_address),
    BodyModel("java/net/Inet6AddressImpl", "lookupAllHostAddr", return_address),
    *(
        BodyModel("java/net/NetworkInterface", name, return_interface)
        for name in ("getAll", "getByName0", "getByIndex0", "getByInetAddress0")
    ),
    *(
        BodyModel("sun/nio/ch/Net", name, return_address)
        for name in ("localInetAddress", "remoteInetAddress")
    ),
    BodyModel("sun/nio/ch/Net", "accept", accept),
    *(
        BodyModel(f"sun/management/{owner}", "getMemoryPools0", return_made_by((BEANS, "createMemoryPool")))
        for owner in ("MemoryImpl", "MemoryManagerImpl")
    ),
    *(
        BodyModel(
            f"sun/management/{owner}",
            "getMemoryManagers0",
            return_made_by(
                (BEANS, "createMemoryManager"),
                (BEANS, "createGarbageCollector"),
                (COLLECTOR, "createGarbageCollector"),
            ),
        )
        for owner in ("MemoryImpl", "MemoryPoolImpl")
    ),
    BodyModel("sun/instrument/InstrumentationImpl", "addTransformer", transform),
    BodyModel(COLLECTOR, "setNotificationEnabled", notify_collection),
    *(
        BodyModel("sun/management/MemoryPoolImpl", f"setPool{each}Sensor", use_sensor)
        for each in ("Usage", "Collection")
    ),
    BodyModel("java/util/ServiceLoader$ProviderImpl", "newInstance", _return_pool(PROVIDERS)),
    BodyModel("java/util/ServiceLoader$LazyIterator", "nextService", _return_pool(PROVIDERS)),
    BodyModel("java/lang/StackStreamFactory$AbstractStackWalker", "callStackWalk", _walk_stack),
    BodyModel("java/lang/String", "intern", _return_parameter(0), returns=0),
    BodyModel("java/lang/System", "setIn0", _set_stream("in")),
    BodyModel("java/lang/System", "setOut0", _set_stream("out")),
    BodyModel("java/lang/System", "setErr0", _set_stream("err")),
    BodyModel(OBJECT, "clone", _nothing),
    BodyModel(OBJECT, "getClass", _nothing),
    BodyModel(CLASS, "forName0", _nothing),
    BodyModel(CLASS, "getPrimitiveClass", _nothing),
    BodyModel("java/lang/ClassLoader", "findBootstrapClass", _nothing),
    BodyModel("java/lang/ClassLoader", "findLoadedClass0", _nothing),
)


class Models:
    """Applies the tables to the sites and methods of an analysis; `whole` says whether the JDK's code is analysed."""

    def __init__(self, constraints: Constraints, whole: bool) -> None:
        self._constraints = constraints
        program = constraints.program
        self._unknown = UnknownObjects(constraints)
        self._sites: dict[int, SiteModel] = {}
        self._at_sites = Asked(self._sites.__contains__)
        for model in SITE_MODELS:
            if whole or not model.outside:
                self.on_site(model)
        self._bodies: dict[int, BodyModel] = {}
        for body in BODY_MODELS:
            for method in self._named(body.owner, body.name, ""):
                self._bodies[method] = body
        self._add_own_loaders()
        self._get_class = next(iter(self._named(OBJECT, "getClass", "")), NONE)
        self._class = program.type_named(CLASS)
        self.class_calls: dict[int, SiteCall] = {}  # the calls of getClass, by site
        self._metatypes = {program.type_named(name) for name in METAOBJECTS}
        self._set_by_natives = {*self._metatypes, program.type_named(STRING)}

    def _add_own_loaders(self) -> None:
        """Has what the program's own class loaders find come back from every call that asks a loader."""
        program = self._constraints.program
        loader = program.type_named(LOADER)
        for type_ in program.concrete_subtypes_of(loader) if loader >= 0 else ():
            for method in program.methods_of(type_) if not program.flags_of_type(type_) & JDK else ():
                if program.name_of_method(method)[1] in ("findClass", "loadClass"):
                    self._bodies[method] = BodyModel("", "", _yield_to(FOUND_CLASSES))

    def on_rows(self, types: TypeRows, methods: MethodRows) -> tuple[TypeRows, MethodRows]:
        """Returns rows that came up, with the parameters that modelled methods return."""
        returns = methods.returns.copy()
        for method, model in self._bodies.items():
            if model.returns >= 0 and 0 <= method - methods.first < returns.size:
                returns[method - methods.first] = model.returns
        return types, methods._replace(returns=returns)

    def _named(self, owner: str, name: str, descriptor: str) -> list[int]:
        program = self._constraints.program
        type_ = program.type_named(owner)
        if type_ < 0:
            return []
        named = [(method, program.name_of_method(method)) for method in program.methods_of(type_)]
        return [method for method, found in named if found[1] == name and descriptor in ("", found[2])]

    def on_sites(self, facts: Facts) -> Int32:
        """Applies the site models to a batch; returns the sites whose results they supply."""
        invoke, constraints = facts[schema.Invoke], self._constraints
        getting = np.flatnonzero(invoke.callee == self._get_class)
        modelled = np.flatnonzero(self._at_sites.many(invoke.callee))
        outside = np.array([self._sites[each].outside for each in invoke.callee[modelled].tolist()], bool)
        modelled = modelled[~outside | ~constraints.confined.covers(invoke.method[modelled])]
        calls = calls_at(facts, modelled)
        cut = invoke.site[getting].tolist()
        for call, callee in zip(calls, invoke.callee[modelled].tolist(), strict=True):
            model = self._sites[callee]
            model.means(constraints, call)
            if model.cuts:
                cut.append(call.site)
        for call in calls_at(facts, getting):
            if call.argument(0) >= 0 <= call.result:
                self.class_calls[call.site] = call
                made = (call.method, call.offset, call.site)
                constraints.put(call.result, constraints.object(heap.CLASS_OF, self._class, *made))
        return np.array(cut, np.int32)

    def on_methods(self, methods: Int32, firsts: Int32) -> None:
        """Applies the body models to methods that were reached."""
        program = self._constraints.program
        for method, first in zip(methods.tolist(), firsts.tolist(), strict=True):
            flags = program.flags_of_method(method)
            if method not in self._bodies and not flags & (NATIVE | UNREADABLE):
                continue
            parameters = len(program.parameter_types(method)) + (not flags & ACC_STATIC)
            body = Body(method, first, parameters)
            if flags & NATIVE:
                self._throw_declared(body)
            if method in self._bodies:
                self._bodies[method].means(self._constraints, body)
            elif flags & UNREADABLE:
                self._return_anything(body)
            else:
                self._return_something(body)

    def _throw_declared(self, body: Body) -> None:
        """A native method throws the exceptions that it declares."""
        program = self._constraints.program
        for type_ in program.exceptions_of(body.method):
            self._constraints.put(body.returned + 1, self._constraints.throwable(type_))

    def _return_anything(self, body: Body) -> None:
        """A method whose body can't be read returns and throws any object that its declaration lets it."""
        constraints, program = self._constraints, self._constraints.program
        descriptor = program.name_of_method(body.method)[2].rpartition(")")[2]
        returned, thrown = class_of_descriptor(program, descriptor), program.type_named(THROWABLE)
        for type_, pointer in ((returned, body.returned), (thrown, body.returned + 1)):
            if type_ >= 0:
                constraints.add(schema.Assign, body.method, 0, self._unknown.pointer(type_), pointer)

    def _return_something(self, body: Body) -> None:
        """A native method returns a new object of its return type, if that is a class that has instances.

        It puts such objects into the arrays that it is given, too.
        """
        program = self._constraints.program
        descriptor = program.name_of_method(body.method)[2].rpartition(")")[2]
        self._make(body.method, descriptor, body.returned)
        types = program.parameter_types(body.method)
        for pointer, type_ in enumerate(types, body.first + body.parameters - len(types)):
            described = program.name_of_type(type_) if type_ >= 0 else ""
            if described.startswith(("[L", "[[")):
                elements = self._constraints.fresh()
                self._make(body.method, described[1:], elements)
                self._constraints.add(schema.ArrayStore, body.method, NONE, elements, NONE, pointer)

    def _make(self, method: int, descriptor: str, pointer: int) -> None:
        """Puts a new object that a native method makes to a pointer.

        If it is an array, it has an element; in its fields are texts, classes and members, of which nothing is known.
        """
        constraints = self._constraints
        program = constraints.program
        type_ = class_of_descriptor(program, descriptor)
        if type_ < 0 or descriptor == f"L{OBJECT};":
            return
        if descriptor[0] == "L" and program.flags_of_type(type_) & (ABSTRACT | INTERFACE):
            return
        kind = heap.UNKNOWN if type_ in self._metatypes else heap.NATIVE
        constraints.put(pointer, constraints.object(kind, type_, method))
        if descriptor.startswith(("[L", "[[")):
            elements = constraints.fresh()
            self._make(method, descriptor[1:], elements)
            constraints.add(schema.ArrayStore, method, NONE, elements, NONE, pointer)
        elif kind == heap.NATIVE:
            for field in program.fields_of(type_):
                described = program.name_of_field(field)[2]
                if class_of_descriptor(program, described) in self._set_by_natives:
                    held = constraints.fresh()
                    self._make(method, described, held)
                    constraints.add(schema.Store, method, NONE, held, field, pointer)

    def is_modelled(self, method: int) -> bool:
        """Returns whether a model says what a method does, or what its calls do."""
        return method in self._bodies or method in self._sites

    def supplies(self, method: int) -> bool:
        """Returns whether models say all that a call of a method does."""
        return (method in self._sites and self._sites[method].cuts) or method == self._get_class

    def on_site(self, model: SiteModel) -> None:
        """Adds a model for the calls of a method."""
        for method in self._named(model.owner, model.name, model.descriptor):
            self._sites[method] = model

    def on_body(self, method: int, model: BodyModel) -> None:
        """Adds a model for a method that was not reached yet."""
        self._bodies[method] = model

    def on_field(self, field: int, pointer: int) -> None:
        """Puts in what a static field holds from the start: a constant, or for `Integer.TYPE` and the like a class object."""
        constraints = self._constraints
        declaring, name, _ = constraints.program.name_of_field(field)
        text = constraints.program.constant_of_field(field)
        if text >= 0:
            if constraints.confined.is_of_jdk(declaring):
                constraints.put(pointer, constraints.generic(constraints.program.type_named(STRING)))
            else:
                constraints.add(schema.StringConstant, NONE, NONE, text, pointer)
        letter = WRAPPERS.get(constraints.program.name_of_type(declaring).removeprefix("java/lang/"))
        if name == "TYPE" and letter:
            type_ = constraints.program.type_named(CLASS)
            constraints.put(pointer, constraints.object(heap.CLASS_OBJECT, type_, payload=-ord(letter)))


def keep_argument(constraints: Constraints, call: SiteCall, position: int, pool: str) -> None:
    """Puts an argument of a call among what is kept under a name."""
    if call.argument(position) >= 0:
        source, kept = call.argument(position), constraints.pool(pool)
        constraints.add(schema.Assign, call.method, call.offset, source, kept)


def calls_at(facts: Facts, rows: NDArray[np.integer[Any]]) -> list[SiteCall]:
    """Returns the calls at `rows` of `Invoke`, with their arguments."""
    invoke = facts[schema.Invoke]
    arguments = facts.get(schema.Argument) or schema.empty(schema.Argument)
    starts = np.searchsorted(arguments.site, invoke.site[rows])
    ends = np.searchsorted(arguments.site, invoke.site[rows], side="right")
    found = []
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        positions, variables = arguments.position[start:end].tolist(), arguments.variable[start:end].tolist()
        found.append(
            SiteCall(
                int(invoke.site[row]),
                int(invoke.method[row]),
                int(invoke.offset[row]),
                dict(zip(positions, variables, strict=True)),
                int(invoke.result[row]),
                int(invoke.thrown[row]),
            )
        )
    return found
