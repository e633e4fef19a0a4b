"""What a run says of the methods that were observed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cli.observed import Method, Observed, Pair, ReflectiveCall, family
from cli.run import Run
from cli.site_flows import target_name
from cli.summary import causing_sites
from cypher.program import APPLICATION, SYNTHETIC
from cypher.schema import NONE, Int32
from engine import heap
from engine.reflection import api
from engine.result import ReflectiveSite
from engine.sets import Sets
from engine.sites import MODEL, REFLECTION
from loader import containers
from loader.containers import Archive, Opener
from loader.source import InputError, Limits

_KEY = 32
# The roles of the calls that take a class object, rather than a method, constructor or field.
_TAKING_CLASSES = (api.GET_MEMBER, api.LIST_MEMBERS, api.CLASS_NEW)
# What the classes are called that the loader makes for lambdas, proxies and other dynamic calls.
_MADE = re.compile(r"\$\$\w+@|\$\$Proxy\Z")
# The methods of the JDK between a call of the reflection API and its target, by package.
_MACHINERY = ("jdk/internal/reflect/", "sun/reflect/")
_MACHINERY_METHODS = frozenset({
    "java.lang.reflect.Method.invoke", "java.lang.reflect.Constructor.newInstance",
    "java.lang.reflect.Constructor.newInstanceWithCaller", "java.lang.Class.newInstance",
})  # fmt: skip
_PRIVILEGED = frozenset({
    f"java.security.AccessController.{each}"
    for each in ("doPrivileged", "doPrivilegedWithCombiner", "executePrivileged")
})  # fmt: skip


class Graph:
    """What a run says of the methods that were observed."""

    def __init__(self, run: Run, observed: Observed) -> None:
        self.run, self.result, self.names = run, run.result, run.names
        self.methods = {each for pair in observed.pairs for each in (pair.caller, pair.callee) if each}
        self.methods |= {each.caller for each in observed.reflective}
        columns = self.names.columns
        last = int(columns.methods[:, 0].max(initial=0)) + 1
        self._reached = np.zeros(last + 1, bool)
        self._reached[self.result.reached] = True
        self.caller: Int32 = self.result.sites.method[causing_sites(self.result)]
        self.callee = self.result.call_callee
        self._by_origin: dict[int, set[int]] = {}
        self.unread: list[str] = []  # inputs that aren't there any more

    @cached_property
    def type_ids(self) -> dict[str, int]:
        """The types that the analysis met, by internal name."""
        texts, met = self.names.texts, self.run.manifest["typesMet"]
        return {texts[text]: number for number, text in enumerate(self.names.columns.types[:met, 0].tolist())}

    @cached_property
    def ids(self) -> dict[Method, int]:
        """The ids of the observed methods that the run names; one that runs if there is no descriptor."""
        declaring = [self.type_ids.get(name, NONE) for name in {each.declaring for each in self.methods}]
        table, texts = self.names.columns.methods, self.names.texts
        rows = table[np.isin(table[:, 1], declaring)][:, :4].tolist()
        found: dict[Method, int] = {}
        for method, type_, name, descriptor in rows:
            exact = Method(self.names.internal_type(type_), texts[name], texts[descriptor])
            found[exact] = method
            if self._reached[method]:
                found[exact._replace(descriptor="")] = method
        return {each: found[each] for each in self.methods & found.keys()}

    def reaches(self, method: Method | None) -> bool:
        """Returns whether a method may run; the JVM does."""
        return method is None or self._reached[self.ids.get(method, NONE)].item()

    @cached_property
    def _archives(self) -> dict[str, Archive]:
        """The archive of each class of the inputs by internal name, those of `unread` left out."""
        opener = Opener(Limits(), self.run.manifest["release"], [])
        found: dict[str, Archive] = {}
        # Of two classes of one name, the first counts.
        for listed in reversed(self.run.manifest["archives"]):
            label = listed["label"]
            if "!" in label:  # is in another one
                continue
            try:
                archives = opener.open(label, label, listed["role"])
            except InputError:
                self.unread.append(label)
                continue
            for archive in reversed(archives):
                found.update(dict.fromkeys(archive.class_names(), archive))
        return {name.removesuffix(".class"): archive for name, archive in found.items()}

    @cached_property
    def classes(self) -> dict[str, str]:
        """The role of each class of the inputs by internal name, those of `unread` left out."""
        return {name: archive.role for name, archive in self._archives.items()}

    def class_files(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yields (entry name, content) of the classes of these internal names, as far as they can be read."""
        for name in names:
            entry = f"{name}.class"
            archive = self._archives.get(name)
            if archive is not None and (content := archive.read(entry)) is not None:
                yield entry, content

    def is_application(self, method: Method) -> bool:
        """Returns whether a method is of the application."""
        type_ = self.type_ids.get(method.declaring)
        if type_ is not None:
            return bool(self.names.type_flags(type_) & APPLICATION)
        return self.classes.get(method.declaring) == containers.APPLICATION

    def calls(self, pairs: Sequence[Pair]) -> set[Pair]:
        """Returns which pairs are calls of the run, or lead through what the run has between them."""
        ids = self.ids
        known = [each for each in pairs if each.caller in ids and each.callee in ids]
        keys = np.array(
            [ids[each.caller] << _KEY | ids[each.callee] for each in known if each.caller], np.int64
        )
        mask = np.zeros(len(self._reached), bool)
        mask[keys >> _KEY] = True
        chosen = mask[self.caller] & (self.caller >= 0)
        edges = self.caller[chosen].astype(np.int64) << _KEY | self.callee[chosen]
        found = {each for each, there in zip(known, np.isin(keys, edges).tolist(), strict=True) if there}
        return found | {each for each in pairs if each not in found and self._passes_on(each)}

    def _passes_on(self, pair: Pair) -> bool:
        """Returns whether the run has the call, but another method in place of the caller, or one between."""
        callee = self.ids.get(pair.callee)
        if callee is None or pair.caller is None:
            return False
        if callee in self._behind(self._made_callees.get(self.ids.get(pair.caller, NONE), ())):
            return True
        if is_machinery(pair.caller):
            return callee in self._led_to_by(REFLECTION)
        return pair.caller.qualified in _PRIVILEGED and callee in self._led_to_by(MODEL)

    def _led_to_by(self, origin: int) -> set[int]:
        """Returns the methods that calls of an origin lead to, at once or through made methods."""
        if origin not in self._by_origin:
            chosen = self.result.sites.origin[self.result.call_site] == origin
            found = set(np.unique(self.callee[chosen]).tolist())
            self._by_origin[origin] = found | self._behind(found & self._made)
        return self._by_origin[origin]

    @cached_property
    def _made(self) -> set[int]:
        """The methods of classes that the loader made."""
        table, flags = self.names.columns.methods, self.names.type_flags
        types = [
            type_
            for name, type_ in self.type_ids.items()
            if "$$" in name and _MADE.search(name) and flags(type_) & SYNTHETIC
        ]
        return set(table[np.isin(table[:, 1], types), 0].tolist())

    @cached_property
    def _made_callees(self) -> dict[int, set[int]]:
        """The made methods that observed methods call."""
        made, wanted = self._mask(self._made), self._mask(self.ids.values())
        return self._callees(wanted[self.caller] & made[self.callee])

    @cached_property
    def _bodies(self) -> dict[int, set[int]]:
        """What made methods call."""
        return self._callees(self._mask(self._made)[self.caller])

    def _mask(self, methods: Iterable[int]) -> NDArray[np.bool_]:
        """Returns which methods are of `methods`, by id."""
        mask = np.zeros(len(self._reached), bool)
        mask[np.fromiter(methods, np.int64)] = True
        return mask

    def _callees(self, chosen: NDArray[np.bool_]) -> dict[int, set[int]]:
        """Returns the callees of each caller in the chosen rows."""
        chosen = chosen & (self.caller >= 0)
        found: dict[int, set[int]] = {}
        for caller, callee in zip(self.caller[chosen].tolist(), self.callee[chosen].tolist(), strict=True):
            found.setdefault(caller, set()).add(callee)
        return found

    def _behind(self, made: Iterable[int]) -> set[int]:
        """Returns what made methods call, through others of them if need be."""
        found: set[int] = set()
        waiting, seen = list(made), set(made)
        while waiting:
            bodies = self._bodies.get(waiting.pop(), set())
            found |= bodies
            waiting += (bodies & self._made) - seen
            seen |= bodies & self._made
        return found

    @cached_property
    def bodies(self) -> set[int]:
        """All that made methods call."""
        return set().union(*self._bodies.values())

    @cached_property
    def sites(self) -> dict[tuple[str, int, str], list[tuple[Method, ReflectiveSite]]]:
        """The reflective sites by name of the caller, line and method of the API."""
        listed = self.result.reflective
        places = np.array([each.site for each in listed], np.int32)
        methods, offsets = self.result.sites.method[places], self.result.sites.offset[places]
        lines = self.names.lines(methods, offsets).tolist()
        found: dict[tuple[str, int, str], list[tuple[Method, ReflectiveSite]]] = {}
        for method, line, site in zip(methods.tolist(), lines, listed, strict=True):
            caller = Method(*self.names.method(method)[:3])
            found.setdefault((caller.qualified, line, family(site.api)), []).append((caller, site))
        return found

    def sites_of(self, call: ReflectiveCall) -> list[ReflectiveSite]:
        """Returns the sites of the run at which a reflective call may have been made."""
        listed = self.sites.get((call.caller.qualified, call.line, call.api), ())
        return [site for caller, site in listed if call.caller.descriptor in ("", caller.descriptor)]

    def targets(self, sites: Sequence[ReflectiveSite]) -> set[str]:
        """Returns the targets of sites by name."""
        return {target_name(self.names, target) for site in sites for target in site.targets}

    def with_superclasses(self, name: str) -> Iterator[str]:
        """Yields the internal names of a class and its superclasses."""
        yield name
        superclass = self.run.structure.superclass
        type_ = self.type_ids.get(name, NONE)
        while type_ >= 0 and (type_ := int(superclass[type_])) >= 0:
            yield self.names.internal_type(type_)

    def has_class(self, name: str, sites: Sequence[ReflectiveSite]) -> bool:
        """Returns whether the object of a class, or of a subclass, comes to one of the sites that take a class object.

        If none of them does, it is enough that there is one.
        """
        objects = self._class_objects.get(name, ())
        taking = [site.operands["subject"] for site in sites if site.role in _TAKING_CLASSES]
        sets = Sets(self.result.points_to)
        return bool(objects) and (
            not taking or any(sets.contains(each, obj) for each in taking if each >= 0 for obj in objects)
        )

    @cached_property
    def _class_objects(self) -> dict[str, list[int]]:
        """The objects of each class and its subclasses, by internal name."""
        objects = self.result.objects
        found: dict[str, list[int]] = {}
        for obj in np.flatnonzero((objects.kind == heap.CLASS_OBJECT) & (objects.payload >= 0)).tolist():
            for name in self.with_superclasses(self.names.internal_type(int(objects.payload[obj]))):
                found.setdefault(name, []).append(obj)
        return found


def is_machinery(method: Method) -> bool:
    """Returns whether a method of the JDK calls what reflection names."""
    return method.declaring.startswith(_MACHINERY) or method.qualified in _MACHINERY_METHODS
