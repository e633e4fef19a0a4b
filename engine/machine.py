"""What the JVM does by itself: it starts, calls methods of the JDK when something happens, and ends.

The calls are those of HotSpot (`vmSymbols.hpp` names the methods, `Threads::create_vm` their order at the start);
methods that a version of the JDK doesn't have are left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from cypher import schema
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL
from engine import heap
from engine.constraints import CLASS, FINALIZABLE, OBJECT, RUNNING_THREADS, STRING, THROWABLE, Constraints
from engine.jni import store_texts
from engine.models import (
    LOADER,
    LOADERS,
    SPECIES,
    THREAD,
    UNCAUGHT,
    VAR_FORM,
    VAR_FORMS,
    VAR_HANDLE,
    VAR_HANDLES,
)
from engine.sites import ENTRY_POINT
from engine.thrown import JVM_THROWABLES

GROUP, SYSTEM = "java/lang/ThreadGroup", "java/lang/System"
# HotSpot initialises these by itself, before and after System.initPhase1 (`Threads::create_vm`).
INITIALISED = (
    STRING, SYSTEM, CLASS, GROUP, THREAD, "java/lang/Module", "java/lang/reflect/Method",
    "java/lang/ref/Finalizer", "java/lang/ref/Reference", "java/lang/StackTraceElement",
)  # fmt: skip
# JDK 9 and later run three phases, JDK 8 and earlier one.
SYSTEM_PHASES = (
    ("initPhase1", "()V"), ("initPhase2", "(ZZ)I"), ("initPhase3", "()V"), ("initializeSystemClass", "()V"),
)  # fmt: skip
LAUNCHER = "sun/launcher/LauncherHelper"
LINKER = "java/lang/invoke/MethodHandleNatives"
# How the JVM links: method types and handles of the constant pool, then what an instruction calls, by way of a
# bootstrap method (JVMS 5.4.3.5, 5.4.3.6).
LINKING = {
    LINKER: (
        "findMethodHandleType",
        "linkMethodHandleConstant",
        "linkMethod",
        "linkCallSite",
        "linkDynamicConstant",
        "classData",
    ),
    "java/lang/invoke/LambdaMetafactory": ("metafactory", "altMetafactory"),
    "java/lang/invoke/StringConcatFactory": ("makeConcat", "makeConcatWithConstants"),
    "java/lang/runtime/ObjectMethods": ("bootstrap",),
    "java/lang/runtime/SwitchBootstraps": ("typeSwitch", "enumSwitch"),
    # What the code that is generated for handles calls.
    "java/lang/invoke/DirectMethodHandle": (
        *("checkBase", "checkCast", "constructorMethod", "ensureInitialized", "fieldOffset"),
        *("internalMemberName", "internalMemberNameEnsureInit", "nullCheck", "staticBase", "staticOffset"),
    ),
    "java/lang/invoke/Invokers": (
        *("checkCustomized", "checkExactType", "checkGenericType", "checkVarHandleGenericType"),
        *("directVarHandleTarget", "getCallSiteTarget", "maybeCustomize"),
    ),
    "java/lang/StringConcatHelper": (
        *("initialCoder", "mix", "newArray", "newArrayWithSuffix", "newString", "prepend", "simpleConcat"),
        "stringOf",
    ),
}

# What of the JDK calls bootstrap methods, in JDK 8 and since.
BOOTSTRAPPING = ("java/lang/invoke/CallSite", "java/lang/invoke/BootstrapMethodInvoker")

# What linking makes: method types, handles, what they are made of.
LINKED = "what linking makes"


def start_machine(constraints: Constraints) -> None:
    """Adds what the JVM does before `main`, beside it and after it."""
    program = constraints.program
    constraints.initialise((t for t in map(program.type_named, INITIALISED) if t >= 0), NONE, NONE)
    name = entry_object(constraints, STRING)
    _start_threads(constraints, name)
    for phase, descriptor in SYSTEM_PHASES:
        call_named(constraints, SYSTEM, phase, [], descriptor)
    call_named(constraints, LAUNCHER, "checkAndLoadMain", [(2, name)])
    call_named(constraints, LAUNCHER, "getApplicationClass", [])
    call_named(constraints, LAUNCHER, "makePlatformString", [(1, entry_object(constraints, "[B"))])
    _load_classes(constraints, name)
    _link(constraints, name)
    call_named(constraints, "java/lang/ref/Finalizer", "register", [(0, constraints.pool(FINALIZABLE))])
    call_named(constraints, "jdk/internal/misc/Signal", "dispatch", [])
    call_named(constraints, "java/lang/Shutdown", "shutdown", [])


def entry_object(constraints: Constraints, name: str) -> int:
    """Returns a fresh pointer to a new object that the JVM made."""
    pointer = constraints.fresh()
    type_ = constraints.program.type_named(name)
    if type_ >= 0:
        constraints.put(pointer, constraints.object(heap.ENTRY, type_))
    return pointer


def call_named(
    constraints: Constraints,
    owner: str,
    name: str,
    arguments: Iterable[tuple[int, int]],
    descriptor: str = "",
    receiver: int = NONE,
    result: int = NONE,
) -> None:
    """Has the JVM call the methods of this name (any descriptor, if it is empty); static ones have no receiver."""
    program = constraints.program
    type_ = program.type_named(owner)
    for method in program.methods_of(type_) if type_ >= 0 else ():
        _, found, of_type = program.name_of_method(method)
        if found == name and descriptor in ("", of_type):
            kind = STATIC if receiver < 0 else SPECIAL
            constraints.call(NONE, kind, method, receiver, arguments, result, origin=ENTRY_POINT)


def _start_threads(constraints: Constraints, name: int) -> None:
    """Makes the main thread and its groups; ends threads, and hands over what they don't catch (JLS 11.3)."""
    thread, group = entry_object(constraints, THREAD), entry_object(constraints, GROUP)
    running, uncaught = constraints.pool(RUNNING_THREADS), constraints.pool(UNCAUGHT)
    constraints.add(schema.Assign, NONE, NONE, thread, running)
    call_named(constraints, GROUP, "<init>", [], "()V", group)
    call_named(constraints, GROUP, "<init>", [(1, group), (2, name)], f"(L{GROUP};L{STRING};)V", group)
    call_named(constraints, THREAD, "<init>", [(1, group), (2, name)], f"(L{GROUP};L{STRING};)V", thread)
    call_named(constraints, THREAD, "exit", [], "()V", running)
    thrown = constraints.pool(JVM_THROWABLES)
    store_texts(constraints, constraints.program.type_named(THROWABLE), thrown)
    constraints.add(schema.Assign, NONE, NONE, thrown, uncaught)
    call_named(constraints, THREAD, "dispatchUncaughtException", [(1, uncaught)], receiver=running)


def _load_classes(constraints: Constraints, name: int) -> None:
    """Asks class loaders for the classes that constant pools name (JVMS 5.3.2), and whether these may be accessed."""
    program = constraints.program
    loaders, classes = constraints.pool(LOADERS), constraints.fresh()
    type_ = program.type_named(LOADER)
    load = program.method_of(type_, "loadClass", f"(L{STRING};)L{CLASS};") if type_ >= 0 else NONE
    if load >= 0:
        signature = program.signature_of(load)
        constraints.call(NONE, VIRTUAL, signature, loaders, [(1, name)], classes, origin=ENTRY_POINT)
        call_named(constraints, LOADER, "checkPackageAccess", [(1, classes)], receiver=loaders)
        call_named(constraints, LOADER, "addClass", [(1, classes)], receiver=loaders)
        call_named(constraints, LOADER, "findNative", [(0, loaders), (1, name)])


def _link(constraints: Constraints, text: int) -> None:
    """Makes the method types and handles of constant pools, and links `invokedynamic` and dynamic constants with them."""
    program = constraints.program
    classes, anything = constraints.fresh(), constraints.pool(LINKED)
    constraints.put(classes, constraints.generic(program.type_named(CLASS)))
    class_array, array = entry_object(constraints, f"[L{CLASS};"), entry_object(constraints, f"[L{OBJECT};")
    constraints.add(schema.ArrayStore, NONE, NONE, classes, NONE, class_array)
    for each in (text, classes, array):
        constraints.add(schema.Assign, NONE, NONE, each, anything)
    constraints.add(schema.ArrayStore, NONE, NONE, anything, NONE, array)
    lookup = entry_object(constraints, "java/lang/invoke/MethodHandles$Lookup")
    given = {
        CLASS: classes,
        STRING: text,
        OBJECT: anything,
        f"[L{CLASS};": class_array,
        f"[L{OBJECT};": array,
    }
    given |= {"java/lang/invoke/MethodHandles$Lookup": lookup}
    given |= dict.fromkeys(("java/lang/invoke/MethodType", "java/lang/invoke/MethodHandle"), anything)
    linking = {program.type_named(owner): names for owner, names in LINKING.items()}
    # Likewise the classes of handles that are bound to values.
    linking |= dict.fromkeys(program.types_like(SPECIES), ("make",))
    for type_, names in linking.items():
        for method in program.methods_of(type_) if type_ >= 0 else ():
            if program.name_of_method(method)[1] in names:
                arguments = [
                    (position, given[program.name_of_type(parameter)])
                    for position, parameter in enumerate(program.parameter_types(method))
                    if parameter >= 0 and program.name_of_type(parameter) in given
                ]
                constraints.call(NONE, STATIC, method, NONE, arguments, anything, origin=ENTRY_POINT)
    call_named(constraints, VAR_FORM, "getMemberName", [], receiver=constraints.pool(VAR_FORMS))
    for name in ("checkExactAccessMode", "isDirect"):
        call_named(constraints, VAR_HANDLE, name, [], receiver=constraints.pool(VAR_HANDLES))
