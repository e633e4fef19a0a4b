"""Why a run lacks what was observed: causes, and what merely follows from them.

A pair whose caller may not run follows from the missing pair by which the caller was first come to.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cli.matching import Graph, is_machinery
from cli.observed import CALL, INIT, MACHINE, Method, Observed, Pair, ReflectiveCall
from cli.receivers import Receivers, Store
from cli.text import class_name
from cypher.program import ABSTRACT, INTERFACE, NATIVE, PHANTOM
from cypher.schema import NONE, VIRTUAL
from engine.sets import Index
from engine.sites import BYTECODE

REFLECTION_UNRESOLVED = "reflective-unresolved"
REFLECTION_PARTIAL = "reflective-partial"
REFLECTION_RESOLVED = "reflective-resolved"
REFLECTION_NO_SITE = "reflective-no-site"
ABSENT_CLASS = "absent-class"
UNNAMED_CLASS = "unnamed-class"
MACHINE_CALL = "jvm-call"
NATIVE_CALLER = "native-caller"
HANDLE = "hidden-code"
NO_INSTANCE = "no-instance"
NO_RECEIVER = "no-receiver"
NO_TARGET = "no-target"
NO_SITE = "no-site"
NOT_INITIALISED = "not-initialised"
UNOBSERVED = "unobserved-caller"
FOLLOWS = "follows"

EXPLANATIONS = {
    REFLECTION_UNRESOLVED: "a reflective call of which the run knows no target",
    REFLECTION_PARTIAL: "a reflective call of which the run knows some targets, and that there may be others",
    REFLECTION_RESOLVED: "a reflective call of which the run claims to know all targets",
    REFLECTION_NO_SITE: "a reflective call that the run doesn't list, in a method that may run",
    ABSENT_CLASS: "no input has such a class; the program may have generated it",
    UNNAMED_CLASS: "nothing that may run names the class",
    MACHINE_CALL: "the JVM calls the method by itself",
    NATIVE_CALLER: "a native method calls it",
    HANDLE: "called by a method handle, a proxy, or what the JVM makes for reflection",
    NO_INSTANCE: "the call is there, but nothing makes an object of the class",
    NO_RECEIVER: "the call is there, but no such receiver or lambda comes to it",
    NO_TARGET: "the call is there, names one method, and doesn't lead to it",
    NO_SITE: "the caller has no such call",
    NOT_INITIALISED: "the class is never initialised",
    UNOBSERVED: "the caller may not run according to the run, and how it was come to wasn't observed",
    FOLLOWS: "the caller may not run, or no receiver comes to the call, because another pair is missing",
}
_REFLECTIVE = {
    "unresolved": REFLECTION_UNRESOLVED,
    "partial": REFLECTION_PARTIAL,
    "resolved": REFLECTION_RESOLVED,
}
# The methods of the reflection API that act on a member, and those that find a class by its name.
_ACTING = frozenset({
    "java.lang.reflect.Method.invoke", "java.lang.reflect.Constructor.newInstance", "java.lang.Class.newInstance",
    "java.lang.reflect.Field.get", "java.lang.reflect.Field.set",
})  # fmt: skip
_NAMING = frozenset({"java.lang.Class.forName", "java.lang.ClassLoader.loadClass"})
# How compilers name the body of a lambda, after the method in which it stands.
_LAMBDA = re.compile(r"lambda\$(.+)\$\d+")
_SPECIAL_NAMES = {"new": "<init>", "static": "<clinit>"}
_HANDLES = frozenset({"java/lang/invoke/MethodHandle", "java/lang/invoke/VarHandle"})
# What a proxy calls.
_HANDLER = ("invoke", "(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;")

Row = Pair | ReflectiveCall


class Missing(NamedTuple):
    """A row that the run lacks. `following` counts those that follow from it, `root` is from which it follows."""

    cause: str
    detail: str
    kind: str
    caller: str
    callee: str
    following: int
    root: str

    def document(self) -> dict[str, Any]:
        """Returns the row for programs."""
        return self._asdict()


def explain(graph: Graph, observed: Observed, missing: Sequence[Row]) -> list[Missing]:
    """Returns the cause of each missing row, those first from which most follows."""
    causes = _Causes(graph, observed, frozenset(missing))
    roots = _roots_of(causes, missing)
    following = Counter(root for each, root in roots.items() if root is not each)
    found = []
    for each in missing:
        root = roots.get(each)
        if root is each:
            cause, detail = causes.of(each)
            told = "; ".join(filter(None, (detail, causes.stored(each))))
            found.append(_missing(each, cause, told, following[each], None))
        else:
            cause, detail = (FOLLOWS, causes.stored(each)) if root else (UNOBSERVED, "")
            found.append(_missing(each, cause, detail, 0, root))
    return sorted(found, key=lambda each: (-each.following, each.caller, each.callee, each.kind, each.detail))


def _roots_of(causes: _Causes, missing: Sequence[Row]) -> dict[Row, Row]:
    """Returns the row from which each follows: itself, if nothing else would have had to happen before.

    Where rows wait for each other, the first that the run comes to is the root of the others.
    """
    blocked: dict[Method | ReflectiveCall, list[Row]] = {}
    free: list[Row] = []
    circular: list[Row] = []
    for each in missing:
        blockers = causes.blockers(each)
        if not blockers:
            free.append(each)
        elif causes.is_come_to(each):
            circular.append(each)
        for event in blockers:
            blocked.setdefault(event, []).append(each)
    found: dict[Row, Row] = {}
    for root in (*free, *circular):
        waiting = deque([root] if found.setdefault(root, root) is root else [])
        while waiting:
            row = waiting.popleft()
            event = row.callee if isinstance(row, Pair) else row
            following = [each for each in blocked.pop(event, ()) if each not in found]
            found.update(dict.fromkeys(following, root))
            waiting.extend(following)
    return found


def _missing(row: Row, cause: str, detail: str, following: int, root: Row | None) -> Missing:
    kind, caller, callee = _texts(row)
    return Missing(
        cause, detail, kind, caller, callee, following, " → ".join(_texts(root)[1:]) if root else ""
    )


def _texts(row: Row) -> tuple[str, str, str]:
    if isinstance(row, Pair):
        return row.kind, str(row.caller or MACHINE), str(row.callee)
    return row.api, f"{row.caller}:{row.line}", row.target


class _Causes:
    """Finds the cause of a missing row whose caller may run."""

    def __init__(self, graph: Graph, observed: Observed, missing: frozenset[Row]) -> None:
        self._graph, self._missing = graph, missing
        self._receivers = Receivers(graph, (each for each in missing if isinstance(each, ReflectiveCall)))
        self._stores: dict[Row, list[Store]] = {}
        self._acting: dict[tuple[str, str], list[ReflectiveCall]] = {}
        self._finding: dict[str, list[ReflectiveCall]] = {}
        for each in observed.reflective:
            if each.api in _ACTING:
                self._acting.setdefault(_member(each.target), []).append(each)
            else:
                self._finding.setdefault(each.target, []).append(each)
        self._makers: dict[str, list[Method]] = {}
        for method in graph.methods:
            if method.name == "<init>":
                self._makers.setdefault(method.declaring, []).append(method)
        self._proxied = {each.caller for each in observed.pairs if each.callee[1:] == _HANDLER}
        sites = graph.result.sites
        bytecode = np.flatnonzero(sites.origin == BYTECODE)
        self._bytecode, self._by_method = bytecode, Index(sites.method[bytecode])

    def blockers(self, row: Row) -> Sequence[Method | ReflectiveCall]:
        """Returns what would have had to happen before, one of them at least; nothing if the row is a root.

        A caller has to run, a receiver has to be made and be stored where it is read, a class has to be found by
        its name.
        """
        if isinstance(row, Pair) and (calls := self._reflecting(row)):
            return self._unless_found(calls)
        if row.caller is not None and not self._graph.reaches(row.caller):
            return [row.caller]
        if isinstance(row, ReflectiveCall):
            return self._lookups(row)
        if row.kind == INIT:
            return self._unless_found(self._finding.get(class_name(row.callee.declaring), ()))
        makers = self._made_by(row)
        if makers and not any(map(self._graph.reaches, makers)):
            return makers
        self._stores[row] = self._stores_before(row)
        return [each.event for each in self._stores[row]]

    def stored(self, row: Row) -> str:
        """Returns what would have stored the receiver of a row, if that is why there is none."""
        return "; ".join(
            f"{_place(event) if isinstance(event, ReflectiveCall) else event} {does} {field}"
            for event, does, field in self._stores.get(row, ())
        )

    def _stores_before(self, pair: Pair) -> list[Store]:
        """Returns what would have stored a receiver that the run lacks; the caller may run."""
        if pair.caller is None:
            return []
        return self._receivers.stores(self._sites_of(self._graph.ids[pair.caller], pair.callee))

    def is_come_to(self, row: Row) -> bool:
        """Returns whether the caller, or one that reflects, may run according to the run."""
        calls = self._reflecting(row) if isinstance(row, Pair) else ()
        return any(self._graph.reaches(each.caller) for each in calls or (row,))

    def _lookups(self, call: ReflectiveCall) -> Sequence[ReflectiveCall]:
        """Returns the missing calls that look up the class or the member on which `call` acts.

        The class counts only if the run lacks it, which may have it by other ways than by name.
        """
        if call.api in _ACTING and (missing := self._unless_found(self._finding.get(call.target, ()))):
            return missing
        name = call.target.partition("(")[0].rpartition(".")[0]
        if call.api in _NAMING or self._graph.has_class(name.replace(".", "/"), self._graph.sites_of(call)):
            return []
        return self._unless_found(self._finding.get(name, ()))

    def _unless_found(self, calls: Sequence[ReflectiveCall]) -> Sequence[ReflectiveCall]:
        return calls if self._missing.issuperset(calls) else []

    def _made_by(self, pair: Pair) -> list[Method]:
        """Returns the observed methods of which one makes the receiver, or the lambda, if that is known."""
        caller, callee = pair.caller, pair.callee
        if caller is None or callee.name in ("<init>", "<clinit>"):
            return []
        if (match := _LAMBDA.fullmatch(callee.name)) is not None:
            name = _SPECIAL_NAMES.get(match[1], match[1])
            return [each for each in self._graph.methods if each[:2] == (callee.declaring, name)]
        named = self._sites_of(self._graph.ids[caller], callee)
        virtual = any(self._graph.result.sites.kind[each] == VIRTUAL for each in named)
        return self._makers.get(callee.declaring, []) if virtual else []

    def _reflecting(self, pair: Pair) -> list[ReflectiveCall]:
        """Returns the reflective calls of which `pair` is the last step; a method may override the target."""
        if pair.caller is None or not is_machinery(pair.caller):
            return []
        named = self._acting.get((pair.callee.name, pair.callee.descriptor), ())
        exact = [each for each in named if each.target == str(pair.callee)]
        return exact or ([] if pair.callee.name == "<init>" else list(named))

    def of(self, row: Row) -> tuple[str, str]:
        """Returns the cause of a root, and what more there is to say of it."""
        if isinstance(row, ReflectiveCall):
            return self._of_reflective([row])
        if reflecting := self._reflecting(row):
            return self._of_reflective(reflecting)
        if row.caller is None:
            return MACHINE_CALL, ""
        absent = self._of_class(row.callee)
        return absent or (self._of_call(row) if row.kind == CALL else (NOT_INITIALISED, ""))

    def _of_class(self, method: Method) -> tuple[str, str] | None:
        type_ = self._graph.type_ids.get(method.declaring)
        if type_ is None:
            return (UNNAMED_CLASS if method.declaring in self._graph.classes else ABSENT_CLASS), ""
        return (ABSENT_CLASS, "") if self._graph.names.type_flags(type_) & PHANTOM else None

    def _of_reflective(self, calls: Sequence[ReflectiveCall]) -> tuple[str, str]:
        """Returns why none of these calls has the target."""
        for call in calls:
            for site in self._graph.sites_of(call):
                reason = f" ({site.reason})" if site.reason else ""
                return _REFLECTIVE[site.status], f"{_place(call)} {site.status}{reason}"
        return REFLECTION_NO_SITE, _place(calls[0])

    def _of_call(self, pair: Pair) -> tuple[str, str]:
        graph = self._graph
        assert pair.caller is not None
        caller, callee = graph.ids[pair.caller], graph.ids.get(pair.callee, NONE)
        if graph.names.method(caller).flags & NATIVE:
            return NATIVE_CALLER, ""
        named = self._sites_of(caller, pair.callee)
        if not named:
            return self._without_site(pair, caller, callee)
        if all(graph.result.sites.kind[each] != VIRTUAL for each in named):
            return NO_TARGET, ""
        targets = len(np.unique(graph.callee[np.isin(graph.result.call_site, named)]))
        made = self._has_instances(pair.callee)
        return (
            NO_RECEIVER if made else NO_INSTANCE,
            f"{targets} other targets" if targets else "no receiver at all",
        )

    def _without_site(self, pair: Pair, caller: int, callee: int) -> tuple[str, str]:
        """Returns why no call of the caller names the callee: something stands between them, or it isn't there."""
        assert pair.caller is not None
        if callee in self._graph.bodies or pair.callee.name.startswith("lambda$"):
            return NO_RECEIVER, "behind a lambda or a method reference"
        if (
            is_machinery(pair.caller)
            or pair.caller in self._proxied
            or any(each in _HANDLES for each in self._declared_in(caller))
        ):
            return HANDLE, ""
        return NO_SITE, ""

    def _has_instances(self, method: Method) -> bool:
        """Returns whether the run has objects of the method's class; subclasses decide if that is abstract."""
        type_ = self._graph.type_ids[method.declaring]
        if self._graph.names.type_flags(type_) & (ABSTRACT | INTERFACE):
            return True
        return bool((self._graph.result.objects.type == type_).any())

    def _sites_in(self, method: int) -> list[int]:
        """Returns the calls in the bytecode of a method."""
        found: list[int] = self._bytecode[self._by_method.positions(method)].tolist()
        return found

    def _sites_of(self, caller: int, callee: Method) -> list[int]:
        """Returns the calls in a method that, as far as their names say, may lead to `callee`."""
        sites, names = self._graph.result.sites, self._graph.names
        found = []
        for each in self._sites_in(caller):
            method = int(sites.callee[each])
            named = names.method(method)[1:3] if method >= 0 else names.signature(int(sites.signature[each]))
            declared = int(sites.declared[each])
            fits = callee.name != "<init>" or names.internal_type(declared) == callee.declaring
            if named == callee[1:] and fits:
                found.append(each)
        return found

    def _declared_in(self, method: int) -> Iterator[str]:
        """Yields the types that the calls of a method name."""
        for each in self._sites_in(method):
            declared = int(self._graph.result.sites.declared[each])
            if declared >= 0:
                yield self._graph.names.internal_type(declared)


def _place(call: ReflectiveCall) -> str:
    return f"{call.api.rpartition('.')[2]} at {call.caller.qualified}:{call.line}"


def _member(target: str) -> tuple[str, str]:
    """Returns name and descriptor of a target that is a method.

    >>> _member("a.B.m(La/C;)V")
    ('m', '(La/C;)V')
    """
    name, parenthesis, rest = target.partition("(")
    return name.rpartition(".")[2], parenthesis + rest
