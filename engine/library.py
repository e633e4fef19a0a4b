"""What follows when the library finds classes: it makes providers, annotations, proxies, bundles and objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice, product
from typing import Any

from cypher import schema
from cypher.program import ACC_STATIC, ANNOTATION, ENUM, INTERFACE
from cypher.schema import NONE, SPECIAL, STATIC
from engine import heap
from engine.constraints import CLASS, STRING, Constraints
from engine.effects import Effects
from engine.jni import Body
from engine.models import PROVIDERS, BodyModel, SiteCall
from engine.reflection import api
from engine.reflection import relations as rel
from engine.sites import REFLECTION

HANDLER = "sun/reflect/annotation/AnnotationInvocationHandler"
# The most combinations of interfaces for which a site makes proxies that implement them all.
_MOST_TOGETHER = 16
# From more providers than this, the JDK's code chooses its own by a table, which is not followed.
MOST_PROVIDERS = 4


class LibraryEffects:
    """Enters what follows from the rows of the rules for the library; `on_body` adds to the body of a method."""

    def __init__(
        self, constraints: Constraints, effects: Effects, on_body: Callable[[int, BodyModel], None]
    ) -> None:
        self._constraints, self._program, self._effects = constraints, constraints.program, effects
        self._on_body = on_body
        self._interfaces: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._proxies: set[tuple[int, tuple[int, ...]]] = set()
        self._annotations: dict[int, int] = {}
        self._parts: dict[int, list[int]] = {}
        self.by_head: dict[type, Callable[[Any], None]] = {
            rel.Provider: self._provide,
            rel.AnnotationObject: self._annotate,
            rel.ProxyInterface: self._make_proxies,
            rel.EnumConstants: self._list_constants,
            rel.BundleClass: self._make_bundle,
            rel.Allocated: self._allocate,
        }

    def _call_of(self, site: int) -> SiteCall:
        return self._effects.sites[site][1]

    def _provide(self, row: rel.Provider) -> None:
        """Makes a provider; every provider may be what a service loader returns."""
        call, providers = self._call_of(row.site), self._constraints.pool(PROVIDERS)
        many = len(self._program.providers_of(row.service)) > MOST_PROVIDERS
        if many and self._is_own(call, row.method):
            return
        if self._program.name_of_method(row.method)[1] == "<init>":
            self._construct(call, row.method, providers)
        else:
            self._run_static(call, row.method, providers)

    def _make_bundle(self, row: rel.BundleClass) -> None:
        call = self._call_of(row.site)
        name = self._program.name_of_type(self._program.name_of_method(row.method)[0])
        if not ("_" in name.rpartition("/")[2] and self._is_own(call, row.method)):
            self._construct(call, row.method, call.result)

    def _is_own(self, call: SiteCall, method: int) -> bool:
        """Returns whether the JDK's code finds a class of its own (see `engine.confined`)."""
        confined = self._constraints.confined
        return confined.covers_one(call.method) and confined.covers_one(method)

    def _construct(self, call: SiteCall, constructor: int, target: int) -> None:
        """Makes an object with its default constructor and puts it into `target`."""
        constraints = self._constraints
        declaring = self._program.name_of_method(constructor)[0]
        receiver = constraints.fresh()
        made = self._effects.instance(declaring, call)
        constraints.put(receiver, made)
        if target >= 0:
            constraints.put(target, made)
        constraints.initialise([declaring], call.method, call.offset, call.site)
        constraints.call(call.site, SPECIAL, constructor, receiver, (), NONE, call.thrown, REFLECTION)

    def _run_static(self, call: SiteCall, method: int, target: int) -> None:
        declaring = self._program.name_of_method(method)[0]
        self._constraints.initialise([declaring], call.method, call.offset, call.site)
        self._constraints.call(call.site, STATIC, method, NONE, (), target, call.thrown, REFLECTION)

    def _list_constants(self, row: rel.EnumConstants) -> None:
        call = self._call_of(row.site)
        self._run_static(call, row.method, call.result)

    def _allocate(self, row: rel.Allocated) -> None:
        call = self._call_of(row.site)
        self._constraints.initialise([row.type], call.method, call.offset, row.site)
        self._effects.give(row.site, [self._effects.instance(row.type, call)])

    # --- proxies
    def _make_proxies(self, row: rel.ProxyInterface) -> None:
        """Makes a proxy for the interface, and proxies for it together with what stands at the other places."""
        call, places = self._call_of(row.site), self._interfaces[row.site]
        places[row.place].append(row.type)
        self._make_proxy(call, (row.type,))
        length = self._effects.lengths.get((row.site, 1), 1)
        others = [[row.type] if place == row.place else places[place] for place in range(length)]
        if length > 1:
            for together in islice(product(*others), _MOST_TOGETHER):
                self._make_proxy(call, tuple(dict.fromkeys(together)))

    def _make_proxy(self, call: SiteCall, interfaces: tuple[int, ...]) -> None:
        if call.result < 0 or (call.site, interfaces) in self._proxies:
            return
        self._proxies.add((call.site, interfaces))
        type_ = self._program.proxy_of(interfaces)
        made = self._constraints.object(heap.REFLECTIVE, type_, call.method, call.offset, call.site)
        self._constraints.put(call.result, made)
        if call.argument(2) >= 0:
            self._construct_proxy(made, call.argument(2), call)

    def _construct_proxy(self, proxy: int, handler: int, call: SiteCall) -> None:
        """Runs the constructor of a proxy."""
        constraints, program = self._constraints, self._program
        type_ = constraints.heap.entry(proxy)[1]
        constructor = next(
            each for each in program.methods_of(type_) if program.name_of_method(each)[1] == "<init>"
        )
        receiver = constraints.fresh()
        constraints.put(receiver, proxy)
        constraints.call(call.site, SPECIAL, constructor, receiver, [(1, handler)], origin=REFLECTION)

    # --- annotations
    def _annotate(self, row: rel.AnnotationObject) -> None:
        each, call = self._effects.sites[row.site]
        for part in self._parts_of(row.type):
            if self._program.flags_of_type(part) & ENUM:
                self._constraints.initialise([part], call.method, call.offset, call.site)
            else:
                self._construct_annotation(part, call)
        made = self._annotation(row.type)
        type_ = row.type if each.subject >= 0 else self._program.type_named(api.ANNOTATION_CLASS)
        for _ in range(each.descriptor.count("[")):
            type_ = self._program.array_of(type_)
            made = self._array(type_, [made])
        self._effects.give(row.site, [made])

    def _parts_of(self, annotation: int) -> list[int]:
        """Returns a type of annotations, and the annotations and enums that such an annotation holds, at any depth."""
        if annotation not in self._parts:
            parts = {annotation: None}
            waiting = [annotation]
            while waiting:
                held = self._held_by(waiting.pop())
                waiting += [each for each in held if each not in parts]
                parts |= dict.fromkeys(held)
            self._parts[annotation] = list(parts)
        return self._parts[annotation]

    def _held_by(self, type_: int) -> list[int]:
        program = self._program
        if not program.flags_of_type(type_) & ANNOTATION:
            return []
        descriptors = [program.name_of_method(each)[2].lstrip("()[") for each in program.methods_of(type_)]
        held = [program.type_named(each[1:-1]) for each in descriptors if each[0] == "L"]
        return [each for each in held if each >= 0 and program.flags_of_type(each) & (ANNOTATION | ENUM)]

    def _annotation(self, type_: int) -> int:
        """Returns the object that stands for all annotations of a type: a proxy whose methods return their values."""
        if type_ not in self._annotations:
            proxy = self._program.annotation_proxy_of(type_)
            self._annotations[type_] = self._constraints.object(heap.REFLECTIVE, proxy)
            for method in self._program.methods_of(proxy)[1:]:
                self._on_body(method, BodyModel("", "", lambda _, body: self._return_value(type_, body)))
        return self._annotations[type_]

    def _construct_annotation(self, type_: int, call: SiteCall) -> None:
        if self._program.type_named(HANDLER) >= 0 and (call.site, (type_,)) not in self._proxies:
            self._proxies.add((call.site, (type_,)))
            handler = self._constraints.fresh()
            self._constraints.put(handler, self._effects.metaobject("handler", 0, HANDLER, heap.REFLECTIVE))
            self._construct_proxy(self._annotation(type_), handler, call)

    def _return_value(self, annotation: int, body: Body) -> None:
        """Returns what annotations give to an element: classes and texts, constants of enums, other annotations; and their type."""
        program, constraints = self._program, self._constraints
        _, name, descriptor = program.name_of_method(body.method)
        returned = descriptor.rpartition(")")[2]
        if body.parameters != 1 or returned[0] not in "L[":
            return
        types, texts = program.annotation_values(annotation, name)
        if name == "annotationType":
            types = [annotation]
        element = returned.lstrip("[")
        target = body.returned if element == returned else constraints.fresh()
        if element == f"L{CLASS};":
            for each in types:
                constraints.put(target, constraints.class_object(each))
                constraints.add(schema.ClassConstant, body.method, 0, each, target)
        elif element == f"L{STRING};":
            for each in texts:
                constraints.put(target, constraints.text_object(each))
                constraints.add(schema.StringConstant, body.method, 0, each, target)
        elif element[0] == "L":
            self._put_constants(program.type_named(element[1:-1]), target, body)
        if target != body.returned and program.type_named(returned) >= 0:
            array = constraints.object(heap.REFLECTIVE, program.type_named(returned), body.method)
            constraints.put(body.returned, array)
            constraints.add(schema.ArrayStore, body.method, 0, target, NONE, body.returned)

    def _put_constants(self, type_: int, target: int, body: Body) -> None:
        """Puts the constants of an enum, or the annotations of a type, into `target`."""
        program, constraints = self._program, self._constraints
        flags = program.flags_of_type(type_) if type_ >= 0 else 0
        if flags & ENUM:
            for field in program.fields_of(type_):
                if program.flags_of_field(field) & ENUM and program.flags_of_field(field) & ACC_STATIC:
                    constraints.add(schema.StaticLoad, body.method, 0, field, target)
        elif flags & INTERFACE and flags & ANNOTATION:
            constraints.put(target, self._annotation(type_))

    def _array(self, type_: int, elements: Sequence[int]) -> int:
        """Returns an array that holds `elements`."""
        constraints = self._constraints
        array, element, made = constraints.fresh(), constraints.fresh(), self._effects.array(type_)
        constraints.put(array, made)
        for each in elements:
            constraints.put(element, each)
        constraints.add(schema.ArrayStore, NONE, NONE, element, NONE, array)
        return made
