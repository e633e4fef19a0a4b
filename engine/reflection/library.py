"""What the library finds at run time beside reflection: services, annotations, proxies, enums, resource bundles."""

from __future__ import annotations

from collections.abc import Iterator

from cypher.program import ABSTRACT, ANNOTATION, ENUM, INTERFACE, Program
from engine.reflection.papers import JAVA
from engine.reflection.relations import (
    AllocateCall,
    Allocated,
    AnnotationCall,
    AnnotationObject,
    BundleCall,
    BundleClass,
    ClassAt,
    EnumCall,
    EnumConstants,
    ParameterClass,
    Provider,
    ProxyCall,
    ProxyInterface,
    ServiceCall,
    StringAt,
)
from engine.rules import Table, joined, rule

BUNDLE = "java/util/ResourceBundle"


@rule("serviceProvider", JAVA)
def service_provider(
    sites: Table[ServiceCall], classes: Table[ClassAt], program: Program
) -> Iterator[Provider]:
    """Finds what makes the providers that are declared for a service (`ServiceLoader`).

    provider(i, m) :- calls(i, "ServiceLoader.load"), actual(i, 0, v), points-to(v, c), classObject(c, t),
                      provides(t, m).
    """
    for site, found in joined(sites, classes, service="pointer"):
        for method in program.providers_of(found.type) if found.type >= 0 else ():
            yield Provider(site.site, method, found.type)  # type: ignore[arg-type]


@rule("annotationObject", JAVA)
def annotation_object(
    sites: Table[AnnotationCall], classes: Table[ClassAt], program: Program
) -> Iterator[AnnotationObject]:
    """Makes an object for the annotations of a class that are read (`AnnotatedElement`).

    To calls that name no class, as `getAnnotations`, come the types of all annotations there are at run time.

    annotationObject(i, t) :- calls(i, "AnnotatedElement.getAnnotation"), actual(i, 1, v), points-to(v, c),
                              classObject(c, t), annotation(t).
    """
    for site, found in joined(sites, classes, annotation="pointer"):
        if found.type >= 0 and program.flags_of_type(found.type) & ANNOTATION:
            yield AnnotationObject(site.site, found.type)


@rule("proxyInterface", JAVA)
def proxy_interface(
    sites: Table[ProxyCall], classes: Table[ParameterClass], program: Program
) -> Iterator[ProxyInterface]:
    """Finds the interfaces of dynamic proxies.

    proxyInterface(i, n, t) :- calls(i, "Proxy.newProxyInstance"), parameterClass(i, n, t).
    """
    for site, found in joined(sites, classes, site="site"):
        if found.type >= 0 and program.flags_of_type(found.type) & INTERFACE:
            yield ProxyInterface(site.site, found.place, found.type)


@rule("enumConstants", JAVA)
def enum_constants(
    sites: Table[EnumCall], classes: Table[ClassAt], program: Program
) -> Iterator[EnumConstants]:
    """Has an enum list its constants when its class is asked for them (`Enum.valueOf`, `EnumSet`, `EnumMap`).

    enumConstants(i, m) :- calls(i, "Class.getEnumConstants"), actual(i, 0, v), points-to(v, c), classObject(c, t),
                           m = t + ".values".

    In the JDK's code, the class of a constant's body stands for its enum: so does `Enum.getDeclaringClass` see it, by
    a call of `getSuperclass`, which is not followed there.
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        if found.type >= 0 and program.flags_of_type(found.type) & ENUM:
            above = program.superclass_of(found.type)
            enum = above if site.inside and program.flags_of_type(above) & ENUM else found.type
            values = program.method_of(enum, "values", f"()[L{program.name_of_type(enum)};")
            if values >= 0:
                yield EnumConstants(site.site, values)  # type: ignore[arg-type]


@rule("bundleClass", JAVA)
def bundle_class(sites: Table[BundleCall], names: Table[StringAt], program: Program) -> Iterator[BundleClass]:
    """Finds the classes of resource bundles: that of the name, and those of its locales (`ResourceBundle.getBundle`).

    bundleClass(i, m) :- calls(i, "ResourceBundle.getBundle"), actual(i, 0, v), points-to(v, s), bundle(s, t),
                         m = t + ".<init>".
    """
    bundle = program.type_named(BUNDLE)
    for site, name in joined(sites, names, name="pointer"):
        internal = name.text.replace(".", "/")
        for type_ in (program.type_named(internal), *program.types_like(f"{internal}_")):
            if type_ >= 0 and bundle in program.supertypes_of(type_):
                constructor = program.method_of(type_, "<init>", "()V")
                if constructor >= 0:
                    yield BundleClass(site.site, constructor)  # type: ignore[arg-type]


@rule("allocateInstance", JAVA)
def allocate_instance(
    sites: Table[AllocateCall], classes: Table[ClassAt], program: Program
) -> Iterator[Allocated]:
    """Makes objects that no constructor runs on.

    allocated(i, t) :- calls(i, "Unsafe.allocateInstance"), actual(i, 1, v), points-to(v, c), classObject(c, t).
    """
    for site, found in joined(sites, classes, operand="pointer"):
        if found.type >= 0 and not program.flags_of_type(found.type) & (ABSTRACT | INTERFACE):
            yield Allocated(site.site, found.type)
