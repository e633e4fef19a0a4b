"""Why a reflective call has its targets, and where what is unknown of it comes from.

Two kinds of provenance are put together: flow (a shortest chain to each operand, see `engine.chains`) and
inference (which rule derived a target, and from which operands). What a rule made, such as the method object
of a `Method.invoke`, is explained in turn by the call that made it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np

from cypher import schema
from cypher.schema import NONE, Int32
from engine import heap
from engine.chains import (
    CLASS_OF,
    CONSTANT,
    GIVEN,
    MADE,
    NAME_OF,
    RETURNED,
    RULE,
    SOURCE,
    Chain,
    Chains,
    Marks,
    Origin,
)
from engine.computed import Computations
from engine.constraints import STRING
from engine.flow import LOCAL, Evidence, Flow
from engine.gaps import Gap, Gaps
from engine.gathered import ElementNames
from engine.narrowing import Narrowing, Narrowings, Use
from engine.reflection import api
from engine.reflection.sources import COMPUTED, Source, sources_by_method
from engine.result import PART, RESOLVED, Derived, ReflectiveSite, Target, target_of
from engine.sets import Index
from engine.sites import INITIALISATION
from engine.ways import Ways

# What the subject of a call is, by its role.
SUBJECTS = {
    api.GET_MEMBER: "class", api.LIST_MEMBERS: "class", api.CLASS_NEW: "class",
    api.CONSTRUCTOR_NEW: "constructor", api.INVOKE: "method", api.FIELD_GET: "field", api.FIELD_SET: "field",
    api.FIND_HANDLE: "class", api.UNREFLECT: "member", api.CALL_HANDLE: "handle",
}  # fmt: skip
# The relation that holds the targets of a role, and the kind of object at the subject that leads to them.
_RELATIONS = {
    api.FOR_NAME: "ClassObject", api.GET_MEMBER: "MethodObject", api.LIST_MEMBERS: "MethodObject",
    api.CLASS_NEW: "NewInstanceTarget", api.CONSTRUCTOR_NEW: "NewInstanceTarget", api.INVOKE: "ResolvedInvoke",
    api.FIELD_GET: "ResolvedField", api.FIELD_SET: "ResolvedField", api.FIND_HANDLE: "HandleObject",
    api.UNREFLECT: "HandleObject", api.CALL_HANDLE: "HandleTarget",
}  # fmt: skip
_MEMBERS = {
    api.CONSTRUCTOR_NEW: heap.METHOD_OBJECT, api.INVOKE: heap.METHOD_OBJECT, api.FIELD_GET: heap.FIELD_OBJECT,
    api.FIELD_SET: heap.FIELD_OBJECT, api.UNREFLECT: heap.METHOD_OBJECT, api.CALL_HANDLE: heap.HANDLE,
}  # fmt: skip
# What has a name, as an operand, and what it is the object of.
_BEARERS = {
    heap.CLASS_OBJECT: "class", heap.CLASS_OF: "class", heap.METHOD_OBJECT: "method", heap.FIELD_OBJECT: "field",
}  # fmt: skip
_TARGETS = {heap.CLASS_OBJECT: "type", heap.METHOD_OBJECT: "method", heap.FIELD_OBJECT: "field"}
_METAOBJECTS = frozenset(_TARGETS)
_HANDLES = frozenset({heap.HANDLE, heap.MADE_HANDLE})
_CONSTANTS = frozenset({heap.STRING, heap.GENERIC})
# Kinds of question, in the order in which they are asked.
_ORDER = ("target", "unknown", "confined", "absent", "refused", "empty")
TARGET, UNKNOWN, CONFINED, ABSENT, REFUSED, EMPTY = _ORDER
# How many casts that tell a class are tried for one to which a way leads.
_NARROWINGS = 5
# The most string operations that an answer follows, and what each operand of one may be.
_COMPUTATIONS, _ALTERNATIVES = 40, 8
_GAPS = 3


class Names(ElementNames, Protocol):
    """What explanations need of names."""

    def field(self, field: int) -> str:
        """Returns a field as `a.b.C.f`."""

    def constant(self, text: int) -> str:
        """Returns a string constant."""

    def type_flags(self, type_: int) -> int:
        """Returns the access flags of a type, with JDK."""


class Premise(NamedTuple):
    """The operand of that name may be the last object of `chain`; `because` explains the chain's origin."""

    operand: str
    chain: Chain
    because: Inference | None = None
    parts: tuple[Premise, ...] = ()


class Inference(NamedTuple):
    """A rule derived the row (`site`, `detail`) of `derived.relation` from the premises, each for an operand.

    Empty premises say that it is being explained already. If casts told a class, `narrowing` says which, and the
    premise is for the operand of the call that makes what is cast.
    """

    derived: Derived
    role: str
    premises: tuple[Premise, ...]
    narrowing: Narrowing | None = None


class Question(NamedTuple):
    """Something to explain about a site.

    TARGET: why it has `target`. Otherwise `obj` may be the operand at `pointer` and leads to no target: it is
    UNKNOWN; or CONFINED, known but not what a call in the JDK's code is resolved with (see `engine.confined`);
    or ABSENT, a constant that names nothing there is; or REFUSED, a class or member with which the call can do
    nothing. EMPTY: nothing arrives at `pointer`. `alike` are as many further objects.
    """

    kind: str
    target: Target | None = None
    operand: str = ""
    pointer: int = NONE
    obj: int = NONE
    alike: int = 0


class Answer(NamedTuple):
    """What explains a question: an inference for a target, gaps for EMPTY, else the operand's premise.

    `calls` are the (site, callee) that follow from the target.
    """

    question: Question
    inference: Inference | None = None
    premise: Premise | None = None
    gaps: tuple[Gap, ...] = ()
    calls: tuple[tuple[int, int], ...] = ()


class Provenance:
    """Explains the reflective sites of one run; `bulk` is for many of them: chains may be less telling then."""

    def __init__(
        self,
        evidence: Evidence,
        reflective: tuple[ReflectiveSite, ...],
        derived: tuple[Derived, ...],
        names: Names,
        *,
        bulk: bool = False,
    ) -> None:
        self._names = names
        self.flow = Flow(evidence)
        self._sites = {each.site: each for each in reflective}
        self._derived = {(each.relation, each.site, each.detail): each for each in reversed(derived)}
        self._derived_at: dict[tuple[str, int], list[Derived]] = defaultdict(list)
        for each in derived:
            self._derived_at[each.relation, each.site].append(each)
        self._sources = sources_by_method()
        self._targets: dict[int, frozenset[Target]] = {}  # by site
        self._known_sources: dict[int, bool] = {}
        self._keys: dict[int, str | None] = {}
        self._computations = Computations(self.flow, names)
        self._chains = Chains(
            self.flow, Marks(self._derives, self._deriving, self._is_source, self._computations.by)
        )
        self._ways = self._all_ways() if bulk else None
        self._inferred: dict[tuple[str, int, int], Inference] = {}
        self._open: set[tuple[str, int, int]] = set()
        self._computing: set[int] = set()
        self._caused: Index | None = None
        self._gaps = Gaps(self.flow, self._is_source)
        self._narrowings = Narrowings(self.flow, reflective, names)
        self._narrowed: dict[tuple[Use, ...], Premise] = {}

    def _all_ways(self) -> Ways:
        evidence = self.flow.evidence
        methods = [each for each in np.unique(evidence.call_callee).tolist() if self._is_source(each)]
        sites = np.unique(evidence.call_site[np.isin(evidence.call_callee, methods)])
        return Ways(self.flow, self._chains, evidence.sites.result[sites])

    def _chain(self, pointer: int, obj: int, wanted: int = NONE) -> Chain:
        return (self._ways or self._chains).to(pointer, obj, wanted)

    def _every(self, pointer: int, objects: list[int]) -> list[Chain]:
        """Returns a chain of each object, or in bulk one from each beginning of any."""
        if self._ways is not None:
            return self._ways.every(pointer, objects)
        return [self._chains.to(pointer, each) for each in objects]

    # --- what chains ask
    def _derives(self, site: int, relation: str, payload: int) -> bool:
        found = self._derived_at.get((relation, site), ())
        if relation == "NewInstanceTarget":
            made = self._names.internal_type(payload)
            return any(self._names.method(each.detail).declaring == made for each in found)
        if relation == "UnknownObject":
            return bool(found)
        return (relation, site, payload) in self._derived

    def _deriving(self, payload: int) -> list[int]:
        """Returns the calls of which a rule says that they return a text, type or member."""
        return self._derived_with.get(payload, [])

    @cached_property
    def _derived_with(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for relation, site, detail in self._derived:
            if relation in RETURNED:
                found[detail].append(site)
        return found

    def _is_source(self, method: int) -> bool:
        known = self._known_sources.get(method)
        if known is None:
            known = self._known_sources[method] = self.source_of(method) is not None
        return known

    def source_of(self, method: int) -> Source | None:
        """Returns the row of the table of input sources for a method."""
        found = self._names.method(method)
        return self._sources.get((found.declaring, found.name))

    def key_of(self, site: int, source: Source) -> str | None:
        """Returns the constant that says which property, variable or entry a source is asked for, if known."""
        known = self._keys.get(site, "")
        if known == "":
            known = self._keys[site] = self._key(site, source)
        return known

    def _key(self, site: int, source: Source) -> str | None:
        pointer = self.flow.argument(site, source.key) if source.key >= 0 else NONE
        found = self.flow.sets.objects_of(pointer).tolist() if pointer >= 0 else []
        if not found:
            return None
        chain = self._chain(pointer, found[0])
        if chain.origin.kind != CONSTANT or any(step.kind not in LOCAL for step in chain.steps):
            return None
        return self._names.constant(chain.origin.text)

    # --- questions and answers
    def questions(self, site: int) -> list[Question]:
        """Returns what there is to explain of a site: its targets, then the operands that lead to none."""
        explained = self._sites[site]
        found = [Question(TARGET, target) for target in explained.targets]
        unknown = {source.obj for source in explained.sources if source.kind == "unknown"}
        for name, pointer in explained.operands.items():
            operand = _operand(explained.role, name)
            if pointer >= 0:
                objects = self.flow.sets.objects_of(pointer).tolist()
                found += self._open_questions(explained, operand, pointer, objects, unknown)
        if missing := self.missing(site):
            # What is known says nothing where the other operand is missing.
            found = [*(each for each in found if each.kind not in (ABSENT, REFUSED)), *missing]
        return sorted(found, key=lambda each: _ORDER.index(each.kind))

    def missing(self, site: int) -> list[Question]:
        """Returns the questions about operands of a call without a target at which nothing arrives."""
        explained = self._sites[site]
        return [
            Question(EMPTY, None, _operand(explained.role, name), pointer)
            for name, pointer in explained.operands.items()
            if not explained.targets and (pointer < 0 or self.flow.sets.is_empty(pointer))
        ]

    def _open_questions(
        self, explained: ReflectiveSite, operand: str, pointer: int, objects: list[int], unknown: set[int]
    ) -> Iterator[Question]:
        kinds = self.flow.evidence.objects.kind
        known = _METAOBJECTS | _CONSTANTS | _HANDLES
        confined = [obj for obj in objects if obj in unknown and int(kinds[obj]) in known]
        if confined:
            yield Question(CONFINED, None, operand, pointer, confined[0], len(confined) - 1)
        taken = {self._name_of(target) for target in explained.targets}
        refused = explained.status == RESOLVED and not explained.targets
        for obj in objects:
            if int(kinds[obj]) == heap.CLASS_OF and obj not in unknown:
                continue
            if int(kinds[obj]) not in known:
                yield Question(UNKNOWN, None, operand, pointer, obj)
            elif obj not in unknown and self._leads_nowhere(obj, taken):
                yield Question(ABSENT, None, operand, pointer, obj)
            elif refused and int(kinds[obj]) in _METAOBJECTS:
                yield Question(REFUSED, None, operand, pointer, obj)

    def _leads_nowhere(self, obj: int, taken: set[str]) -> bool:
        """Returns whether an object is a constant other than those in `taken`."""
        objects = self.flow.evidence.objects
        if int(objects.kind[obj]) == heap.STRING:
            return self._names.constant(int(objects.payload[obj])) not in taken
        return obj == self._chains.plain_string

    def target_of(self, obj: int) -> Target:
        """Returns the class or member that a class, method or field object is of."""
        objects = self.flow.evidence.objects
        return Target(_TARGETS[int(objects.kind[obj])], int(objects.payload[obj]))

    def answer(self, site: int, question: Question) -> Answer:
        """Returns what explains a question about a site."""
        self._computing.clear()
        if question.target is not None:
            relation = self._relation(site, question.target)
            inference = self._inference(relation, site, question.target.id)
            return Answer(question, inference, calls=tuple(self._calls_for(site, question.target)))
        if question.kind == EMPTY:
            gaps = self._gaps.behind(question.pointer, _GAPS) if question.pointer >= 0 else ()
            return Answer(question, gaps=tuple(gaps))
        return Answer(question, premise=self._premise(question.operand, question.pointer, question.obj))

    def derivation(self, site: int, target: Target) -> Inference | None:
        """Returns the rule by which a site has a target, with its operands; None if the run doesn't say."""
        self._computing.clear()
        return self._inference(self._relation(site, target), site, target.id)

    def arriving(self, site: int, limit: int | None = None) -> tuple[list[Premise], int]:
        """Returns the premises for the objects that a site's sources list.

        With a `limit`, these are of each operand at most so many string constants, in bulk the nearest; also returns
        how many others there are.
        """
        explained, kinds = self._sites[site], self.flow.evidence.objects.kind
        listed = [each.obj for each in explained.sources if each.obj >= 0]
        found, others = [], 0
        self._computing.clear()
        for name, pointer in explained.operands.items():
            here = [each for each in listed if pointer >= 0 and self.flow.sets.contains(pointer, each)]
            unknown = [each for each in here if int(kinds[each]) not in _CONSTANTS]
            texts = [each for each in here if int(kinds[each]) == heap.STRING]
            if limit is not None and len(texts) > limit:
                others += len(texts) - limit
                texts = (self._ways.nearest(pointer, texts, limit) if self._ways else texts)[:limit]
            generic = [each for each in here if int(kinds[each]) == heap.GENERIC]
            chains = [self._chain(pointer, each) for each in (*texts, *generic)]
            chains += self._every(pointer, unknown)
            found += [self._explained(_operand(explained.role, name), each) for each in chains]
        return found, others

    def _calls_for(self, site: int, target: Target) -> Iterator[tuple[int, int]]:
        """Yields the call edges made on behalf of a site that go to `target`, or to what initialises it."""
        sites = self.flow.evidence.sites
        others = {each.id for each in self._sites[site].targets} - {target.id}
        if self._caused is None:
            self._caused = Index(sites.cause)
        for made in self._caused.of(site):
            initialises = int(sites.origin[made]) == INITIALISATION
            for callee in self.flow.callees(made).tolist():
                if target.kind == "type":
                    fits = initialises and self._initialises(callee, target.id)
                elif target.kind == "method" and not initialises:
                    fits = callee not in others and self._may_run(callee, target.id)
                else:
                    fits = False
                if fits:
                    yield made, callee

    def _initialises(self, callee: int, type_: int) -> bool:
        return self._names.method(callee).declaring == self._names.internal_type(type_)

    def _may_run(self, callee: int, target: int) -> bool:
        found, wanted = self._names.method(callee), self._names.method(target)
        if wanted.name == "<init>":
            return callee == target
        return (found.name, found.descriptor) == (wanted.name, wanted.descriptor)

    def _name_of(self, target: Target) -> str:
        """Returns the string by which reflection asks for a target."""
        if target.kind == "type":
            return self._names.internal_type(target.id).replace("/", ".")
        if target.kind == "method":
            return self._names.method(target.id).name
        return self._names.field(target.id).rpartition(".")[2]

    def _relation(self, site: int, target: Target) -> str:
        """Returns the relation that holds a target of a call."""
        role = self._sites[site].role
        finds = role in (api.GET_MEMBER, api.LIST_MEMBERS, api.UNREFLECT)
        if finds and target.kind == "field" and ("FieldObject", site, target.id) in self._derived:
            return "FieldObject"
        return _RELATIONS[role]

    def holds(self, derived: Derived) -> Target | None:
        """Returns what a row holds, None unless that is a target."""
        found = self._targets.get(derived.site)
        if found is None:
            found = self._targets[derived.site] = frozenset(self._sites[derived.site].targets)
        return target_of(derived, found)

    def _is_of_field(self, derived: Derived) -> bool:
        held = self.holds(derived)
        return held is not None and held.kind == "field"

    # --- inferences
    def _inference(self, relation: str, site: int, detail: int) -> Inference | None:
        """Returns how a rule came to a row, None if the run doesn't have it."""
        key = (relation, site, detail)
        derived = self._derived.get(key)
        if derived is None or site not in self._sites:
            return None
        known = self._inferred.get(key)
        if known is not None:
            return known
        role = self._sites[site].role
        if key in self._open:
            return Inference(derived, role, ())
        self._open.add(key)
        narrowing = self._narrowing(derived)
        premises = self._premises(derived) if narrowing is None else [self._made(narrowing.uses)]
        found = Inference(derived, role, tuple(premises), narrowing)
        self._open.discard(key)
        self._inferred[key] = found
        return found

    def _narrowing(self, derived: Derived) -> Narrowing | None:
        """Returns the casts that told a class, if there are such, those first to which a way leads from the call that found it."""
        found = list(islice(self._narrowings.of(derived.site, derived.rule, derived.detail), _NARROWINGS))
        origins = ((each, self._made(each.uses[:1]).chain.origin) for each in found)
        begun = (each for each, origin in origins if (origin.kind, origin.site) == (RULE, derived.site))
        return next(begun, found[0] if found else None)

    def _made(self, uses: tuple[Use, ...]) -> Premise:
        """Returns the premise for the subject of the last of `uses`, of which objects are made."""
        found = self._narrowed.get(uses)
        if found is None:
            *before, (site, pointer, obj) = uses
            found = self._premise(SUBJECTS[self._sites[site].role], pointer, obj)
            if before and found.because is not None:
                found = found._replace(because=found.because._replace(premises=(self._made(tuple(before)),)))
            self._narrowed[uses] = found
        return found

    def _premises(self, derived: Derived) -> list[Premise]:
        """Returns the operands from which a row was derived."""
        explained = self._sites[derived.site]
        if derived.relation == "UnknownObject":
            return self._unknown_premises(explained, derived.detail)
        name, subject = explained.operands.get("name", NONE), explained.operands.get("subject", NONE)
        found = []
        if subject >= 0:
            obj = self._subject(explained.role, subject, derived)
            if obj >= 0:
                declaring = "" if explained.role in _MEMBERS else self._declaring(derived)
                found.append(self._premise(SUBJECTS[explained.role], subject, obj, declaring))
                if int(self.flow.evidence.objects.kind[obj]) == heap.MADE_HANDLE and found[0].because is None:
                    found += self._combined(explained, derived)
            else:
                found += self._direct(
                    SUBJECTS[explained.role], subject, self._wanted_subject(explained.role, derived)
                )
        if name >= 0:
            held = self.holds(derived)
            text = self._name_of(held) if held is not None else ""
            obj = self._named(name, text)
            if obj >= 0:
                found.append(self._premise("name", name, obj))
            else:
                found += self._direct("name", name, self._texts.get(text, NONE))
        return found

    def _combined(self, explained: ReflectiveSite, derived: Derived) -> Iterator[Premise]:
        """Yields the premise for a direct handle of which a combined one is made, if one leads to a target."""
        objects = self.flow.evidence.objects
        for name, pointer in explained.operands.items():
            here = self.flow.sets.objects_of(pointer) if name.startswith(PART) else np.zeros(0, np.int32)
            direct = here[objects.kind[here] == heap.HANDLE]
            obj = _first(direct[heap.member_of_handle(objects.payload[direct]) == derived.detail])
            if obj >= 0:
                yield self._premise(_operand(explained.role, name), pointer, obj)
                return

    # What the JDK's code is resolved with has no object of its own: see `engine.confined`.
    def _direct(self, operand: str, pointer: int, wanted: int) -> Iterator[Premise]:
        """Yields the premise for what direct flow brings to an operand in the JDK's code, if it is found."""
        objects = self.flow.evidence.objects
        for obj in self.flow.sets.objects_of(pointer).tolist() if wanted != NONE else ():
            if int(objects.kind[obj]) == heap.GENERIC:
                chain = self._chain(pointer, obj, wanted)
                if chain.origin.kind == RULE:
                    because = self._inference(chain.origin.relation, chain.origin.site, wanted)
                    yield Premise(operand, chain, because)
                    return
                if chain.origin.kind != GIVEN:
                    yield self._explained(operand, chain)
                    return

    def _wanted_subject(self, role: str, derived: Derived) -> int:
        """Returns the member, or the type that declares it, that leads to a target."""
        return derived.detail if role in _MEMBERS else self._types.get(self._declaring(derived), NONE)

    @cached_property
    def _texts(self) -> dict[str, int]:
        """The string constants of the program, and the names that calls return."""
        texts = set(np.unique(self.flow.evidence.facts[schema.StringConstant].text).tolist())
        texts |= {detail for relation, _, detail in self._derived if relation == "TextObject"}
        return {self._names.constant(text): text for text in sorted(texts)}

    @cached_property
    def _types(self) -> dict[str, int]:
        """The types of class literals and those that calls found, by internal name."""
        types = set(np.unique(self.flow.evidence.facts[schema.ClassConstant].type).tolist())
        types |= {
            detail for relation, _, detail in self._derived if relation == "ClassObject" and detail >= 0
        }
        return {self._names.internal_type(type_): type_ for type_ in sorted(types)}

    def _unknown_premises(self, explained: ReflectiveSite, pointer: int) -> list[Premise]:
        """Returns the premise for one of the objects at an operand of which nothing is known."""
        kinds = self.flow.evidence.objects.kind
        name = next((name for name, each in explained.operands.items() if each == pointer), "name")
        here = set(self.flow.sets.objects_of(pointer).tolist()) if pointer >= 0 else set()
        unknown = [each.obj for each in explained.sources if each.kind == "unknown" and each.obj in here]
        if not unknown:
            return []
        # What is unknown altogether tells more than what is only not taken here.
        obj = next((obj for obj in unknown if int(kinds[obj]) not in _METAOBJECTS | _CONSTANTS), unknown[0])
        return [self._premise(_operand(explained.role, name), pointer, obj)]

    def _named(self, pointer: int, text: str) -> int:
        """Returns the string constant `text` among the objects of `pointer`, or -1."""
        objects = self.flow.evidence.objects
        here = self.flow.sets.objects_of(pointer)
        called = (objects.kind[here] == heap.STRING) & (
            objects.payload[here] == self._strings.get(text, NONE)
        )
        return _first(here[called])

    @cached_property
    def _strings(self) -> dict[str, int]:
        """The string constants that are objects of their own."""
        objects = self.flow.evidence.objects
        payloads = np.unique(objects.payload[objects.kind == heap.STRING]).tolist()
        return {self._names.constant(text): text for text in payloads}

    def _subject(self, role: str, pointer: int, derived: Derived) -> int:
        """Returns the object at the subject of a call that leads to a target, or -1."""
        objects = self.flow.evidence.objects
        kind = _MEMBERS.get(role, heap.CLASS_OBJECT)
        here = self.flow.sets.objects_of(pointer)
        if role == api.UNREFLECT and self._is_of_field(derived):
            kind = heap.FIELD_OBJECT
        candidates = here[objects.kind[here] == kind]
        if role == api.CALL_HANDLE:
            of_member = candidates[heap.member_of_handle(objects.payload[candidates]) == derived.detail]
            combined = here[objects.kind[here] == heap.MADE_HANDLE]
            return _first(np.concatenate((of_member, combined)))
        if role in _MEMBERS:
            return _first(candidates[objects.payload[candidates] == derived.detail])
        # The class itself, if there; otherwise one that inherits the member, of which the first stands for all.
        declaring = self._declaring(derived)
        if declaring in self._classes:
            found = _first(candidates[objects.payload[candidates] == self._classes[declaring]])
            if found >= 0:
                return found
        asked = here[objects.kind[here] == heap.CLASS_OF].tolist()
        for obj in asked:
            if self._instance(int(objects.payload[obj]), declaring) >= 0:
                return int(obj)
        return next(iter(candidates.tolist() + asked), NONE)

    @cached_property
    def _classes(self) -> dict[str, int]:
        """The types of class objects, by internal name."""
        objects = self.flow.evidence.objects
        types = np.unique(objects.payload[objects.kind == heap.CLASS_OBJECT]).tolist()
        return {self._names.internal_type(type_): type_ for type_ in types if type_ >= 0}

    def _declaring(self, derived: Derived) -> str:
        """Returns the internal name of the class that declares a target."""
        if self._is_of_field(derived):
            return self._names.field(derived.detail).rpartition(".")[0].replace(".", "/")
        return self._names.method(derived.detail).declaring

    # --- premises
    def _premise(self, operand: str, pointer: int, obj: int, declaring: str = "") -> Premise:
        """Returns the chain of `obj` to an operand, and what explains its origin.

        If that is a call of `getClass`, by an object of the class `declaring` if it may be one.
        """
        return self._explained(operand, self._chain(pointer, obj), declaring)

    def _explained(self, operand: str, chain: Chain, declaring: str = "") -> Premise:
        """Returns a chain with what explains its origin."""
        obj, origin = chain.obj, chain.origin
        if origin.kind == RULE:
            return Premise(operand, chain, self._because(origin.relation, origin.site, obj))
        if origin.kind == CLASS_OF:
            known = int(self.flow.evidence.objects.kind[obj]) == heap.CLASS_OF
            return Premise(operand, chain, parts=self._receiver(origin.site, declaring) if known else ())
        if origin.kind == NAME_OF:
            return Premise(operand, chain, parts=self._bearer(origin))
        computes = origin.kind in (MADE, SOURCE) and self._computes(origin)
        return Premise(operand, chain, parts=self._inputs(origin.site) if computes else ())

    def _computes(self, origin: Origin) -> bool:
        """Returns whether an origin is an operation on strings."""
        source = self.source_of(origin.callee) if origin.kind == SOURCE else None
        return origin.kind == MADE or (source is not None and source.kind == COMPUTED)

    def _because(self, relation: str, site: int, obj: int) -> Inference | None:
        """Returns how the call at `site` came to return `obj`."""
        objects = self.flow.evidence.objects
        detail = int(objects.payload[obj])
        if relation == "MadeHandle":
            # (by a call that finds a handle and binds it)
            rows = self._derived_at["HandleObject", site]
            return self._inference("HandleObject", site, rows[0].detail) if rows else None
        if relation == "HandleObject":
            detail = heap.member_of_handle(detail)
        if relation in ("UnknownObject", "NewInstanceTarget"):
            rows = self._derived_at[relation, site]
            made = [
                each
                for each in rows
                if relation == "UnknownObject"
                or self._names.method(each.detail).declaring
                == self._names.internal_type(int(objects.type[obj]))
            ]
            detail = (made or rows)[0].detail
        return self._inference(relation, site, detail)

    def _receiver(self, site: int, declaring: str) -> tuple[Premise, ...]:
        """Returns the premise for an object whose class a call of `getClass` returns."""
        receiver = self.flow.argument(site, 0)
        if receiver < 0 or self.flow.sets.is_empty(receiver):
            return ()
        obj = self._instance(site, declaring)
        return (
            self._premise(
                "object", receiver, obj if obj >= 0 else int(self.flow.sets.objects_of(receiver)[0])
            ),
        )

    def _bearer(self, origin: Origin) -> tuple[Premise, ...]:
        """Returns the premise for a class or member that has the name which a call returns."""
        receiver, name = self.flow.argument(origin.site, 0), self._names.constant(origin.text)
        for obj in self.flow.sets.objects_of(receiver).tolist():
            if self._is_called(obj, name):
                kind = _BEARERS[int(self.flow.evidence.objects.kind[obj])]
                return (self._premise(kind, receiver, obj, name.replace(".", "/")),)
        return ()

    def _is_called(self, obj: int, name: str) -> bool:
        """Returns whether a class or member object has a name."""
        objects = self.flow.evidence.objects
        kind, what = int(objects.kind[obj]), int(objects.payload[obj])
        if kind == heap.CLASS_OF:
            return self._instance(what, name.replace(".", "/")) >= 0
        if kind not in _TARGETS or what < 0:
            return False
        found = self._name_of(self.target_of(obj))
        if found == "<init>":
            found = self._names.method(what).declaring.replace("/", ".")
        return found == name

    def _instance(self, site: int, declaring: str) -> int:
        """Returns an object of the class `declaring` on which the call of getClass at `site` may be made, or -1."""
        objects = self.flow.evidence.objects
        receiver = self.flow.argument(site, 0)
        if receiver < 0 or declaring not in self._instantiated:
            return NONE
        here = self.flow.sets.objects_of(receiver)
        return _first(here[objects.type[here] == self._instantiated[declaring]])

    @cached_property
    def _instantiated(self) -> dict[str, int]:
        """The types of objects, by internal name."""
        types = np.unique(self.flow.evidence.objects.type).tolist()
        return {self._names.internal_type(type_): type_ for type_ in types if type_ >= 0}

    def _inputs(self, site: int) -> tuple[Premise, ...]:
        """Returns premises for the operands of a string operation: what each may be, unknown or else constant.

        An operation is followed once in an answer.
        """
        if site in self._computing or len(self._computing) >= _COMPUTATIONS:
            return ()
        self._computing.add(site)
        found: dict[tuple[int, str, int], Premise] = {}
        for variable in self._computations.operands(site):
            for chain in self._every(variable, self._alternatives(variable)):
                place = (variable, chain.origin.kind, chain.origin.pointer)
                if place not in found:
                    found[place] = self._explained("part", chain)
        return tuple(found.values())

    def _alternatives(self, pointer: int) -> list[int]:
        """Returns the strings at a pointer, a few: those that are no constants if there are such."""
        objects = self.flow.evidence.objects
        here = self.flow.sets.objects_of(pointer)
        strings = here[np.isin(objects.type[here], self._string)]
        constant = np.isin(objects.kind[strings], list(_CONSTANTS))
        chosen = strings[constant] if constant.all() else strings[~constant]
        if not chosen.size:
            # (a byte or char array that is read from outside)
            chosen = here[:1]
        found: list[int] = chosen[:_ALTERNATIVES].tolist()
        return found

    @cached_property
    def _string(self) -> list[int]:
        """The type of strings."""
        types = np.unique(self.flow.evidence.objects.type).tolist()
        return [each for each in types if each >= 0 and self._names.internal_type(each) == STRING]


def _first(objects: Int32) -> int:
    """Returns the first of some objects, -1 if there are none."""
    return int(objects[0]) if objects.size else NONE


def _operand(role: str, operand: str) -> str:
    if operand.startswith(PART):
        return "combined handle"
    return SUBJECTS.get(role, operand) if operand == "subject" else operand
