"""Reflective calls in an analysis: finds them, shows the rules what reaches their operands, and does what they derive."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.program import ACC_STATIC, APPLICATION
from cypher.schema import NONE, VIRTUAL, Facts, Int32, Rows
from engine import heap
from engine.asked import Among, Asked
from engine.bounded import ASCENDED, LISTED, LISTED_IN_ALL, NAMED, NAMED_IN_ALL, Bounded
from engine.confined import PROXIES_AS_GIVEN
from engine.constraints import CLASS, CONFINED_ENUMS, MADE_ARRAYS, STRING, Constraints
from engine.effects import Effects
from engine.handles import HandleEffects
from engine.kernel.index import OTHER, OUTSIDE, RESULT, TEXT, TYPE
from engine.library import LibraryEffects
from engine.local import local_calls
from engine.machine import BOOTSTRAPPING
from engine.models import FOUND_CLASSES, Models, SiteCall, calls_at, keep_argument
from engine.openness import Openness
from engine.reflection import api, generics, modes
from engine.reflection import relations as rel
from engine.reflection.api import API, Api
from engine.reflection.names import Members
from engine.rules import Derivation, Late, MakeApplier, Rules
from engine.sets import places_by_value
from engine.specification import Specification
from engine.specified import Specified

LOADER = "java/lang/ClassLoader"
ANNOTATION_TYPES = "types of annotations that the program has at run time"
# What beans are described, and the methods that descriptions are given.
BEAN_CLASSES, BEAN_METHODS = "classes of beans", "methods of properties of beans"
# Of how many classes a lookup may be that means a method of the reflective API.
FEW_CLASSES = 4
KNOWN_CLASSES = "known classes that class loaders of the program find"
_LIBRARY = (
    api.SERVICE,
    api.ANNOTATION,
    api.PROXY,
    api.ENUM_CONSTANTS,
    api.RESOURCE_BUNDLE,
    api.ALLOCATE,
    api.INITIALISE,
)
# In the JDK's code, these are analysed like any other method.
_BY_BODY = (api.RELATED, api.ARRAY_NEW, api.LIST_MEMBERS, api.NAME_OF)
# These return objects of the program.
_MAKING = (api.CLASS_NEW, api.CONSTRUCTOR_NEW, api.INVOKE, api.FIELD_GET, api.CALL_HANDLE)
# What a site returns, and what then is at an operand that this comes to.
_FOUND: dict[type, Any] = {
    rel.ClassObject: rel.ClassAt,
    rel.MethodObject: rel.MethodAt,
    rel.FieldObject: rel.FieldAt,
    rel.HandleObject: rel.HandleAt,
    rel.MadeHandle: rel.MadeAt,
    rel.MethodTypeObject: rel.MethodTypeAt,
    rel.TypeObject: rel.TypeAt,
    rel.TextObject: rel.StringAt,
    rel.UnknownObject: rel.UnknownAt,
    rel.UnknownText: rel.UnknownAt,
}
# Objects whose payload is what the rules see of them.
_AT: dict[int, Any] = {
    heap.CLASS_OBJECT: rel.ClassAt,
    heap.METHOD_OBJECT: rel.MethodAt,
    heap.FIELD_OBJECT: rel.FieldAt,
    heap.MADE_HANDLE: rel.MadeAt,
    heap.METHOD_TYPE: rel.MethodTypeAt,
    heap.TYPE_OBJECT: rel.TypeAt,
}
# What the rules see of the objects at an operand, by its type; of another type it may be any of these.
_TAKEN: dict[str, frozenset[Any]] = {
    CLASS: frozenset({rel.ClassAt}),
    STRING: frozenset({rel.StringAt}),
    api.METHOD: frozenset({rel.MethodAt}),
    api.CONSTRUCTOR: frozenset({rel.MethodAt}),
    api.FIELD: frozenset({rel.FieldAt}),
    api.COMPONENT: frozenset({rel.MethodAt}),
    api.PARAMETER: frozenset({rel.MethodAt}),
    api.HANDLE: frozenset({rel.HandleAt, rel.MadeAt}),
    api.VAR_HANDLE: frozenset({rel.FieldAt, rel.HandleAt, rel.MadeAt}),
    api.METHOD_TYPE_CLASS: frozenset({rel.MethodTypeAt}),
    **{f"java/lang/reflect/{each}": frozenset({rel.TypeAt}) for each in generics.INTERFACES},
}
_ANYTHING = frozenset[Any]().union(*_TAKEN.values())
# What the JDK's code may call out of whatever it keeps it in: only code outside makes these objects.
_HANDLES = Among((heap.HANDLE, heap.MADE_HANDLE))
# Objects that tell the rules something, and those that tell them nothing; others are unknown.
_KNOWN = Among((heap.CLASS_OF, heap.STRING, heap.HANDLE, *_AT))
_SILENT = Among((NONE, heap.GENERIC))


def _bound_of(each: Api, is_bounded: bool) -> Bounded:
    """Returns how many classes and members a call takes that lists what they have, which may be all, or names them."""
    if each.role == api.NAME_OF:
        return Bounded(NAMED, NAMED_IN_ALL)
    if not is_bounded:
        return Bounded(sys.maxsize)
    if each.sort in ("superclass", "generic superclass"):
        return Bounded(ASCENDED)
    return Bounded(LISTED, LISTED_IN_ALL)


class Reflection:
    """The reflective sites of an analysis under one mode."""

    def __init__(
        self, constraints: Constraints, mode: str, models: Models, specification: Specification,
        applier: MakeApplier,
    ) -> None:  # fmt: skip
        self._constraints = constraints
        self._class_calls = models.class_calls
        self._program = constraints.program
        rules, self.members = modes.rules_in(mode), Members(self._program)
        known = {"program": self._program, "members": self.members}
        self.rules = Rules(rules, known, applier(self._program, rules))
        self._mode = mode
        self._effects = Effects(constraints)
        self.handles = HandleEffects(constraints, self._effects, self._ask_handle)
        library = LibraryEffects(constraints, self._effects, models.on_body)
        self.on_derived = self._effects.by_head | self.handles.by_head | library.by_head
        self.sites = self._effects.sites
        self.specified = Specified(constraints, self.rules, self.members, specification)
        # By call, the operands of combined handles.
        self.combined: dict[int, dict[int, None]] = defaultdict(dict)
        self.derivations: list[Derivation] = []
        # By relation and call of the program, the (member, kind) of the handles that it finds or calls.
        self.handles_at: dict[tuple[type, int], dict[tuple[int, int], None]] = defaultdict(dict)
        self._watched: set[int] = set()
        self._confined = constraints.confined
        # Operands that get what a site returns by direct flow.
        self._dependents: dict[int, set[int]] = defaultdict(set)
        # By operand, the calls of getClass whose class objects come to it; whether they were found by direct flow.
        self._symbolic: dict[int, dict[int, bool]] = defaultdict(dict)
        self._returned: dict[int, list[int]] = {}  # those to which the last search of direct flow led
        self._bounded: dict[int, Bounded] = {}  # by operand
        self._grown: set[int] = set()  # of these, the ones to which more came since it was asked how much
        self._of_arrays: set[int] = set()  # operands where only classes of arrays tell anything
        # By operand and call of getClass: how many it was shown of the classes that the call returns.
        self._shown: dict[tuple[int, int], int] = {}
        # What came to operands by direct flow since the rules were last run.
        self._arrived: dict[type, list[tuple[Any, ...]]] = defaultdict(list)
        # By operand, the classes that the rules were shown.
        self._classes_at: dict[int, set[int]] = defaultdict(set)
        # By call of getClass: how many objects it asks, and their types.
        self._classes: dict[int, tuple[int, Int32]] = {}
        # By call of getClass: the open calls of whose results it returns an unknown class.
        self._unknown_of: dict[int, set[int]] = defaultdict(set)
        self._own: dict[int, list[int]] = defaultdict(list)  # of these types, those of the application
        self._is_own = Asked(
            lambda type_: type_ >= 0 and bool(self._program.flags_of_type(type_) & APPLICATION)
        )
        self._asks_standing: set[int] = set()  # of these, the ones that ask arrays that stand for others
        self._takes: dict[int, frozenset[Any]] = {}  # by operand, what the rules are to see of it
        # By operand in the JDK's code, what stands for it outside, and the variables that this gets its objects from.
        self._outside: dict[int, int] = {}
        self._operand: dict[int, int] = {}  # the other way
        self._feeds: dict[int, set[int]] = defaultdict(set)
        self._bound: dict[int, int] = {}  # by operand, where the objects are whose class it is (`bind`)
        # Of what the program hands to the JDK, the rules that act on it run the initialisers; so they do of all for
        # which there are handles.
        self._closed: set[int] = set()
        self.casts = Late(self.rules, at_once=mode not in modes.ASKING_CASTS)
        self._expected: dict[int, int] = {}  # of what classes are at it (`Confined.expects`)
        self._fresh_watches: list[int] = []
        self._linking: list[int] = []
        self._api = {method: each for each in API for method in self._methods(each)}
        self._effects.is_reflective = self._api.__contains__
        self._is_reflective, self._stands_for = Among(self._api), Among(filter(self._is_final, self._api))
        load = next((method for method, each in self._api.items() if each.owner == LOADER), NONE)
        self._load_signature = self._program.signature_of(load) if load >= 0 else NONE
        self._loader = self._program.type_named(LOADER)
        self._load_api = next(each for each in API if each.owner == LOADER)

    def _methods(self, each: Api) -> list[int]:
        """Returns the methods of the program that an entry of the table stands for."""
        type_ = self._program.type_named(each.owner)
        if type_ < 0:
            return []
        named = [(method, self._program.name_of_method(method)) for method in self._program.methods_of(type_)]
        return [
            method
            for method, (_, name, descriptor) in named
            if name == each.name and each.descriptor in ("", descriptor)
        ]

    def counts(self, each: Api) -> bool:
        """Returns whether calls of a method have an effect in this mode."""
        return each.always or self.follows(each.role)

    def follows(self, role: str) -> bool:
        """Returns whether calls of this role have an effect in this mode."""
        return modes.follows(self._mode, role)

    def is_api(self, callees: Int32) -> NDArray[np.bool_]:
        """Returns which methods are final ones of the reflective API: rules stand for them, in this mode or another.

        So that modes are ordered, nothing is told of what their bodies do with metaobjects in any.
        """
        return self._stands_for.many(callees)

    def _is_final(self, method: int) -> bool:
        """Returns whether a method is a final one of the reflective API."""
        owner = self._api[method].owner
        return owner not in (LOADER, api.ARRAY, api.INTROSPECTOR, *api.DESCRIPTORS, *api.UNSAFES)

    # --- finding sites
    def on_sites(self, facts: Facts) -> Int32:
        """Enters the reflective calls of a batch; returns the sites whose results the rules or the user supply."""
        kept = [*self._enter_reflective(facts), *self.specified.answer(facts, self.sites)]
        return np.array(kept, np.int32)

    def _enter_reflective(self, facts: Facts) -> list[int]:
        """Enters the reflective calls of a batch; returns the sites whose results the rules supply."""
        invoke = facts[schema.Invoke]
        mask = self._is_reflective.many(invoke.callee)
        if self._load_signature >= 0:
            mask |= (invoke.signature == self._load_signature) & (invoke.kind == VIRTUAL)
        found = np.flatnonzero(mask)
        if found.size == 0:
            return []
        self._note_exact_arguments(facts, invoke.site[found])
        if casts := facts.get(schema.ResultCast):
            self._enter_casts(casts, invoke)
        kept = []
        for call, callee in zip(calls_at(facts, found), invoke.callee[found].tolist(), strict=True):
            each = self._api.get(callee)
            if each is None and callee >= 0:
                declaring = self._program.name_of_method(callee)[0]
                if self._loader in self._program.supertypes_of(declaring):
                    each = self._load_api
            if each is None or self._is_by_body(each, call):
                continue
            self._enter(each, call, callee)
            if each.cut and each.owner in api.LINKING:
                self._linking.append(call.site)
            if self._effects.supplies(each, call):
                kept.append(call.site)
        if self.is_local:
            listed = [self.sites[site] for site in invoke.site[found].tolist() if site in self.sites]
            local: Any = local_calls(facts, listed, self._program)
            self.rules.add({rel.Local: [rel.Local(*row) for row in local]})
        return kept

    def _is_by_body(self, each: Api, call: SiteCall) -> bool:
        """Returns whether a call is analysed like that of any other method; so are those of names that rules don't follow."""
        if each.role not in _BY_BODY:
            return False
        return self._confined.covers_one(call.method) or (each.role == api.NAME_OF and not self.counts(each))

    def _enter_casts(self, casts: Rows, invoke: Rows) -> None:
        """Has the rules told, when all else is done, of casts of what reflective calls return."""
        inside = self._confined.covers(invoke.method[casts.site - invoke.site[0]])
        rows: Any = zip(casts.site.tolist(), casts.type.tolist(), inside.astype(int).tolist(), strict=True)
        self.casts.add([rel.ResultCast(*row) for row in rows])

    @property
    def is_local(self) -> bool:
        """Returns whether only calls that their own methods decide have an effect in this mode."""
        return self._mode == modes.LOCAL

    def is_within_method(self, site: int) -> bool:
        """Returns whether constants of its method decide what a call does, as mode `local` has it."""
        return bool(self.rules.tables[rel.Local].where(site=site))

    def openness(self) -> Openness:
        """Returns which calls are open."""
        bounding = self._mode in modes.ASKING_CASTS
        return Openness(
            self.rules, self._program, self.sites, self.specified.operands, self.specified.answered,
            self.combined, bounding,
        )  # fmt: skip

    def on_constants(self, facts: Facts) -> None:
        """Enters constant method handles, and the method objects that proxies pass on."""
        handles, methods = facts.get(schema.HandleConstant), facts.get(schema.MethodConstant)
        if handles:
            self.handles.enter_constants(handles)
        if methods:
            for method, target in zip(methods.callee.tolist(), methods.target.tolist(), strict=True):
                self._constraints.put(target, self._effects.method_object(method))

    def _note_exact_arguments(self, facts: Facts, sites: Int32) -> None:
        exact = facts.get(schema.ExactArgument)
        if exact is None:
            return
        exact = exact.take(np.isin(exact.site, sites))
        for site, position, length, index, variable in zip(
            *(column.tolist() for column in exact), strict=True
        ):
            self._effects.lengths[site, position] = length
            if index >= 0:
                self._effects.exact[site][position, index] = variable

    def _enter(self, each: Api, call: SiteCall, callee: int) -> None:
        if each.role == api.BEAN:
            self._enter_bean(each, call, callee)
            return
        types = self._parameters(callee)
        if each.owner in api.DESCRIPTORS:
            call, types = self._with_beans(call), [CLASS]
        if each.sort == "component":
            call, operand = self._with_own_operand(each, call)
            self._of_arrays.add(operand)
        elif each.role in (api.LIST_MEMBERS, api.RELATED, api.NAME_OF):
            call, operand = self._with_own_operand(each, call)
            self._bounded[operand] = _bound_of(each, self._constraints.precision.bound_lists)
        elif each.role == api.ARRAY_NEW and call.result >= 0:  # (whatever of its class is known)
            made = self._constraints.pool(MADE_ARRAYS)
            self._constraints.add(schema.Assign, call.method, call.offset, made, call.result)
        self.sites[call.site] = each, call
        if not self.counts(each):
            return
        add = self.rules.add
        site: Any = call.site
        subject: Any = call.argument(each.subject) if each.subject >= 0 else NONE
        named: Any = call.argument(each.named) if each.named >= 0 else NONE
        for position in (each.subject, each.named):
            if position >= 0:
                self._ask(call.argument(position), call.method, types[position])
        trusted = int(each.owner not in api.CHECKING or self._confined.covers_one(call.method))
        self.specified.enter(each, call)
        if each.role == api.FOR_NAME:
            add({rel.ForName: [rel.ForName(site, named, int(each.initialises))]})
            add({rel.StringAt: [rel.StringAt(named, text) for text in self._confined.composed(call.method)]})
            # (the JVM itself takes only the class of that name from a loader)
            if each.owner == LOADER and call.result >= 0 and not self._confined.covers_one(call.method):
                self._watch(self._constraints.pool(FOUND_CLASSES))
                found = self._constraints.pool(KNOWN_CLASSES)
                self._constraints.add(schema.Assign, call.method, call.offset, found, call.result)
        elif each.role == api.GET_MEMBER:
            add({rel.GetMember: [rel.GetMember(site, each.sort, int(each.declared), subject, named)]})
            self._ask_parameters(each, call)
            if not each.cut:
                itself: Any = NONE
                add({rel.OffsetCall: [rel.OffsetCall(site, itself, self._scope(each, call))]})
        elif each.role == api.LIST_MEMBERS:
            add({rel.ListMembers: [rel.ListMembers(site, each.sort, int(each.declared), subject)]})
        elif each.role == api.RELATED:
            add({rel.RelatedCall: [rel.RelatedCall(site, each.sort, subject)]})
        elif each.role == api.NAME_OF:
            add({rel.NameCall: [rel.NameCall(site, each.sort, subject)]})
        elif each.role == api.ARRAY_NEW:
            few: Any = self._with_own_operand(each, call)[1]
            many: Any = self._constraints.fresh()
            self._bounded[few] = Bounded(LISTED, LISTED_IN_ALL, others=many)
            self._ask(few, call.method, CLASS)
            add({rel.ArrayCall: [rel.ArrayCall(site, subject, few, many, int(each.takes_lengths))]})
        elif each.role == api.CLASS_NEW:
            add({rel.NewInstanceCall: [rel.NewInstanceCall(site, subject, trusted)]})
        elif each.role in (api.CONSTRUCTOR_NEW, api.INVOKE):
            relation: Any = rel.ConstructorCall if each.role == api.CONSTRUCTOR_NEW else rel.InvokeCall
            add({relation: [relation(site, subject, trusted, self._effects.passed(each, call))]})
        elif each.role in (api.FIELD_GET, api.FIELD_SET):
            add({rel.FieldCall: [rel.FieldCall(site, subject, int(each.role == api.FIELD_SET), trusted)]})
        elif each.role in _LIBRARY:
            self._enter_library(each, call, subject, named)
        else:
            self._enter_linking(each, call, callee, subject, named)

    def _enter_bean(self, each: Api, call: SiteCall, callee: int) -> None:
        """Notes the bean of which a call asks for descriptions, and the methods that it gives one."""
        if self._confined.covers_one(call.method) or not self.follows(api.LIST_MEMBERS):
            return
        if each.subject >= 0:
            keep_argument(self._constraints, call, each.subject, BEAN_CLASSES)
            self._enter_accessors(each, call, callee)
            return
        for position, type_ in enumerate(self._parameters(callee)):
            if type_ == api.METHOD:
                keep_argument(self._constraints, call, position, BEAN_METHODS)

    def _enter_accessors(self, each: Api, call: SiteCall, callee: int) -> None:
        """Finds the methods of a bean that the constructor of a description names: descriptions are given these."""
        names = [
            at for at, type_ in enumerate(self._parameters(callee)) if type_ == STRING and at > each.subject
        ]
        if not names:
            return
        named: Any = self._constraints.fresh()
        for position in names:
            if call.argument(position) >= 0:
                self._constraints.add(schema.Assign, call.method, call.offset, call.argument(position), named)
        site: Any = call.site
        subject: Any = call.argument(each.subject)
        finding = each._replace(role=api.GET_MEMBER, named=names[0], sort="method", cut=True)
        arguments = {**call.arguments, names[0]: named}
        self.sites[site] = (
            finding,
            call._replace(arguments=arguments, result=self._constraints.pool(BEAN_METHODS)),
        )
        self._ask(subject, call.method, CLASS)
        self._ask(named, call.method, STRING)
        self.rules.add({rel.GetMember: [rel.GetMember(site, "method", 0, subject, named)]})

    def _with_beans(self, call: SiteCall) -> SiteCall:
        """Returns a call of a description that asks all beans, and returns the methods that descriptions are given, too."""
        if call.result >= 0:
            given = self._constraints.pool(BEAN_METHODS)
            self._constraints.add(schema.Assign, call.method, call.offset, given, call.result)
        return call._replace(arguments={**call.arguments, 0: self._constraints.pool(BEAN_CLASSES)})

    def _with_own_operand(self, each: Api, call: SiteCall) -> tuple[SiteCall, int]:
        """Returns a call with an operand of its own, of which not all that comes is shown, and this operand."""
        subject, own = call.argument(each.subject), self._constraints.fresh()
        if subject >= 0:
            self._constraints.add(schema.Assign, call.method, call.offset, subject, own)
        return call._replace(arguments={**call.arguments, each.subject: own}), own

    def _enter_library(self, each: Api, call: SiteCall, subject: Any, named: Any) -> None:
        """Enters a call by which the library finds classes."""
        add = self.rules.add
        site: Any = call.site
        if each.role == api.SERVICE:
            add({rel.ServiceCall: [rel.ServiceCall(site, subject)]})
        elif each.role == api.ANNOTATION:
            which = subject if each.subject >= 0 else self._annotation_types()
            add({rel.AnnotationCall: [rel.AnnotationCall(site, which)]})
        elif each.role == api.ENUM_CONSTANTS:
            inside = self._confined.covers_one(call.method)
            add({rel.EnumCall: [rel.EnumCall(site, subject, int(inside))]})
            if inside:
                # More ways lead here than direct flow follows: so all that the closure has, and what it doesn't tell apart.
                self._feed(subject, subject)
                self._feed(subject, self._constraints.pool(CONFINED_ENUMS))
        elif each.role == api.RESOURCE_BUNDLE:
            add({rel.BundleCall: [rel.BundleCall(site, named)]})
        elif each.role == api.INITIALISE:
            inside = self._confined.covers_one(call.method)
            if not (inside and self._constraints.outermost(call.method).startswith("java/lang/invoke/")):
                add({rel.InitialiseCall: [rel.InitialiseCall(site, subject)]})
            if inside:
                self._closed.add(subject)
        elif each.role == api.ALLOCATE:
            add({rel.AllocateCall: [rel.AllocateCall(site, subject)]})
        else:
            add({rel.ProxyCall: [rel.ProxyCall(site)]})
            self._ask_parameters(each, call)
            if (call.site, each.classes) not in self._effects.lengths and call.argument(each.classes) >= 0:
                elements: Any = self._effects.elements(call, call.argument(each.classes))
                given = self._constraints.outermost(call.method) in PROXIES_AS_GIVEN
                self._ask(elements, NONE if given else call.method, CLASS)
                add({rel.ParameterVariable: [rel.ParameterVariable(site, 0, elements)]})

    def _annotation_types(self) -> Any:
        """Returns the pointer to the classes of the annotations of which calls that name none may return some."""
        pool = self._constraints.pool(ANNOTATION_TYPES)
        if pool not in self._watched:
            self._watch(pool)
            for each in self._program.annotation_types():
                self._constraints.put(pool, self._constraints.class_object(each))
        return pool

    def _scope(self, each: Api, call: SiteCall) -> str:
        """Returns who sees the offsets of fields that a site asks for: a class with its members, or the application."""
        if each.owner == api.UPDATER:
            return each.owner
        if not self._confined.covers_one(call.method):
            return "application"
        return self._constraints.outermost(call.method)

    def _enter_linking(self, each: Api, call: SiteCall, callee: int, subject: Any, named: Any) -> None:
        """Enters a call of java.lang.invoke or `Unsafe`."""
        add = self.rules.add
        site: Any = call.site
        if each.role == api.OFFSET:
            add({rel.OffsetCall: [rel.OffsetCall(site, subject, self._scope(each, call))]})
        elif each.role == api.MEMORY:
            self.handles.enter_memory(call)
            add({rel.MemoryCall: [rel.MemoryCall(site, self._scope(each, call))]})
        elif each.role == api.ARRAY_VAR_HANDLE:
            add({rel.ArrayHandleCall: [rel.ArrayHandleCall(site)]})
        elif each.role == api.METHOD_TYPE:
            self._enter_type(each, call)
        elif each.role == api.FIND_HANDLE:
            type_: Any = call.argument(each.typed)
            watched = not self._confined.covers_one(call.method)
            self._ask(type_, call.method, api.METHOD_TYPE_CLASS, watched)
            if each.target >= 0:
                subject = self._bind(each, call)
            add({rel.LookupCall: [rel.LookupCall(site, each.kind, subject, named, type_)]})
        elif each.role == api.UNREFLECT:
            add({rel.UnreflectCall: [rel.UnreflectCall(site, kind, subject) for kind in each.kinds]})
        elif each.role == api.CALL_HANDLE:
            # (the bootstrap methods that the JDK calls are those that call sites call, see `loader.dynamic`)
            if self._constraints.outermost(call.method) not in BOOTSTRAPPING:
                self.handles.enter_call(each, call)
                self._watch(subject)
                add({rel.HandleCall: [rel.HandleCall(site, subject)]})
        elif each.role == api.MAKE_HANDLE and self._effects.supplies(each, call):
            self.handles.enter_made(each, call, self._parameters(callee))
            add({rel.MakeCall: [rel.MakeCall(site)]})
        elif each.owner == api.HANDLE and call.argument(0) >= 0 <= call.result:
            self._constraints.add(schema.Assign, call.method, call.offset, call.argument(0), call.result)

    def _bind(self, each: Api, call: SiteCall) -> Any:
        """Has a call that finds a handle by an object bind it to this; returns the operand for the class of that object."""
        operand, receiver = self._constraints.fresh(), call.argument(each.target)
        site: Any = call.site
        if receiver >= 0 and self._effects.supplies(each, call):
            self._bound[operand] = receiver
            self.handles.enter_bound(each, call, receiver)
            self.rules.add({rel.MakeCall: [rel.MakeCall(site)]})
        return operand

    def _parameters(self, method: int) -> list[str]:
        """Returns the names of the types of a method's parameters, the receiver's first, "" for primitive ones."""
        program = self._program
        declaring = program.name_of_method(method)[0]
        own = [] if program.flags_of_method(method) & ACC_STATIC else [declaring]
        return [
            program.name_of_type(each) if each >= 0 else ""
            for each in (*own, *program.parameter_types(method))
        ]

    def _ask_handle(self, invocation: int, pointer: int, method: int) -> None:
        """Asks which handles come to an operand of a combined handle that `method` made."""
        at: Any = pointer
        self._ask(pointer, method, api.HANDLE)
        self.combined[self.handles.site_of(invocation)][pointer] = None
        self.rules.add({rel.HandleCall: [rel.HandleCall(invocation, at)]})  # type: ignore[arg-type]

    def _enter_type(self, each: Api, call: SiteCall) -> None:
        """Tells the rules which classes a method type lists, at place -1 what is returned."""
        site: Any = call.site
        single = each.descriptor.partition(")")[0].count(f"L{CLASS};") - (each.classes >= 0)
        listed = {place: call.argument(place + 1) for place in range(-1, single - 1)}
        length = single - 1
        if each.classes >= 0:
            rest = self._effects.lengths.get((call.site, each.classes))
            if rest is None and call.argument(each.classes) >= 0:
                self._return_unknown_type(call)
                return
            length = single - 1 + (rest or 0)
            for (position, index), variable in self._effects.exact[call.site].items():
                if position == each.classes:
                    listed[single - 1 + index] = variable
        rows: list[Any] = []
        for place, variable in listed.items():
            self._ask(variable, call.method, CLASS)
            rows.append(rel.ParameterVariable(site, place, variable))  # type: ignore[arg-type]
        self.rules.add(
            {
                rel.ParameterClasses: [rel.ParameterClasses(site, length)],
                rel.ParameterVariable: rows,
                rel.MethodTypeCall: [rel.MethodTypeCall(site)],
            }
        )

    def _return_unknown_type(self, call: SiteCall) -> None:
        """Has a call outside the JDK return a method type of which nothing is known."""
        if call.result >= 0 and not self._confined.covers_one(call.method):
            type_ = self._program.type_named(api.METHOD_TYPE_CLASS)
            unknown = self._constraints.object(heap.UNKNOWN, type_, call.method, call.offset)
            self._constraints.put(call.result, unknown)

    def _ask_parameters(self, each: Api, call: SiteCall) -> None:
        """Tells the rules which parameter classes a member call names, if its array is exact or null."""
        if each.classes < 0:
            return
        site: Any = call.site
        length = self._effects.lengths.get((call.site, each.classes))
        if length is None:
            if call.argument(each.classes) >= 0:
                return
            length = 0
        self.rules.add({rel.ParameterClasses: [rel.ParameterClasses(site, length)]})
        for (position, index), variable in self._effects.exact[call.site].items():
            if position == each.classes and variable >= 0:
                self._ask(variable, call.method, CLASS)
                at: Any = variable
                self.rules.add({rel.ParameterVariable: [rel.ParameterVariable(site, index, at)]})

    def _take(self, pointer: int, type_: str) -> None:
        """Has the rules see those objects at an operand that are of its type."""
        self._takes[pointer] = self._takes.get(pointer, frozenset()) | _TAKEN.get(type_, _ANYTHING)

    def _ask(self, pointer: int, method: int, type_: str, watch: bool = True) -> None:
        """Watches an operand of this type; what resolves it may be confined."""
        if pointer < 0:
            return
        self._take(pointer, type_)
        self._confined.operands[pointer] = self._confined.covers_one(method)
        if self._confined.operands[pointer]:
            self._expected[pointer] = self._confined.expects(method)
        if watch and not self._confined.operands[pointer]:
            self._watch(pointer)

    def _watch(self, pointer: int) -> None:
        if pointer >= 0 and pointer not in self._watched:
            self._watched.add(pointer)
            self._fresh_watches.append(pointer)

    def flush(self) -> None:
        """Asks the solver to watch the operands that were found."""
        if self._fresh_watches:
            pointers = np.array(self._fresh_watches, np.int32)
            self._fresh_watches = []
            self._constraints.solver.watch(pointers, pointers)

    # --- what reaches operands
    def observe(self, pointers: Int32, objects: Int32, types: Int32) -> None:
        """Shows the rules new pairs of watched pointers and objects; `types` are those that class objects stand for."""
        classes = types >= 0
        self._observe_classes(pointers[classes], objects[classes], types[classes])
        self._observe_others(pointers[~classes], objects[~classes])

    def _observe_others(self, pointers: Int32, objects: Int32) -> None:
        """Shows the rules new pairs of watched pointers and objects, which are no constant class objects."""
        kinds, payloads = self._constraints.heap.kinds_and_payloads(objects)
        distinct, at = np.unique(pointers, return_inverse=True)
        operands = distinct.tolist()
        watched = np.array([each in self._watched for each in operands], bool)[at]
        confined = np.array([bool(self._confined.operands.get(each)) for each in operands], bool)[at]
        finding = pointers == self._constraints.pool(FOUND_CLASSES)
        for obj, kind in zip(objects[finding].tolist(), kinds[finding].tolist(), strict=True):
            self._find(obj, kind)
        shown = watched & ~finding & (~confined | _HANDLES.many(kinds))
        known = _KNOWN.many(kinds)
        for kind in np.unique(kinds[shown & known]).tolist():
            listed = np.flatnonzero(shown & (kinds == kind))
            for pointer, places in places_by_value(pointers[listed]):
                self._observe_known(pointer, kind, payloads[listed[places]].tolist())
        listed = np.flatnonzero(shown & ~known & ~_SILENT.many(kinds))
        made = np.where(kinds[listed] == heap.UNKNOWN, payloads[listed], NONE)
        for pointer, places in places_by_value(pointers[listed]):
            self._arrive(rel.UnknownAt, pointer, [(site,) for site in dict.fromkeys(made[places].tolist())])

    def _observe_known(self, pointer: int, kind: int, payloads: Sequence[int]) -> None:
        """Shows the rules what objects of a kind at a pointer tell them."""
        if kind == heap.CLASS_OF:
            if self._is_taken(rel.ClassAt, pointer):
                self._symbolic[pointer].update(dict.fromkeys(payloads, False))
        elif kind == heap.STRING:
            self._arrive(rel.StringAt, pointer, ((self._program.text(each),) for each in payloads))
        elif kind == heap.HANDLE:
            handles = ((heap.member_of_handle(each), heap.kind_of_handle(each)) for each in payloads)
            self._arrive(rel.HandleAt, pointer, handles)
        else:
            self._arrive(_AT[kind], pointer, zip(payloads, strict=True))

    def _observe_classes(self, pointers: Int32, objects: Int32, types: Int32) -> None:
        """Shows the rules new pairs of pointers and constant class objects."""
        for pointer, listed in places_by_value(pointers):
            if pointer == self._constraints.pool(FOUND_CLASSES):
                for obj in objects[listed].tolist():
                    self._find(obj, heap.CLASS_OBJECT)
            elif pointer in self._watched and not self._confined.operands.get(pointer):
                self._arrive_classes(pointer, types[listed].tolist())

    def _find(self, obj: int, kind: int) -> None:
        """Has calls of `loadClass` return a class that the program's own loaders find, if it is known.

        Another is the class that they are asked for: that is what class loaders return.
        """
        if kind in (heap.CLASS_OBJECT, heap.CLASS_OF):
            self._constraints.put(self._constraints.pool(KNOWN_CLASSES), obj)

    def _arrive(self, relation: Any, pointer: int, columns: Iterable[tuple[Any, ...]]) -> None:
        """Shows the rules what comes to a pointer: rows of a relation, by their other columns."""
        if relation is rel.ClassAt:
            self._arrive_classes(pointer, [type_ for (type_,) in columns])
            return
        operand = self._operand.get(pointer, pointer)
        if relation is not rel.UnknownAt and not self._is_taken(relation, operand):
            return
        if relation is rel.UnknownAt or operand not in self._bounded:
            self._arrived[relation] += [relation(operand, *each) for each in columns]
        elif self._bounded[operand].takes_members:
            self._bounded[operand].members.update((relation(operand, *each), None) for each in columns)
            self._grown.add(operand)

    def _arrive_classes(self, pointer: int, types: Iterable[int]) -> None:
        """Shows the rules the classes that come to a pointer."""
        operand: Any = self._operand.get(pointer, pointer)
        if not self._is_taken(rel.ClassAt, operand):
            return
        if operand in self._bounded and not self._bounded[operand].takes_constants:
            constants = list(types)
            self._bounded[operand].take_constants(constants, list(filter(self._is_own.one, constants)))
            self._grown.add(operand)
            return
        expected, known = self._expected.get(operand, NONE), self._classes_at[operand]
        fresh: Any = [each for each in types if each not in known]
        known.update(fresh)
        if operand in self._of_arrays:
            fresh = [each for each in fresh if each >= 0 and self._program.name_of_type(each)[0] == "["]
        elif expected >= 0:
            fresh = [each for each in fresh if each >= 0 and expected in self._program.supertypes_of(each)]
        self._arrived[rel.ClassAt] += [rel.ClassAt(operand, each) for each in fresh]

    def _is_taken(self, relation: type, pointer: int) -> bool:
        """Returns whether the rules are to see objects of this kind at a pointer."""
        return relation in self._takes.get(self._operand.get(pointer, pointer), _ANYTHING)

    def _feed(self, operand: int, variable: int) -> None:
        """Has an operand in the JDK's code get all that comes to a variable outside."""
        if variable in self._feeds[operand] or operand in self._closed:
            return
        self._feeds[operand].add(variable)
        if operand not in self._outside:
            self._outside[operand] = self._constraints.fresh()
            self._operand[self._outside[operand]] = operand
            self._watch(self._outside[operand])
        self._constraints.add(schema.Assign, NONE, NONE, variable, self._outside[operand])

    def search(self) -> None:
        """Shows the rules what comes to operands by direct flow (see `engine.confined`)."""
        constraints, solver = self._constraints, self._constraints.solver
        # Handles and the like come from the sites that find them, whatever the bodies of these methods return.
        cut = constraints.sites.cut_mask()
        cut[self._linking] = True
        found = self._confined.search(
            solver,
            constraints.batches,
            constraints.parameters.values(),
            constraints.variables.values(),
            cut,
            self.is_api,
            self._symbolic,
        )
        for operand, origins in found:
            self._arrive_from(origins, operand)
        self._show_classes()
        self._ask_unknown()
        for operand, receiver in self._bound.items():
            of_receiver = solver.types_of(solver.objects_of(receiver))
            self._arrive_classes(operand, np.unique(of_receiver).tolist())
        for pointer, calls in self._symbolic.items():
            if not all(calls.values()):
                self._arrive(rel.UnknownAt, pointer, [(NONE,)])

    def _arrive_from(self, origins: Iterable[tuple[int, int]], operand: int) -> None:
        """Shows the rules what comes to an operand by direct flow; what calls of getClass return, `_show_classes` does."""
        inside = self._confined.operands.get(operand)
        returned: list[int] = []
        types: list[int] = []
        for kind, value in origins:
            if kind == RESULT and value in self._class_calls:
                returned.append(value)
            elif kind == RESULT and value in self.sites:
                self._depend(operand, value)
            elif kind == OUTSIDE:
                self._feed(operand, value)
            elif inside and kind == TEXT:
                self._arrive(rel.StringAt, operand, [(self._program.text(value),)])
            elif inside and kind == TYPE:
                types.append(value)
            elif inside and kind == OTHER:
                self._arrive(rel.UnknownAt, operand, [(NONE,)])
        self._returned[operand] = returned
        if types:
            self._arrive_classes(operand, types)

    def _show_classes(self) -> None:
        """Shows the rules the classes that calls of getClass return from which their results come by direct flow."""
        arriving: dict[int, list[Int32]] = defaultdict(list)
        classes: dict[int, Int32] = {}
        for operand, sites in self._returned.items():
            if not sites:
                continue
            symbolic = self._symbolic[operand]
            takes = self._confined.operands.get(operand) and self._is_taken(rel.ClassAt, operand)
            for site in sites:
                if not (takes or site in symbolic):
                    continue
                if site not in classes:
                    classes[site] = self._classes_of(site)
                listed, shown = classes[site], self._shown.get((operand, site), 0)
                symbolic[site] = True
                if operand in self._bounded:
                    if self._bounded[operand].take_objects(site, listed, self._own[site]):
                        self._grown.add(operand)
                elif shown < listed.size:
                    self._shown[operand, site] = listed.size
                    arriving[operand].append(listed[shown:])
                if operand in self._of_arrays and site in self._asks_standing:
                    self._arrive(rel.UnknownAt, operand, [(NONE,)])
        for operand, parts in arriving.items():
            fresh = np.unique(np.concatenate(parts))
            if self._confined.operands.get(operand):
                fresh = fresh[~self._confined.confines(fresh)]
            self._arrive_classes(operand, fresh.tolist())

    def _ask_unknown(self) -> None:
        """Has calls of getClass return unknown classes, of what open calls return.

        Such an object is in no points-to set: it is followed by direct flow, outside the JDK.
        """
        asking = dict.fromkeys(
            site
            for operand, calls in self._symbolic.items()
            if not self._confined.operands.get(operand)
            for site in calls
        )
        for site in asking:
            call = self._class_calls[site]
            if self._confined.covers_one(call.method):
                continue
            for kind, value in self._confined.origins(call.argument(0)):
                if kind == RESULT and value not in self._unknown_of[site] and self._makes_unknown(value):
                    self._unknown_of[site].add(value)
                    self._constraints.put(call.result, self._effects.unknown_class(self.sites[value][1]))

    def _makes_unknown(self, site: int) -> bool:
        """Returns whether a call is a reflective one that may return an object of which nothing is known."""
        each, call = self.sites.get(site, (None, None))
        if each is None or call is None or each.role not in _MAKING or not self.counts(each):
            return False
        return bool(self.rules.tables[rel.UnknownAt].where(pointer=call.argument(each.subject)))

    def take_bounded(self) -> bool:
        """Shows the rules what is at operands that take only a few classes; returns whether anything of that is new.

        They come in when all else is done, so that what is found because of them doesn't count among the few, nor what is
        found late against them.
        """
        nothing: Any = NONE
        rows: dict[type, list[Any]] = defaultdict(list)
        for operand in sorted(self._grown):
            at: Any = operand
            each = self._bounded[operand]
            few = each.classes()
            complete = each.show(few)
            rows[rel.ClassAt] += self._fresh_classes(operand, each.shown)
            for member in each.members if few is not None else ():
                rows[type(member)].append(member)
            if not complete:
                rows[rel.UnknownAt].append(rel.UnknownAt(at, nothing))
                if each.others >= 0:
                    rows[rel.ClassAt] += self._fresh_classes(each.others, each.all_classes())
        self._grown.clear()
        return self.rules.add(rows)

    def _fresh_classes(self, operand: Any, found: set[int]) -> list[rel.ClassAt]:
        """Returns the rows for classes that the rules were not yet shown at an operand."""
        known = self._classes_at[operand]
        fresh: Any = sorted(found - known)
        known.update(fresh)
        return [rel.ClassAt(operand, each) for each in fresh]

    def _depend(self, operand: int, site: int) -> None:
        """Has `operand` see all that `site` finds, so far and from now on."""
        if operand not in self._dependents[site]:
            self._dependents[site].add(operand)
            for relation in _FOUND:
                self._pass_on([operand], self.rules.tables[relation].where(site=site))

    def _classes_of(self, site: int) -> Int32:
        """Returns the types of the objects whose class the call of getClass asks for, in the order in which they came."""
        solver, receiver = self._constraints.solver, self._class_calls[site].argument(0)
        known, types = self._classes.get(site, (0, np.empty(0, np.int32)))
        if solver.number_of(receiver) > known:
            objects = solver.objects_of(receiver)
            met = np.bincount(solver.types_of(objects))
            met[types] = 0
            fresh = np.flatnonzero(met).astype(np.int32)
            types = np.concatenate((types, fresh))
            self._classes[site] = objects.size, types
            self._own[site].extend(fresh[self._is_own.many(fresh)].tolist())
            if np.isin(objects, self._effects.standing).any():
                self._asks_standing.add(site)
        return types

    def _pass_on(self, operands: Iterable[Any], rows: Sequence[Any]) -> None:
        """Shows the rules that what a site found comes to operands by direct flow."""
        found: dict[type, list[tuple[Any, ...]]] = defaultdict(list)
        for row in rows:
            found[_FOUND[type(row)]].append(self._seen_of(row))
        for operand in operands:
            for relation, columns in found.items():
                self._arrive(relation, operand, columns)

    def _seen_of(self, row: Any) -> tuple[Any, ...]:
        """Returns what the rules see, at an operand, of what a site found."""
        if type(row) is rel.UnknownObject:
            return (row.site,)
        if type(row) is rel.UnknownText:
            return (NONE,)
        return (self._program.text(row.text),) if type(row) is rel.TextObject else tuple(row[1:])

    def tells_classes(self, pointer: int, site: int) -> bool:
        """Returns whether the classes that the call of getClass at `site` returns resolve the operand at `pointer`."""
        bounded = self._bounded.get(pointer)
        return self._symbolic[pointer].get(site, False) and (bounded is None or bounded.tells(site))

    def is_exceeded(self, pointer: int) -> bool:
        """Returns whether more classes come to an operand than it takes in all."""
        return pointer in self._bounded and self._bounded[pointer].classes() is None

    def texts_within_jdk(self, pointer: int) -> list[str]:
        """Returns the constants that direct flow brings to an operand in the JDK's code."""
        inside = self._confined.operands.get(pointer)
        return [row.text for row in self.rules.tables[rel.StringAt].where(pointer=pointer)] if inside else []

    def unknown_within_jdk(self, pointer: int) -> list[int]:
        """Returns the calls that may have returned what is unknown at an operand in the JDK's code, -1 for what none did."""
        inside = self._confined.operands.get(pointer)
        return [row.made for row in self.rules.tables[rel.UnknownAt].where(pointer=pointer)] if inside else []

    def _follow(self, rows: Sequence[Any]) -> None:
        """Follows reflection by methods of the API that code outside the JDK asks few classes for, by their names."""
        for site, method, *_ in rows:
            each, call = self.sites[site]
            of_field = api.GET_FIELD <= each.kind <= api.PUT_STATIC
            if each.role not in api.FINDING or of_field or method not in self._api:
                continue
            classes = self.rules.tables[rel.ClassAt].where(pointer=call.argument(each.subject))
            if len(classes) <= FEW_CLASSES and not self._confined.covers_one(call.method):
                self._effects.follow(method)

    def _of_sites(self, head: type, rows: Sequence[Any]) -> Sequence[Any]:
        """Returns rows as those of the program's sites; a handle that several invocations by a site call stands once."""
        if head is rel.MadeTarget:
            return list(dict.fromkeys((self.handles.site_of(row.site), row.made) for row in rows))
        if head not in (rel.HandleObject, rel.HandleTarget):
            return rows
        found = []
        for invocation, member, kind in rows:
            site = self.handles.site_of(invocation)
            handles = self.handles_at[head, site]
            if (member, kind) not in handles:
                handles[member, kind] = None
                found.append((site, member, kind))
        return found

    def derive(self) -> bool:
        """Runs the rules and does what they derive; returns whether they derived anything."""
        arrived, self._arrived = self._arrived, defaultdict(list)
        self.rules.add(arrived)
        derived = self.rules.derive()
        found: dict[int, list[Any]] = defaultdict(list)
        for rule, rows in derived:
            effect = self.on_derived.get(rule.head)
            if effect is not None:
                for row in rows:
                    effect(row)
                if rule.head in (rel.MethodObject, rel.HandleObject):
                    self._follow(rows)
                self.derivations.append(Derivation(rule, self._of_sites(rule.head, rows)))
            if rule.head in _FOUND:
                for row in rows:
                    if row[0] in self._dependents:
                        found[row[0]].append(row)
        for site, rows in found.items():
            self._pass_on(self._dependents[site], rows)
        return bool(derived or self._arrived)
