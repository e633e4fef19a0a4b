"""What reflective calls have to find at run time: the classes and members that a run resolved, and for which call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from cli.export.origins import Origins
from cli.export.outside import Outside, declaring
from cli.run import Run
from cypher import schema
from cypher.schema import NONE
from engine import heap
from engine.flow import RETURN, Flow
from engine.result import RESOLVED, Derived
from engine.sites import BYTECODE

# Kinds of need. NAMED: a class, by its name; CLASS: one whose members are asked for; METHOD: a method or
# constructor; FIELD; ALLOCATED: a class of objects that no constructor makes; PROVIDER: what makes the provider of a
# service; NESTED: a class to which another one leads by how they are nested; CONSTANTS: the `values` of an enum;
# ANNOTATION: a type of annotations; PROXY: a class of proxies; SERIALIZED: a class of objects in streams; BUNDLE,
# RESOURCE: by name.
NAMED, CLASS, METHOD, FIELD, ALLOCATED, PROVIDER, NESTED, CONSTANTS, ANNOTATION, PROXY, SERIALIZED, BUNDLE, RESOURCE = (
    "named", "class", "method", "field", "allocated", "provider", "nested", "constants", "annotation", "proxy",
    "serialized", "bundle", "resource",
)  # fmt: skip
_STREAM = "java/io/Object"
_WRITERS = {
    (f"{_STREAM}{each}", name)
    for each in ("Output", "OutputStream")
    for name in ("writeObject", "writeUnshared")
}
_GET_CLASS = ("java/lang/Object", "getClass")
_LOADER, _CLASS = "java/lang/ClassLoader", "java/lang/Class"
# Position of the name among the arguments.
_RESOURCES = {
    **{(_CLASS, name): 1 for name in ("getResource", "getResourceAsStream")},
    **{(_LOADER, name): 1 for name in ("getResource", "getResources", "getResourceAsStream", "resources")},
    **{(_LOADER, f"getSystemResource{end}"): 0 for end in ("", "s", "AsStream")},
}
_BUNDLES = ("java/util/ResourceBundle", "getBundle")
_PROXIES = ("java/lang/reflect/Proxy", "newProxyInstance")
_SERIALIZABLE = "java/io/Serializable"
_PLAIN = frozenset({"java/lang/String", _CLASS})  # which streams write in a way of their own
_OF_NESTING = frozenset(
    (_CLASS, name)
    for name in (
        "getClasses", "getDeclaredClasses", "getDeclaringClass", "getEnclosingClass", "getNestHost", "getNestMembers",
        "getPermittedSubclasses",
    )
)  # fmt: skip
_OF_FIELDS = frozenset({"findGetter", "findSetter", "findStaticGetter", "findStaticSetter"})
# Kinds of need by the relation that a rule derives.
_TYPES = {"Allocated": ALLOCATED, "AnnotationObject": ANNOTATION}
_FIELDS = frozenset({"FieldObject", "ResolvedField"})
_METHODS = {
    "MethodObject": METHOD, "NewInstanceTarget": METHOD, "ResolvedInvoke": METHOD, "HandleObject": METHOD,
    "Provider": PROVIDER, "EnumConstants": CONSTANTS, "BundleClass": BUNDLE,
}  # fmt: skip


class Need(NamedTuple):
    """The call `site` needs `type` (-1 for BUNDLE and RESOURCE), of that the `member`, if there is one.

    `text` names a bundle or resource; `reason` says in a line who needs it, and why.
    """

    kind: str
    site: int
    type: int
    reason: str
    member: int = NONE
    text: str = ""


class Needs:
    """The needs of calls outside the JDK, and of those in the JDK's code that find something outside it."""

    def __init__(self, run: Run) -> None:
        self.outside = Outside(run)
        self._origins = Origins(run)
        self._names, self._result, self._structure = run.names, run.result, run.structure
        self._flow: Flow = self._origins.provenance.flow
        self._known_below: dict[int, dict[int, list[int]]] = {}

    def all(self) -> Iterator[Need]:
        """Yields the needs; those of the same kind at one site stand together."""
        is_own = cache(self._is_own)
        for derived in dict.fromkeys(self._result.derived):
            own = is_own(derived.site)
            for kind, type_, member in self._by_rule(derived) if derived.detail >= 0 else ():
                if type_ >= 0 and (own or self.outside.is_type(type_)):
                    text = self._bundle_of(derived.site, type_) if kind == BUNDLE else ""
                    yield Need(kind, derived.site, type_, self._reason(kind, derived), member, text)
        for each in (self._proxies, self._streams, self._bundles, self._resources):
            yield from each()

    def remarks(self) -> Iterator[str]:
        """Yields what is to be known of the needs: that they aren't all, and which calls may have others."""
        if not self._result.complete:
            yield "The analysis was stopped before it was done: there are more."
        open_ = [
            each for each in self._result.reflective if each.status != RESOLVED and self._is_own(each.site)
        ]
        if open_:
            yield f"It is not known all that these {len(open_):,} calls may reach; `heliograph sites --all` says why:"
        yield from sorted(f"  {self._origins.call(each.site)}: {each.reason}" for each in open_)

    def _reason(self, kind: str, derived: Derived) -> str:
        if kind == CLASS:
            return f"{self._origins.call(derived.site)} [{derived.rule}]: a member that it inherits"
        return self._origins.reason(derived)

    # --- types
    def interfaces(self, type_: int) -> list[int]:
        """Returns the direct superinterfaces of a type, in order."""
        rows = self._structure.interfaces
        found: list[int] = rows[rows[:, 0] == type_, 1].tolist()
        return found

    def _is_own(self, site: int) -> bool:
        """Returns whether a call is made outside the JDK's code."""
        return self.outside.is_method(int(self._result.sites.method[site]))

    # --- what rules derived
    def _by_rule(self, derived: Derived) -> Iterator[tuple[str, int, int]]:
        """Yields (kind, type, member) of what a rule found."""
        relation, detail = derived.relation, derived.detail
        if relation == "ClassObject":
            # A superclass or component type is known to whoever has the class.
            if derived.rule == "classObjects":
                yield NAMED, detail, NONE
            elif self._called(derived.site) in _OF_NESTING:
                yield NESTED, detail, NONE
        elif relation in _TYPES:
            yield _TYPES[relation], detail, NONE
        elif relation in _METHODS or relation in _FIELDS:
            of_field = relation in _FIELDS or self._called(derived.site)[1] in _OF_FIELDS
            columns = self._names.columns.fields if of_field else self._names.columns.methods
            owner = declaring(columns, detail)
            if owner < 0:
                return
            yield FIELD if of_field else _METHODS[relation], owner, detail
            if of_field or self._names.method(detail).name != "<init>":
                yield from ((CLASS, each, NONE) for each in self._asked(derived, owner))

    def _asked(self, derived: Derived, owner: int) -> Iterator[int]:
        """Yields the classes, known by name or literal, that were asked for a member which they inherit."""
        site = self._origins.reflective.get(derived.site)
        if site and derived.relation in ("MethodObject", "FieldObject"):
            yield from self._below(site.operands.get("subject", NONE)).get(owner, ())

    def _below(self, pointer: int) -> dict[int, list[int]]:
        """Returns the classes whose class objects a variable may refer to, by each type that is above them."""
        found = self._known_below.get(pointer)
        if found is None:
            found = self._known_below[pointer] = defaultdict(list)
            for type_ in self._classes_at(pointer):
                for above in self._flow.supertypes(type_) - {type_}:
                    found[above].append(type_)
        return found

    def classes_at(self, site: int, position: int) -> list[int]:
        """Returns the classes whose class objects may be this argument of a call."""
        return self._classes_at(self._flow.argument(site, position))

    def _classes_at(self, pointer: int) -> list[int]:
        if pointer < 0:
            return []
        objects, found = self._result.objects, self._flow.sets.objects_of(pointer)
        classes = np.asarray(objects.payload)[found[np.asarray(objects.kind)[found] == heap.CLASS_OBJECT]]
        types: list[int] = np.unique(classes[classes >= 0]).tolist()
        return types

    # --- calls of the library
    def _called(self, site: int) -> tuple[str, str]:
        """Returns class and name of the method that a call names."""
        callee = int(self._result.sites.callee[site])
        if callee < 0:
            return "", ""
        found = self._names.method(callee)
        return found.declaring, found.name

    def _calls_of(self, wanted: Iterable[tuple[str, str]]) -> Iterator[int]:
        """Yields the calls outside the JDK's code of these methods."""
        sites = self._result.sites
        named = set(wanted)
        found = [
            each for each in np.unique(sites.callee[sites.callee >= 0]).tolist()
            if (self._names.method(each).declaring, self._names.method(each).name) in named
        ]  # fmt: skip
        for site in np.flatnonzero(np.isin(sites.callee, found) & (sites.origin == BYTECODE)).tolist():
            if self._is_own(site):
                yield site

    def _proxies(self) -> Iterator[Need]:
        """Yields the classes of proxies where the number of their interfaces is known."""
        objects, exact = self._result.objects, self._result.facts[schema.ExactArgument]
        made = np.flatnonzero(np.asarray(objects.kind) == heap.REFLECTIVE)
        for site in self._calls_of([_PROXIES]):
            lengths = exact.length[(exact.site == site) & (exact.position == 1)]
            here = made[np.asarray(objects.payload)[made] == site]
            for type_ in dict.fromkeys(np.asarray(objects.type)[here].tolist()):
                if lengths.size and len(self.interfaces(type_)) == int(lengths[0]):
                    yield Need(PROXY, site, type_, f"{self._origins.call(site)} [proxyInterface]")

    def _streams(self) -> Iterator[Need]:
        """Yields the classes of objects that a call may write. What is in a stream that is read, nobody knows."""
        for site in self._calls_of(_WRITERS):
            for type_ in self._types_at(self._flow.argument(site, 1)):
                yield Need(SERIALIZED, site, type_, self._origins.call(site))

    def _types_at(self, pointer: int) -> list[int]:
        """Returns the classes of the serializable objects to which a variable may refer."""
        return [
            each for each in self._made_at(pointer)
            if self._names.internal_type(each) not in _PLAIN and self._is_serializable(each)
        ]  # fmt: skip

    def _is_serializable(self, type_: int) -> bool:
        above = self._names.type_ids.get(_SERIALIZABLE)
        return self._names.internal_type(type_).startswith("[") or (
            above is not None and above in self._flow.supertypes(type_)
        )

    # --- names of bundles and resources
    def _texts_at(self, pointer: int) -> list[str]:
        """Returns the constants that come to a variable within its method: which others do is not known of most."""
        texts = self._result.facts[schema.StringConstant].text
        rows = [row for relation, row in self._local(pointer) if relation is schema.StringConstant]
        return sorted({self._names.constant(int(texts[row])) for row in rows})

    def _local(self, pointer: int) -> Iterator[tuple[Any, int]]:
        """Yields the (relation, row) by which something comes to a variable within its method, other than by copies."""
        assigns = self._result.facts[schema.Assign]
        seen, pending = {pointer}, [pointer] if pointer >= 0 else []
        while pending:
            for relation, row in self._flow.rows_into(pending.pop()):
                if relation is not schema.Assign:
                    yield relation, row
                elif (source := int(assigns.source[row])) not in seen:
                    seen.add(source)
                    pending.append(source)

    def _bundle_of(self, site: int, type_: int) -> str:
        """Returns the name of a bundle to which a class belongs: its own, or that without the locale."""
        objects, pointer, name = self._result.objects, self._flow.argument(site, 0), self._names.type(type_)
        here = self._flow.sets.objects_of(pointer).tolist() if pointer >= 0 else []
        texts = {int(objects.payload[each]) for each in here if int(objects.kind[each]) == heap.STRING}
        fitting = [
            each for each in map(self._names.constant, texts) if name == each or name.startswith(f"{each}_")
        ]
        return max(fitting, key=len, default=name)

    def _bundles(self) -> Iterator[Need]:
        for site in self._calls_of([_BUNDLES]):
            for text in self._texts_at(self._flow.argument(site, 0)):
                yield Need(BUNDLE, site, NONE, self._named(site, text), text=text)

    def _resources(self) -> Iterator[Need]:
        for site in self._calls_of(_RESOURCES):
            called = self._called(site)
            for text in self._texts_at(self._flow.argument(site, _RESOURCES[called])):
                for path in self._paths(site, called[0], text):
                    yield Need(RESOURCE, site, NONE, self._named(site, text), text=path)

    def _named(self, site: int, text: str) -> str:
        return f"{self._origins.call(site)}: constant {text!r}"

    def _paths(self, site: int, owner: str, text: str) -> list[str]:
        """Returns what a name stands for: below the root, or the packages of the classes that are asked."""
        if owner != _CLASS:
            return [text]
        if text.startswith("/"):
            return [text[1:]]
        types: set[int] = set()
        for relation, row in self._local(self._flow.argument(site, 0)):
            if relation is schema.ClassConstant:
                types.add(int(self._result.facts[relation].type[row]))
            elif relation == RETURN and self._called(row) == _GET_CLASS:
                types.update(self._made_at(self._flow.argument(row, 0)))
        folders = {
            self._names.internal_type(self.outside.element(each)).rpartition("/")[0]
            for each in types
            if each >= 0
        }
        return sorted(f"{each}/{text}" if each else text for each in folders)

    def _made_at(self, pointer: int) -> list[int]:
        """Returns the classes of the objects to which a variable may refer."""
        if pointer < 0:
            return []
        types = np.asarray(self._result.objects.type)[self._flow.sets.objects_of(pointer)]
        found: list[int] = np.unique(types[types >= 0]).tolist()
        return found
