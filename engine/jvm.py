"""What a JVM and its library do besides calls, as one table: what is modelled, where, and what shows it.

The models themselves are rows of `engine.models` and `engine.reflection.api`, rules, and the calls of
`engine.machine`; call sites of bootstrap methods and dynamic proxies become methods in the loader.
"""

from __future__ import annotations

from typing import NamedTuple


class Model(NamedTuple):
    """`effect` is what follows for the analysis, `source` where it is specified, `fixtures` what shows it."""

    name: str
    effect: str
    source: str
    fixtures: str


MODELS: tuple[Model, ...] = (
    Model(
        "start of the JVM",
        "the phases of System, the launcher, the main thread; the main class and those above it are initialised",
        "JLS 12.1; JVMS 5.2",
        "MainInitialiser InheritedMain ReflectiveMain InstanceMain",
    ),
    Model(
        "class initialisation",
        "superclasses first, interfaces with default methods, constants not; by reflection and by handles",
        "JLS 12.4; JVMS 5.5",
        "InitChain InitCycle InitEnum InitHandles InitInterface InitInterfaceField InitNew InitNotTriggered InitReflective "
        "InitStaticCall InitStaticField InitialiserThrows",
    ),
    Model(
        "constants of static fields",
        "are in the fields from the start, where reflection, handles and var handles read them",
        "JVMS 4.7.2",
        "ConstantFields",
    ),
    Model(
        "exceptions of the JVM",
        "any handler may catch what instructions, loading and linking throw: null pointers, casts, indices, errors",
        "JVMS 2.10, 5, 6.5",
        "JvmThrows InitialiserThrows",
    ),
    Model(
        "class loading",
        "the JVM asks class loaders for classes; what a loader of the program finds may be any class it asked for; any class "
        "may have any loader",
        "JVMS 5.3",
        "LoadClass LoaderModule OwnLoader",
    ),
    Model(
        "threads",
        "start runs run; what a thread throws goes to its handlers",
        "JLS 11.3, 17.1",
        "ThreadRunnable ThreadSubclass ThreadFactories ThreadInheritance UncaughtHandlers VirtualThreads",
    ),
    Model(
        "end of the JVM",
        "shutdown hooks run",
        "JLS 12.8",
        "ShutdownHooks",
    ),
    Model(
        "finalizers and references",
        "objects that override finalize are finalized; references may become pending; cleaners run",
        "JLS 12.6; java.lang.ref",
        "Finalizers FinalizersReflective Cleaners ReferenceQueues",
    ),
    Model(
        "stack walks",
        "frames reach the function that is given",
        "java.lang.StackWalker",
        "StackWalks ThrowableText",
    ),
    Model(
        "privileged actions, array copies, clone",
        "the action runs; elements are copied; a clone shares its object",
        "java.security.AccessController, java.lang.System, java.lang.Object",
        "Privileged ArrayCopy ArrayClone CloneOverride",
    ),
    Model(
        "lambdas, method references, string concatenation",
        "the class that the JVM makes calls the body; toString of the operands runs",
        "JLS 15.27, 15.13, 15.18.1; java.lang.invoke",
        "LambdaPlain LambdaCapture LambdaSerializable LambdaReplaced ReferenceBound ReferenceConstructor ReferenceVarargs StringConcat",
    ),
    Model(
        "records and switches over patterns",
        "the methods of records call those of their components",
        "JLS 8.10.3, 14.11.1; java.lang.runtime",
        "Records RecordsNested PatternSwitch PatternSwitchEnum",
    ),
    Model(
        "bootstrap methods of the program",
        "invokedynamic and dynamic constants call them, and the target of the call site that they return; if more than 64 "
        "entries of class files name one, as in a dynamic language, its call sites share their arguments",
        "JVMS 4.4.10, 4.7.23, 5.4.3.6",
        "DynamicCall DynamicCallByName DynamicConstant DynamicConstantLibrary CallSites InlineCache",
    ),
    Model(
        "method handles",
        "found by name and type, unreflected or constant; a call of one does what its member does",
        "JVMS 2.9.3, 4.4.8, 5.4.3.5; java.lang.invoke",
        "HandleStatic HandleVirtual HandleSpecial HandleConstructor HandleFields HandleUnreflect HandleInherited HandleTypes "
        "HandleConversions HandleKeepsTypes HandleArguments HandleVarargs HandleBind HandleTravels HandleConstants MethodTypeConstant",
    ),
    Model(
        "handles made of others",
        "each may be called, with whatever was passed, bound or returned on the way",
        "java.lang.invoke.MethodHandles",
        "HandleDropInsert HandleFilters HandleFold HandleGuard HandleCatch HandleLoops HandleConstantIdentity "
        "HandleProxies SwitchPoints CallSites DynamicInvokers",
    ),
    Model(
        "var handles, Unsafe, atomic fields",
        "accesses of the fields that they were made for, or whose offset was asked for",
        "java.lang.invoke.VarHandle, java.util.concurrent.atomic, sun.misc.Unsafe",
        "VarHandleField VarHandleStatic VarHandleArray VarHandleViews VarHandleExchange VarHandleTravels "
        "VarHandleAsHandle FieldUpdater AtomicReferences AtomicArray "
        "UnsafeFields UnsafeArrays UnsafeAllocate ConcurrentMapEntries ConcurrentQueues Futures ForkJoinTasks",
    ),
    Model(
        "services",
        "providers of META-INF/services and of module declarations are made when their service is loaded",
        "java.util.ServiceLoader; JLS 7.7.4",
        "ServiceForEach ServiceStream ServiceFirst ServiceBroken ServiceNameTravels ServiceOfLibrary ServiceUnnamed",
    ),
    Model(
        "dynamic proxies",
        "methods of the interfaces call the handler with method object and arguments",
        "java.lang.reflect.Proxy",
        "ProxyCalls ProxyObjectMethods ProxyLambda ProxyDefault ProxyThrows ProxyInLibrary",
    ),
    Model(
        "annotations",
        "elements return the classes, texts and constants that annotations of their type hold anywhere; all annotations of an "
        "element are those that code outside the JDK has at run time",
        "JLS 9.6, 9.7; java.lang.reflect.AnnotatedElement",
        "AnnotationValues AnnotatedMembers AnnotatedTypes AnnotationInherited AnnotationsListed",
    ),
    Model(
        "beans",
        "descriptions of properties return the methods that are named for those of beans, of any that the program has described",
        "JavaBeans 1.01, 7 and 8; java.beans.Introspector",
        "BeanProperties BeanPropertiesOfOwn BeanPropertyTypes BeanAccessorsNamed",
    ),
    Model(
        "enums",
        "valueOf, EnumSet and EnumMap have the enum list its constants",
        "JLS 8.9",
        "EnumByName EnumCollections EnumBodies EnumSwitch",
    ),
    Model(
        "serialization",
        "hooks of serializable classes, constructors of those above; fields of what is read may hold whatever is read",
        "Java Object Serialization Specification 1.10-1.13, 2, 3",
        "SerializationHooks SerializationConstructors SerializationReplace SerializationFields SerializationExternal "
        "SerializationValidation SerializationRefused SerializationNoData SerializationRecords SerializationPutFields "
        "SerializationStreams SerializationLambda SerializationOneWay SerializationNewRecord SerializationOwnStreams",
    ),
    Model(
        "management beans",
        "methods of the interfaces for which an object is registered run, with whatever they take",
        "Java Management Extensions 1.4, 2.2 and MXBean",
        "ManagementBeans",
    ),
    Model(
        "resource bundles",
        "classes of the name and of its locales are made",
        "java.util.ResourceBundle",
        "BundleClasses BundleProperties",
    ),
    Model(
        "native methods",
        "return a new object of their type, an array with an element, put such objects into arrays that they are given, throw what they "
        "declare, and do nothing else, unless one of the above is about them, or they make addresses or management beans, which their constructors do",
        "JLS 8.4.3.4",
        "NativeMethod ClassesOfDeclarations JvmThrows",
    ),
)


def model_table() -> str:
    """Returns the table for the documentation, in Markdown."""
    lines = ["| model | what follows | specification | fixtures |", "| --- | --- | --- | --- |"]
    for each in MODELS:
        fixtures = ", ".join(f"`{name}`" for name in each.fixtures.split())
        lines.append(f"| {each.name} | {each.effect} | {each.source} | {fixtures} |")
    return "\n".join(lines)
