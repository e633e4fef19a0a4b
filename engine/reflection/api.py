"""The reflective API as a table: which methods play which role, and where their operands stand.

Sources: the API specification of java.lang.Class, java.lang.reflect and java.lang.invoke; for `Unsafe`, its source.
"""

from __future__ import annotations

from typing import NamedTuple

CLASS, METHOD, CONSTRUCTOR, FIELD, ARRAY = (
    "java/lang/Class",
    "java/lang/reflect/Method",
    "java/lang/reflect/Constructor",
    "java/lang/reflect/Field",
    "java/lang/reflect/Array",
)
TYPE, GENERIC_TYPES = "java/lang/reflect/Type", "sun/reflect/generics/reflectiveObjects/"
EXECUTABLE, MEMBER, COMPONENT, PARAMETER = (
    "java/lang/reflect/Executable",
    "java/lang/reflect/Member",
    "java/lang/reflect/RecordComponent",
    "java/lang/reflect/Parameter",
)
HANDLE, VAR_HANDLE, METHOD_TYPE_CLASS, HANDLES, LOOKUP = (
    "java/lang/invoke/MethodHandle",
    "java/lang/invoke/VarHandle",
    "java/lang/invoke/MethodType",
    "java/lang/invoke/MethodHandles",
    "java/lang/invoke/MethodHandles$Lookup",
)
ANNOTATION_CLASS = "java/lang/annotation/Annotation"
# Beans: what describes them, and finds the descriptions.
PROPERTY, INDEXED_PROPERTY, BEAN_METHOD, INTROSPECTOR = (
    "java/beans/PropertyDescriptor",
    "java/beans/IndexedPropertyDescriptor",
    "java/beans/MethodDescriptor",
    "java/beans/Introspector",
)
DESCRIPTORS = (PROPERTY, INDEXED_PROPERTY, BEAN_METHOD)
# Calls of these fail if the class that makes them may not use the member (`AccessibleObject`).
CHECKING = (CLASS, METHOD, CONSTRUCTOR, FIELD)
UPDATER = "java/util/concurrent/atomic/AtomicReferenceFieldUpdater"
# Where handles, method types and var handles come from.
LINKING = (HANDLE, HANDLES, LOOKUP, METHOD_TYPE_CLASS)
UNSAFES = ("jdk/internal/misc/Unsafe", "sun/misc/Unsafe")

# Reference kinds of method handles (JVMS 4.4.8).
GET_FIELD, GET_STATIC, PUT_FIELD, PUT_STATIC, CALL_VIRTUAL, CALL_STATIC, CALL_SPECIAL, NEW, CALL_INTERFACE = (
    range(1, 10)
)
# Roles.
FOR_NAME, GET_MEMBER, LIST_MEMBERS, CLASS_NEW, CONSTRUCTOR_NEW, INVOKE, FIELD_GET, FIELD_SET = (
    "class-by-name", "member", "members", "class-new-instance", "constructor-new-instance", "invoke", "field-get",
    "field-set",
)  # fmt: skip
RELATED, ARRAY_NEW, NAME_OF = "related-class", "array-new-instance", "name-of"
SERVICE, ANNOTATION, PROXY, ENUM_CONSTANTS, RESOURCE_BUNDLE, ALLOCATE = (
    "service", "annotation", "proxy", "enum-constants", "resource-bundle", "allocate",
)  # fmt: skip
INITIALISE, BEAN = "initialise", "bean"
OFFSET, MEMORY, METHOD_TYPE, FIND_HANDLE, UNREFLECT, MAKE_HANDLE, SAME_HANDLE, CALL_HANDLE, ARRAY_VAR_HANDLE = (
    "field-offset", "memory-access", "method-type", "find-handle", "unreflect", "make-handle", "same-handle",
    "call-handle", "array-var-handle",
)  # fmt: skip
# Roles of calls that find a member of a class by its name.
FINDING = (GET_MEMBER, FIND_HANDLE)


class Api(NamedTuple):
    """A method of the reflective API; all of its name, if `descriptor` is empty.

    Operands are argument positions (the receiver of an instance method is 0), -1 where there is none:
    `subject` is the class, method or field object that it works on, `name` the string, `classes` the array of
    parameter classes, `target` the object on which it acts, `arguments` the array of arguments or the value.
    `initialises` says whether it initialises the class it finds, `always` whether it counts in every mode, `cut`
    whether only the rules say what it returns (an object of class `returns` if that isn't empty), `kind` which
    kind of method handle it returns.
    """

    owner: str
    name: str
    descriptor: str
    role: str
    subject: int = -1
    named: int = -1
    classes: int = -1
    target: int = -1
    arguments: int = -1
    sort: str = ""
    declared: bool = False
    initialises: bool = False
    always: bool = False
    cut: bool = True
    returns: str = ""
    kind: int = 0

    @property
    def typed(self) -> int:
        """The position of the method type that a lookup of a method handle takes, -1 if it takes none."""
        if self.role != FIND_HANDLE or self.kind <= PUT_STATIC:
            return -1
        return 2 if self.kind == NEW else 3

    @property
    def kinds(self) -> tuple[int, ...]:
        """The reference kinds of what a member is turned into; 0 is that by which a method is called, -1 a var handle."""
        if self.owner == VAR_HANDLE:
            return GET_FIELD, PUT_FIELD
        return (self.kind if self.sort == "handle" else -1,)

    @property
    def takes_lengths(self) -> bool:
        """Whether it makes an array of arrays, of the lengths in an array."""
        return self.role == ARRAY_NEW and "[I" in self.descriptor

    @property
    def lists(self) -> bool:
        """Whether it returns an array of what it finds."""
        return self.role in (LIST_MEMBERS, RELATED) and ")[" in self.descriptor


_STRING, _CLASSES, _OBJECT = "Ljava/lang/String;", "[Ljava/lang/Class;", "Ljava/lang/Object;"
_METHOD = f"L{METHOD};"
_HANDLE, _TYPE, _CLASS, _ANNOTATION = (
    f"L{HANDLE};",
    f"L{METHOD_TYPE_CLASS};",
    f"L{CLASS};",
    f"L{ANNOTATION_CLASS};",
)
_PRIMITIVES = {
    "Boolean": "Z", "Byte": "B", "Char": "C", "Short": "S", "Int": "I", "Long": "J", "Float": "F", "Double": "D",
}  # fmt: skip
# What declares methods that return annotations; what else implements these interfaces may return what it likes.
_ANNOTATED = "java/lang/reflect/AnnotatedElement", "java/lang/reflect/AnnotatedType"
_EXECUTABLES = METHOD, CONSTRUCTOR, EXECUTABLE
_ELEMENTS = (
    *_EXECUTABLES, CLASS, FIELD, COMPONENT, *_ANNOTATED, "java/lang/reflect/AccessibleObject",
    PARAMETER, "java/lang/Package", "java/lang/Module",
)  # fmt: skip

API: tuple[Api, ...] = (
    Api(CLASS, "forName", f"({_STRING})L{CLASS};", FOR_NAME, named=0, initialises=True),
    Api(CLASS, "forName", f"({_STRING}ZLjava/lang/ClassLoader;)L{CLASS};", FOR_NAME, named=0, initialises=True),
    Api(CLASS, "forName", f"(Ljava/lang/Module;{_STRING})L{CLASS};", FOR_NAME, named=1),
    Api("java/lang/ClassLoader", "loadClass", f"({_STRING})L{CLASS};", FOR_NAME, named=1),
    *(
        Api(CLASS, f"get{infix}Method", f"({_STRING}{_CLASSES})L{METHOD};", GET_MEMBER, 0, 1, 2,
            sort="method", declared=bool(infix))
        for infix in ("", "Declared")
    ),
    *(
        Api(CLASS, f"get{infix}Constructor", f"({_CLASSES})L{CONSTRUCTOR};", GET_MEMBER, 0, -1, 1,
            sort="constructor", declared=bool(infix))
        for infix in ("", "Declared")
    ),
    *(
        Api(CLASS, f"get{infix}Field", f"({_STRING})L{FIELD};", GET_MEMBER, 0, 1,
            sort="field", declared=bool(infix))
        for infix in ("", "Declared")
    ),
    *(
        Api(CLASS, f"get{infix}{sort.capitalize()}s", f"()[L{owner};", LIST_MEMBERS, 0, sort=sort,
            declared=bool(infix), returns=owner)
        for sort, owner in (("method", METHOD), ("constructor", CONSTRUCTOR), ("field", FIELD))
        for infix in ("", "Declared")
    ),
    # (a component of a record stands for its accessor)
    Api(CLASS, "getRecordComponents", f"()[L{COMPONENT};", LIST_MEMBERS, 0, sort="accessor", declared=True,
        returns=COMPONENT),
    Api(COMPONENT, "getAccessor", f"()L{METHOD};", RELATED, 0, sort="executable", returns=METHOD),
    # (parameters stand for the method or constructor that has them)
    Api(EXECUTABLE, "getParameters", f"()[L{PARAMETER};", RELATED, 0, sort="executable", returns=PARAMETER),
    Api(PARAMETER, "getDeclaringExecutable", f"()L{EXECUTABLE};", RELATED, 0, sort="executable", returns=EXECUTABLE),
    *(
        Api(owner, name, f"()L{CLASS};", RELATED, 0, sort=sort)
        for owner, name, sort in (
            (CLASS, "getSuperclass", "superclass"), (CLASS, "getComponentType", "component"),
            (CLASS, "componentType", "component"), (CLASS, "arrayType", "array"), (CLASS, "getNestHost", "host"),
            (CLASS, "getEnclosingClass", "enclosing"), (CLASS, "getDeclaringClass", "declaring"),
            *((owner, "getDeclaringClass", "declaring") for owner in (METHOD, CONSTRUCTOR, FIELD, EXECUTABLE, MEMBER)),
            (METHOD, "getReturnType", "type"), (FIELD, "getType", "type"), (COMPONENT, "getType", "type"),
            (PARAMETER, "getType", "parameters"),
            (COMPONENT, "getDeclaringRecord", "declaring"),
        )
    ),
    *(
        Api(owner, name, f"()[L{CLASS};", RELATED, 0, sort=sort, returns=CLASS)
        for owner, name, sort in (
            (CLASS, "getInterfaces", "interfaces"), (CLASS, "getDeclaredClasses", "members"),
            (CLASS, "getClasses", "public members"), (CLASS, "getNestMembers", "mates"),
            (CLASS, "getPermittedSubclasses", "permitted"),
            *((owner, "getParameterTypes", "parameters") for owner in (METHOD, CONSTRUCTOR, EXECUTABLE)),
            *((owner, "getExceptionTypes", "exceptions") for owner in (METHOD, CONSTRUCTOR, EXECUTABLE)),
        )
    ),
    *(
        Api(owner, name, f"(){array}L{TYPE};", RELATED, 0, sort=sort, returns=TYPE)
        for owner, name, array, sort in (
            (CLASS, "getGenericSuperclass", "", "generic superclass"),
            (CLASS, "getGenericInterfaces", "[", "generic interfaces"),
            (METHOD, "getGenericReturnType", "", "generic type"), (FIELD, "getGenericType", "", "generic type"),
            (COMPONENT, "getGenericType", "", "generic type"),
            (PARAMETER, "getParameterizedType", "", "generic parameters"),
            *((owner, "getGenericParameterTypes", "[", "generic parameters")
              for owner in (METHOD, CONSTRUCTOR, EXECUTABLE)),
            ("java/lang/reflect/ParameterizedType", "getActualTypeArguments", "[", "arguments"),
            ("java/lang/reflect/ParameterizedType", "getRawType", "", "raw"),
            ("java/lang/reflect/ParameterizedType", "getOwnerType", "", "owner"),
            ("java/lang/reflect/WildcardType", "getUpperBounds", "[", "upper"),
            ("java/lang/reflect/WildcardType", "getLowerBounds", "[", "lower"),
            ("java/lang/reflect/GenericArrayType", "getGenericComponentType", "", "generic component"),
        )
    ),
    *(
        Api(owner, name, f"(){_STRING}", NAME_OF, 0, sort=sort)
        for owner, name, sort in (
            *((owner, "getTypeName", "type name") for owner in (CLASS, TYPE)),
            *((owner, "getName", "name")
              for owner in (CLASS, METHOD, CONSTRUCTOR, FIELD, EXECUTABLE, MEMBER, COMPONENT)),
        )
    ),
    # Beans: a class has the properties that its methods are named for. A descriptor stands for those of all beans.
    *(
        Api(owner, name, f"(){_METHOD}", LIST_MEMBERS, 0, sort=sort, returns=METHOD)
        for owner, name, sort in (
            (PROPERTY, "getReadMethod", "getter"), (PROPERTY, "getWriteMethod", "setter"),
            (INDEXED_PROPERTY, "getIndexedReadMethod", "indexed getter"),
            (INDEXED_PROPERTY, "getIndexedWriteMethod", "indexed setter"), (BEAN_METHOD, "getMethod", "method"),
        )
    ),
    *(
        Api(owner, name, f"(){_CLASS}", RELATED, 0, sort=sort)
        for owner, name, sort in (
            (PROPERTY, "getPropertyType", "property"), (INDEXED_PROPERTY, "getIndexedPropertyType", "indexed property"),
        )
    ),
    *(
        Api(INTROSPECTOR, "getBeanInfo", f"({_CLASS}{others})Ljava/beans/BeanInfo;", BEAN, 0, cut=False)
        for others in ("", "I", _CLASS, f"{_CLASS}I")
    ),
    *(
        Api(owner, "<init>", f"({_STRING}{_CLASS}{others})V", BEAN, 2, cut=False)
        for owner, others in ((PROPERTY, ""), (INDEXED_PROPERTY, ""), (PROPERTY, 2 * _STRING), (INDEXED_PROPERTY, 4 * _STRING))
    ),
    *(
        Api(owner, name, descriptor, BEAN, cut=False)
        for owner, name, descriptor in (
            (PROPERTY, "<init>", f"({_STRING}{2 * _METHOD})V"),
            (PROPERTY, "setReadMethod", f"({_METHOD})V"), (PROPERTY, "setWriteMethod", f"({_METHOD})V"),
            (INDEXED_PROPERTY, "<init>", f"({_STRING}{4 * _METHOD})V"),
            (INDEXED_PROPERTY, "setIndexedReadMethod", f"({_METHOD})V"),
            (INDEXED_PROPERTY, "setIndexedWriteMethod", f"({_METHOD})V"), (BEAN_METHOD, "<init>", f"({_METHOD})V"),
        )
    ),
    Api(ARRAY, "newInstance", f"(L{CLASS};I){_OBJECT}", ARRAY_NEW, 0),
    Api(ARRAY, "newInstance", f"(L{CLASS};[I){_OBJECT}", ARRAY_NEW, 0),
    Api(CLASS, "newInstance", f"(){_OBJECT}", CLASS_NEW, 0),
    Api(CONSTRUCTOR, "newInstance", f"([{_OBJECT}){_OBJECT}", CONSTRUCTOR_NEW, 0, arguments=1),
    Api(METHOD, "invoke", f"({_OBJECT}[{_OBJECT}){_OBJECT}", INVOKE, 0, target=1, arguments=2),
    Api("java/lang/reflect/InvocationHandler", "invokeDefault", "", INVOKE, 1, target=0, arguments=2, sort="special"),
    Api(FIELD, "get", f"({_OBJECT}){_OBJECT}", FIELD_GET, 0, target=1),
    Api(FIELD, "set", f"({_OBJECT}{_OBJECT})V", FIELD_SET, 0, target=1, arguments=2),
    *(Api(FIELD, f"get{name}", f"({_OBJECT}){letter}", FIELD_GET, 0, target=1) for name, letter in _PRIMITIVES.items()),
    *(Api(FIELD, f"set{name}", f"({_OBJECT}{letter})V", FIELD_SET, 0, target=1) for name, letter in _PRIMITIVES.items()),
    # Fields without reflection: var handles, and offsets of fields.
    *(
        Api(LOOKUP, name, f"({_CLASS}{_STRING}{_CLASS})L{VAR_HANDLE};", GET_MEMBER, 1, 2, sort="field", declared=True,
            always=True, returns=VAR_HANDLE)
        for name in ("findVarHandle", "findStaticVarHandle")
    ),
    Api(LOOKUP, "unreflectVarHandle", f"(L{FIELD};)L{VAR_HANDLE};", UNREFLECT, 1, sort="field", returns=VAR_HANDLE),
    Api(HANDLES, "arrayElementVarHandle", f"({_CLASS})L{VAR_HANDLE};", ARRAY_VAR_HANDLE, always=True,
        returns=VAR_HANDLE),
    # (a view of bytes takes numbers from an array or buffer, which has no other elements)
    *(
        Api(HANDLES, f"{viewed}ViewVarHandle", f"({_CLASS}Ljava/nio/ByteOrder;)L{VAR_HANDLE};", ARRAY_VAR_HANDLE,
            always=True, returns=VAR_HANDLE)
        for viewed in ("byteArray", "byteBuffer")
    ),
    *(Api(VAR_HANDLE, f"get{how}", "", FIELD_GET, 0, target=1, always=True)
      for how in ("", "Volatile", "Acquire", "Opaque")),
    *(Api(VAR_HANDLE, name, "", FIELD_SET, 0, target=1, always=True)
      for name in ("set", "setVolatile", "setRelease", "setOpaque", "compareAndSet", "compareAndExchange",
                   "compareAndExchangeAcquire", "compareAndExchangeRelease", "weakCompareAndSet",
                   "weakCompareAndSetPlain", "weakCompareAndSetAcquire", "weakCompareAndSetRelease", "getAndSet",
                   "getAndSetAcquire", "getAndSetRelease")),
    Api(UPDATER, "newUpdater", f"({_CLASS}{_CLASS}{_STRING})L{UPDATER};", GET_MEMBER, 0, 2, sort="field",
        declared=True, always=True, cut=False),
    *(Api(owner, "objectFieldOffset", f"({_CLASS}{_STRING})J", GET_MEMBER, 1, 2, sort="field", declared=True,
          always=True, cut=False) for owner in UNSAFES),
    *(Api(owner, name, f"(L{FIELD};)J", OFFSET, 1, always=True, cut=False)
      for owner in UNSAFES for name in ("objectFieldOffset", "staticFieldOffset")),
    *(Api(owner, f"{how}{what}{order}", "", MEMORY, target=1, always=True)
      for owner in UNSAFES for what in ("Reference", "Object")
      for how, orders in (
          ("get", ("", "Volatile", "Acquire", "Opaque")), ("put", ("", "Volatile", "Release", "Opaque")),
          ("putOrdered", ("",)), ("compareAndSwap", ("",)), ("compareAndSet", ("",)),
          ("compareAndExchange", ("", "Acquire", "Release")), ("weakCompareAndSet", ("", "Plain", "Acquire", "Release")),
          ("getAndSet", ("", "Acquire", "Release")),
      ) for order in orders),
    # What the library finds by class or name.
    *(Api("java/util/ServiceLoader", name, descriptor, SERVICE, subject, always=True, cut=False)
      for name, descriptor, subject in (
          ("load", f"({_CLASS})Ljava/util/ServiceLoader;", 0),
          ("load", f"({_CLASS}Ljava/lang/ClassLoader;)Ljava/util/ServiceLoader;", 0),
          ("load", f"({_CLASS}Ljava/lang/ClassLoader;Ljava/lang/Module;)Ljava/util/ServiceLoader;", 0),
          ("load", f"(Ljava/lang/ModuleLayer;{_CLASS})Ljava/util/ServiceLoader;", 1),
          ("loadInstalled", f"({_CLASS})Ljava/util/ServiceLoader;", 0),
      )),
    *(Api(owner, name, descriptor, ANNOTATION, subject, always=True, cut=owner not in _ANNOTATED)
      for owners, names, descriptor, subject in (
          (_ELEMENTS, ("getAnnotation", "getDeclaredAnnotation"), f"({_CLASS}){_ANNOTATION}", 1),
          (_ELEMENTS, ("getAnnotationsByType", "getDeclaredAnnotationsByType"), f"({_CLASS})[{_ANNOTATION}", 1),
          (_ELEMENTS, ("getAnnotations", "getDeclaredAnnotations"), f"()[{_ANNOTATION}", -1),
          (_EXECUTABLES, ("getParameterAnnotations",), f"()[[{_ANNOTATION}", -1),
      ) for name in names for owner in owners),
    Api("java/lang/reflect/Proxy", "newProxyInstance", "", PROXY, classes=1, always=True, cut=False),
    Api(CLASS, "getEnumConstantsShared", "", ENUM_CONSTANTS, 0, always=True, cut=False),
    Api(CLASS, "getEnumConstants", "", ENUM_CONSTANTS, 0, always=True, cut=False),
    Api("java/util/ResourceBundle", "getBundle", "", RESOURCE_BUNDLE, named=0, always=True, cut=False),
    *(Api(owner, "allocateInstance", "", ALLOCATE, 1, always=True) for owner in UNSAFES),
    # Method handles.
    Api(METHOD_TYPE_CLASS, "methodType", f"({_CLASS}){_TYPE}", METHOD_TYPE),
    Api(METHOD_TYPE_CLASS, "methodType", f"({_CLASS}{_CLASS}){_TYPE}", METHOD_TYPE),
    Api(METHOD_TYPE_CLASS, "methodType", f"({_CLASS}{_CLASSES}){_TYPE}", METHOD_TYPE, classes=1),
    Api(METHOD_TYPE_CLASS, "methodType", f"({_CLASS}{_CLASS}{_CLASSES}){_TYPE}", METHOD_TYPE, classes=2),
    *(
        Api(LOOKUP, name, f"({_CLASS}{_STRING}{_CLASS if kind <= PUT_STATIC else _TYPE}{more}){_HANDLE}", FIND_HANDLE,
            1, 2, sort="handle", returns=HANDLE, kind=kind)
        for name, kind, more in (
            ("findGetter", GET_FIELD, ""), ("findStaticGetter", GET_STATIC, ""), ("findSetter", PUT_FIELD, ""),
            ("findStaticSetter", PUT_STATIC, ""), ("findVirtual", CALL_VIRTUAL, ""), ("findStatic", CALL_STATIC, ""),
            ("findSpecial", CALL_SPECIAL, _CLASS),
        )
    ),
    Api(LOOKUP, "bind", f"({_OBJECT}{_STRING}{_TYPE}){_HANDLE}", FIND_HANDLE, named=2, target=1, sort="handle",
        returns=HANDLE, kind=CALL_VIRTUAL),
    Api(LOOKUP, "findConstructor", f"({_CLASS}{_TYPE}){_HANDLE}", FIND_HANDLE, 1, sort="handle", returns=HANDLE,
        kind=NEW),
    *(Api(LOOKUP, name, f"({_CLASS}){_CLASS}", INITIALISE, 1, cut=False) for name in ("ensureInitialized",)),
    *(Api(owner, "ensureClassInitialized", f"({_CLASS})V", INITIALISE, 1, cut=False) for owner in UNSAFES),
    Api(LOOKUP, "findClass", f"({_STRING}){_CLASS}", FOR_NAME, named=1),
    *(
        Api(LOOKUP, name, descriptor, UNREFLECT, 1, sort="handle", returns=HANDLE, kind=kind)
        for name, descriptor, kind in (
            ("unreflect", f"(L{METHOD};){_HANDLE}", 0), ("unreflectConstructor", f"(L{CONSTRUCTOR};){_HANDLE}", NEW),
            ("unreflectSpecial", f"(L{METHOD};{_CLASS}){_HANDLE}", CALL_SPECIAL),
            ("unreflectGetter", f"(L{FIELD};){_HANDLE}", GET_FIELD),
            ("unreflectSetter", f"(L{FIELD};){_HANDLE}", PUT_FIELD),
        )
    ),
    # (a handle of any access mode may read and write)
    Api(VAR_HANDLE, "toMethodHandle", "", UNREFLECT, 0, sort="handle", returns=HANDLE, always=True, kind=GET_FIELD),
    *(Api(HANDLE, name, "", SAME_HANDLE, 0, always=True) for name in ("asType", "asFixedArity")),
    *(Api(HANDLE, name, "", MAKE_HANDLE, returns=HANDLE, always=True)
      for name in ("bindTo", "asSpreader", "asCollector", "asVarargsCollector", "withVarargs")),
    *(Api(HANDLES, name, "", MAKE_HANDLE, returns=HANDLE, always=True)
      for name in ("arrayElementGetter", "arrayElementSetter", "catchException", "collectArguments", "constant",
                   "countedLoop", "doWhileLoop", "dropArguments", "dropArgumentsToMatch", "dropReturn",
                   "explicitCastArguments", "exactInvoker", "filterArguments", "filterReturnValue", "foldArguments",
                   "guardWithTest", "identity", "insertArguments", "invoker", "iteratedLoop", "loop",
                   "permuteArguments", "spreadInvoker", "tableSwitch", "throwException", "tryFinally", "whileLoop",
                   "zero", "empty")),
    Api("java/lang/invoke/SwitchPoint", "guardWithTest", "", MAKE_HANDLE, returns=HANDLE, always=True),
    *(Api(HANDLE, name, "", CALL_HANDLE, 0, always=True) for name in ("invoke", "invokeExact")),
    Api(HANDLE, "invokeWithArguments", f"([{_OBJECT}){_OBJECT}", CALL_HANDLE, 0, arguments=1, always=True),
)  # fmt: skip
