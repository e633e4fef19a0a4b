"""`heliograph census`: how often each method of the reflective API is called, by category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cli.present import write_line, write_table
from cli.run import Run
from engine.sites import BYTECODE

_CLASS, _REFLECT, _INVOKE = "java.lang.Class", "java.lang.reflect", "java.lang.invoke"
_ONE = ("Method", "Constructor", "Field", "RecordComponent")

# Category of a method, by class and name; `prefix*` stands for all names that begin so.
CATEGORIES: tuple[tuple[str, str, str], ...] = (
    (_CLASS, "forName", "class by name"),
    ("java.lang.ClassLoader", "loadClass", "class by name"),
    ("java.lang.ClassLoader", "findClass", "class by name"),
    ("java.lang.ClassLoader", "findSystemClass", "class by name"),
    ("java.lang.ClassLoader", "findLoadedClass", "class by name"),
    (f"{_INVOKE}.MethodHandles$Lookup", "findClass", "class by name"),
    ("java.lang.ClassLoader", "defineClass", "class from bytes"),
    (f"{_INVOKE}.MethodHandles$Lookup", "define*", "class from bytes"),
    *((_CLASS, f"get{infix}{each}", "member by name") for infix in ("", "Declared") for each in _ONE[:3]),
    *((_CLASS, f"get{infix}{each}s", "list of members") for infix in ("", "Declared") for each in _ONE[:3]),
    (_CLASS, "getRecordComponents", "list of members"),
    (_CLASS, "getEnumConstants", "list of members"),
    (_CLASS, "get*Classes", "list of members"),
    (_CLASS, "newInstance", "creation"),
    (f"{_REFLECT}.Constructor", "newInstance", "creation"),
    (f"{_REFLECT}.Array", "newInstance", "creation"),
    ("sun.misc.Unsafe", "allocateInstance", "creation"),
    ("jdk.internal.misc.Unsafe", "allocateInstance", "creation"),
    (f"{_REFLECT}.Method", "invoke", "invocation"),
    (f"{_REFLECT}.Field", "get*", "field access"),
    (f"{_REFLECT}.Field", "set*", "field access"),
    (f"{_REFLECT}.Array", "get*", "array access"),
    (f"{_REFLECT}.Array", "set*", "array access"),
    (f"{_REFLECT}.AccessibleObject", "setAccessible", "access checks"),
    *((f"{_REFLECT}.{each}", "setAccessible", "access checks") for each in _ONE[:3]),
    (f"{_REFLECT}.Proxy", "newProxyInstance", "proxies"),
    (f"{_REFLECT}.Proxy", "getProxyClass", "proxies"),
    (f"{_INVOKE}.MethodHandles$Lookup", "find*", "method handles"),
    (f"{_INVOKE}.MethodHandles$Lookup", "unreflect*", "method handles"),
    (f"{_INVOKE}.MethodHandles$Lookup", "bind", "method handles"),
    (f"{_INVOKE}.MethodHandle", "invoke*", "method handles"),
    ("java.util.ServiceLoader", "load*", "services"),
    ("java.io.ObjectInputStream", "readObject", "serialization"),
    ("java.io.ObjectInputStream", "readUnshared", "serialization"),
    ("java.util.ResourceBundle", "getBundle", "resources"),
    (_CLASS, "getResource*", "resources"),
    ("java.lang.ClassLoader", "get*Resource*", "resources"),
    (_CLASS, "getAnnotation*", "annotations"),
    *((f"{_REFLECT}.{each}", "getAnnotation*", "annotations") for each in _ONE),
)
# Methods of Field that tell of the field itself.
_NOT_ACCESS = frozenset({"getName", "getType", "getModifiers", "getDeclaringClass", "getGenericType",
                         "getAnnotatedType", "setAccessible"})  # fmt: skip


class Count(NamedTuple):
    """How often code calls a method of the reflective API, and in how many methods."""

    category: str
    api: str
    calls: int
    callers: int


def category_of(class_name: str, method: str) -> str | None:
    """Returns the category of a method of the reflective API, None for other methods.

    >>> category_of("java.lang.Class", "forName"), category_of("java.lang.Class", "getName")
    ('class by name', None)
    """
    about_field = class_name == f"{_REFLECT}.Field" and (method in _NOT_ACCESS or "Annotation" in method)
    for owner, pattern, category in CATEGORIES:
        if owner != class_name or (about_field and category == "field access"):
            continue
        before, star, after = pattern.partition("*")
        if method == pattern or (star and method.startswith(before) and method.endswith(after)):
            return category
    return None


def count(run: Run, everything: bool) -> list[Count]:
    """Returns the counts of calls in application code that may run, or in all code that may."""
    result, names = run.result, run.names
    sites = result.sites
    wanted = (sites.origin == BYTECODE) & (sites.callee >= 0) & (sites.method >= 0)
    called = np.unique(sites.callee[wanted])
    categories: dict[int, tuple[str, str]] = {}
    for method in called.tolist():
        name = names.method(method)
        if name.declaring.startswith(("java/", "sun/misc/Unsafe", "jdk/internal/misc/Unsafe")):
            class_name = name.declaring.replace("/", ".")
            category = category_of(class_name, name.name)
            if category:
                categories[method] = category, f"{class_name}.{name.name}"
    rows = np.flatnonzero(wanted & np.isin(sites.callee, list(categories)))
    if not everything:
        rows = rows[names.is_application(sites.method[rows])]
    calls: Counter[tuple[str, str]] = Counter()
    callers: dict[tuple[str, str], set[int]] = {}
    for method, callee in zip(sites.method[rows].tolist(), sites.callee[rows].tolist(), strict=True):
        calls[categories[callee]] += 1
        callers.setdefault(categories[callee], set()).add(method)
    order = list(dict.fromkeys(category for _, _, category in CATEGORIES))
    found = [Count(*key, number, len(callers[key])) for key, number in calls.items()]
    return sorted(found, key=lambda each: (order.index(each.category), -each.calls, each.api))


def write(found: Sequence[Count]) -> None:
    """Prints the counts as a table."""
    if not found:
        write_line("no call of the reflective API in code that may run")
        return
    write_table(("category", "method", "calls#", "in methods#"), found)
    write_line(f"{sum(each.calls for each in found):,} calls")
