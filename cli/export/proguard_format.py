"""What a run resolved as rules of ProGuard and R8 that keep it: each below the calls that need it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from cli.export import needs
from cli.export.needs import Need, Needs
from cli.naming import Names
from cli.run import Run
from cli.text import parameter_descriptors, return_descriptor, type_of_descriptor
from cypher.program import ENUM, INTERFACE

# What a rule cannot name otherwise than by a wildcard.
_UNNAMED = re.compile(r"[^\w.$\[\]-]")
_HOOKS = (
    "static final long serialVersionUID;", "static final java.io.ObjectStreamField[] serialPersistentFields;",
    "!static !transient <fields>;", "private void writeObject(java.io.ObjectOutputStream);",
    "private void readObject(java.io.ObjectInputStream);", "private void readObjectNoData();",
    "java.lang.Object writeReplace();", "java.lang.Object readResolve();",
)  # fmt: skip
_OF_NESTING = ("InnerClasses", "EnclosingMethod", "NestHost", "NestMembers", "PermittedSubclasses")
# Options of rules: a class that is known by name stays as it is; one that the code refers to needs only its members,
# or its name if it stays; one that only a proxy implements may get another name.
_KEEP, _MEMBERS, _NAMES, _RENAMED = "-keep", "-keepclassmembers", "-keepnames", "-keep,allowobfuscation"


class _Rule(NamedTuple):
    """An option, a type, and members in a rule's syntax."""

    option: str
    type: int
    members: tuple[str, ...] = ()


def lines(run: Run) -> Iterator[str]:
    """Yields the rules in the order of the names of their classes."""
    yield "# Written by Heliograph: what reflective calls may reach.\n"
    writer = _Writer(run)
    yield from (f"# {each}\n" for each in writer.needs.remarks())
    found: dict[int, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    reasons: dict[int, dict[str, None]] = defaultdict(dict)
    kinds: set[str] = set()
    for need in writer.needs.all():
        kinds.add(need.kind)
        for option, type_, members in writer.rules(need):
            found[type_][option].update(dict.fromkeys(members))
            reasons[type_][need.reason] = None
    if needs.ANNOTATION in kinds:
        yield "\n# Annotations are read.\n-keepattributes *Annotation*\n"
    if needs.NESTED in kinds:
        yield f"\n# It is asked how classes are nested.\n-keepattributes {','.join(_OF_NESTING)}\n"
    for name, type_ in sorted((writer.name(type_), type_) for type_ in found):
        yield "\n"
        yield from (f"# {reason}\n" for reason in sorted(reasons[type_]))
        yield from (f"{each}\n" for each in writer.text(name, type_, found[type_]))


class _Writer:
    """Puts the needs of a run into rules."""

    def __init__(self, run: Run) -> None:
        self._names: Names = run.names
        self.needs = Needs(run)

    def name(self, type_: int) -> str:
        """Returns the name of a class in a rule."""
        return _named(self._names.type(type_))

    def rules(self, need: Need) -> Iterator[_Rule]:
        """Yields what a need keeps of classes outside the JDK."""
        type_ = self.needs.outside.element(need.type)
        if need.kind == needs.PROXY:
            for each in self.needs.interfaces(need.type):
                if self.needs.outside.is_type(each):
                    yield _Rule(_RENAMED, each, ("<methods>;",))
        elif type_ < 0 or not self.needs.outside.is_type(type_):
            return
        elif need.kind == needs.NAMED:
            yield _Rule(_KEEP, type_)
        elif need.kind in (needs.ALLOCATED, needs.NESTED):
            yield _Rule(_RENAMED, type_)
        elif need.kind == needs.SERIALIZED:
            yield _Rule(_NAMES, type_)
            yield _Rule(_MEMBERS, type_, _HOOKS)
        elif need.kind in (needs.PROVIDER, needs.BUNDLE):
            yield _Rule(_KEEP, type_, (self._method(need.member),))
            for each in self._services(need):
                yield _Rule(_NAMES, each)
        elif need.kind == needs.CONSTANTS:
            name = self.name(type_)
            yield _Rule(_MEMBERS, type_, (f"{name}[] values();", f"{name} valueOf(java.lang.String);"))
        elif need.kind == needs.METHOD:
            yield _Rule(_MEMBERS, type_, (self._method(need.member),))
        elif need.kind == needs.FIELD:
            _, name, descriptor = self._names.field_parts(need.member)
            yield _Rule(_MEMBERS, type_, (f"{_named(type_of_descriptor(descriptor))} {_named(name)};",))

    def _services(self, need: Need) -> Iterator[int]:
        """Yields the services that a call may load, whose names are those of files."""
        if need.kind == needs.PROVIDER:
            yield from filter(self.needs.outside.is_type, self.needs.classes_at(need.site, 0))

    def _method(self, method: int) -> str:
        found = self._names.method(method)
        parameters = ",".join(
            _named(type_of_descriptor(each)) for each in parameter_descriptors(found.descriptor)
        )
        if found.name == "<init>":
            return f"<init>({parameters});"
        returned = _named(type_of_descriptor(return_descriptor(found.descriptor)))
        return f"{returned} {_named(found.name)}({parameters});"

    def text(self, name: str, type_: int, options: dict[str, dict[str, None]]) -> Iterator[str]:
        """Yields the rules for one class."""
        flags = self._names.type_flags(type_)
        sort = "interface" if flags & INTERFACE else "enum" if flags & ENUM else "class"
        if _KEEP in options:
            # One rule says it all.
            members = {member: None for option in options for member in options[option]}
            options = {_KEEP: members}
        for option in sorted(options):
            body = f" {{ {' '.join(sorted(options[option]))} }}" if options[option] else ""
            yield f"{option} {sort} {name}{body}"


def _named(text: str) -> str:
    """Returns a name as a rule may have it.

    >>> _named("a.B$C[]"), _named("odd name")
    ('a.B$C[]', 'odd?name')
    """
    return _UNNAMED.sub("?", text)
