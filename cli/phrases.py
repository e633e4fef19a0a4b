"""What happens in a step of an explanation, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cli.naming import Names
from cli.text import quoted, short_name, shown
from engine import chains, flow, gaps, heap
from engine.chains import Origin
from engine.contents import OWNER_OF_FIELDS
from engine.flow import Step
from engine.gaps import Gap
from engine.narrowing import NARROWED
from engine.provenance import Inference, Premise, Provenance
from engine.reflection import api
from engine.reflection.sources import COMPUTED, ENVIRONMENT, NAME, PROPERTY

# The most parts of a string that are named at once.
_PARTS = 4
# How an object is called whose making has been told already.
_NOUNS = {
    heap.CLASS_OBJECT: "the class object", heap.METHOD_OBJECT: "the method object", heap.FIELD_OBJECT: "the field object",
    heap.HANDLE: "the handle", heap.MADE_HANDLE: "the combined handle",
}  # fmt: skip
_RESULTS = {
    "ClassObject": "finds class {} by that name",
    "NewInstanceTarget": "makes an object with {}",
    "ResolvedInvoke": "calls {}",
    "HandleObject": "finds {}",
    "HandleTarget": "calls {}",
}
# What a call does with a field, by its role; others find it.
_ACCESSES = {api.FIELD_SET: "writes", api.FIELD_GET: "reads", api.CALL_HANDLE: "accesses"}


def is_content(names: Names, field: int, method: int) -> bool:
    """Returns whether an access of a field in a method stands for that of what a collection holds (`engine.contents`)."""
    if field < 0 or method < 0:
        return False
    return names.field_parts(field)[0] == OWNER_OF_FIELDS and not names.method(method).declaring.startswith(
        "java/util/"
    )


class Phrases:
    """Words for the origins, steps and rules of one run."""

    def __init__(self, names: Names, provenance: Provenance) -> None:
        self._names, self._provenance = names, provenance
        self._objects = provenance.flow.evidence.objects

    def _method(self, method: int) -> str:
        return shown(self._names.method(method).qualified)

    def _type(self, type_: int) -> str:
        """Returns the name of a type; a primitive one is `-ord` of its descriptor."""
        return shown(self._names.type(type_)) if type_ >= 0 else f"primitive type {chr(-type_)}"

    def type_of(self, obj: int) -> str:
        """Returns the name of the type that a class object stands for."""
        return self._type(int(self._objects.payload[obj]))

    # --- origins
    def origin(self, origin: Origin, obj: int) -> str:
        """Returns what an object is, as the subject of a sentence."""
        kind, row = int(self._objects.kind[obj]), origin.facts[0].row
        if origin.kind == chains.CONSTANT:
            return f"constant {quoted(self._names.constant(origin.text))}"
        if origin.kind == chains.CLASS_LITERAL:
            return f"class literal {self._type(row[2])}.class"
        if origin.kind == chains.NEW:
            type_ = self._type(row[2])
            return "a new string" if type_ == "java.lang.String" else f"a new {type_}"
        if origin.kind == chains.MADE:
            joined = self._provenance.flow.evidence.sites.callee[origin.site] < 0
            return "a concatenation of strings" if joined else "a new string"
        if origin.kind == chains.SOURCE:
            return self._source(origin.site, origin.callee)
        if origin.kind == chains.NATIVE:
            return f"what native method {self._method(origin.callee)} returns"
        if origin.kind == chains.CLASS_OF and kind == heap.UNKNOWN:
            method, offset = int(self._objects.method[obj]), int(self._objects.offset[obj])
            line = self._names.line(method, offset)
            at = f" in line {line}" if line >= 0 else ""
            return f"the class of what an open call{at} of {self._method(method)} returns"
        if origin.kind == chains.CLASS_OF:
            return "its class, by getClass,"
        if origin.kind == chains.NAME_OF:
            return f"its name {quoted(self._names.constant(origin.text))}"
        if origin.kind == chains.RULE and kind in _NOUNS:
            return _NOUNS[kind]
        if origin.kind == chains.RULE:
            type_ = self._type(int(self._objects.type[obj]))
            return (
                f"the new {type_}"
                if kind == heap.REFLECTIVE
                else f"the unknown {type_.rpartition('.')[2].lower()}"
            )
        if kind == heap.HANDLE:
            return f"a handle of {self._member_of_handle(int(self._objects.payload[obj]))}"
        if kind == heap.CLASS_OBJECT:
            return f"the class object of {self.type_of(obj)}, which the JVM provides,"
        type_ = self._type(int(self._objects.type[obj]))
        if kind == heap.ENTRY:
            return f"{type_} that the JVM or an unknown caller passes in"
        return f"{type_} that the JVM provides"

    def _member_of_handle(self, payload: int) -> str:
        member = heap.member_of_handle(payload)
        if heap.kind_of_handle(payload) <= api.PUT_STATIC:
            return f"field {shown(self._names.field(member))}"
        return shown(str(self._names.method(member)))

    def _input(self, site: int) -> str:
        """Returns what a call of an input source returns."""
        callee = next(
            each for each in self._provenance.flow.callees(site) if self._provenance.source_of(each)
        )
        return self._source(site, callee)

    def _source(self, site: int, callee: int) -> str:
        """Returns what a call of an input source returns."""
        source = self._provenance.source_of(callee)
        assert source is not None
        method, key = self._method(callee), self._provenance.key_of(site, source)
        which = f" {quoted(key)}" if key is not None else ""
        if source.kind == PROPERTY:
            return f"system property{which} ({method})"
        if source.kind == ENVIRONMENT:
            return f"environment variable{which} ({method})"
        if source.kind == COMPUTED:
            return f"a string computed by {method}"
        if source.kind == NAME:
            return f"the name that {method} returns"
        return f"what {method} reads from a {source.kind}{which}"

    # --- steps
    def step(self, step: Step) -> str:
        """Returns what happens to the object: a participle phrase."""
        row = step.facts[0].row
        if step.kind in (flow.STORE, flow.LOAD) and is_content(self._names, row[3], step.method):
            verb = "put into" if step.kind == flow.STORE else "taken from"
            return f"{verb} {self._object('collection', step.base)}"
        if step.kind in (flow.STORE, flow.STATIC_STORE):
            static = "static " if step.kind == flow.STATIC_STORE else ""
            return f"assigned to {static}field {self._field(step)}"
        if step.kind in (flow.LOAD, flow.STATIC_LOAD):
            static = "static " if step.kind == flow.STATIC_LOAD else ""
            return f"read from {static}field {self._field(step)}"
        if step.kind == flow.ARRAY_STORE:
            return f"put into {self._object('array', step.base)}"
        if step.kind == flow.ARRAY_LOAD:
            return f"taken from {self._object('array', step.base)}"
        if step.kind == flow.RECEIVER:
            return f"the receiver of {self._method(step.callee)}"
        if step.kind == flow.ARGUMENT:
            return f"passed as argument {self._position(step)} to {self._method(step.callee)}"
        if step.kind == flow.PASSED:
            return f"returned by {self._method(step.callee)}, which always returns this argument"
        if step.kind in (flow.RETURN, flow.THROWN):
            mixed = ", whose calls are not told apart" if step.mixed else ""
            verb = "returned" if step.kind == flow.RETURN else "thrown"
            return f"{verb} by {self._method(step.callee)}{mixed}"
        if step.kind == flow.CAST:
            return f"cast to {self._type(row[3])}"
        if step.kind == flow.CATCH:
            return "caught"
        return "passed on"

    def _field(self, step: Step) -> str:
        column = {flow.STORE: 3, flow.LOAD: 3, flow.STATIC_LOAD: 2, flow.STATIC_STORE: 3}[step.kind]
        return shown(self._names.field(step.facts[0].row[column]))

    def _object(self, what: str, base: int) -> str:
        """Returns what has contents, an `array` or a `collection`, by its class and where it is made."""
        method = int(self._objects.method[base])
        made = f" made in {self._method(method)}" if method >= 0 else ""
        noun = "an array" if what == "array" else f"a {self._type(int(self._objects.type[base]))}"
        return f"{noun}{made}"

    def _position(self, step: Step) -> int:
        """Returns the position as people count: from 1, the receiver not counted."""
        static = bool(self._names.method(step.callee).flags & 0x8)
        return step.facts[0].row[1] + (1 if static else 0)

    # --- what is missing
    def unknown(self, premise: Premise) -> str:
        """Returns why an operand is unknown: where the first unknown operand that leads to it comes from."""
        if premise.because is not None and premise.because.premises:
            return f"the {premise.operand} is unknown, because {self.unknown(premise.because.premises[0])}"
        if int(self._objects.kind[premise.chain.obj]) == heap.CLASS_OF and premise.parts:
            first = premise.parts[0].chain
            return f"the {premise.operand} is that of an object, say {self.origin(first.origin, first.obj)}"
        made = self._made_of(premise)
        return f"the {premise.operand} may be {made or self.origin(premise.chain.origin, premise.chain.obj)}"

    def _made_of(self, premise: Premise) -> str:
        """Returns with what a string is put together, "" if that is not known."""
        parts = list(dict.fromkeys(self._parts(premise)))
        more = f" and {len(parts) - _PARTS} more" if len(parts) > _PARTS else ""
        return f"a string made with {', '.join(parts[:_PARTS])}{more}" if parts else ""

    def _parts(self, premise: Premise) -> Iterator[str]:
        """Yields the constants and the input from which a string is computed."""
        for each in premise.parts:
            origin = each.chain.origin
            if origin.kind in (chains.CONSTANT, chains.NAME_OF):
                yield quoted(self._names.constant(origin.text))
            elif each.parts:
                yield from self._parts(each)
            elif origin.kind != chains.MADE:
                yield self.origin(origin, each.chain.obj)

    def gap(self, gap: Gap) -> str:
        """Returns why nothing comes from where a way to an operand begins."""
        if gap.kind == gaps.UNWRITTEN:
            what = f"field {shown(self._names.field(gap.detail))}" if gap.detail >= 0 else "that array"
            if is_content(self._names, gap.detail, gap.method):
                what = "that collection"
            return f"nothing is known to be in {what}, which is read here"
        if gap.kind == gaps.UNCALLED:
            return f"nobody passes an object to {self._method(gap.method)}"
        if gap.kind == gaps.NO_TARGET:
            callee = int(self._provenance.flow.evidence.sites.callee[gap.detail])
            name = self._method(callee) if callee >= 0 else "the method called"
            return f"{name} returns nothing here, as far as is known"
        if gap.kind == gaps.NO_RESULT:
            return f"{self._method(gap.detail)} returns nothing that is known"
        if gap.kind == gaps.INPUT:
            return f"it is {self._input(gap.detail)}, of which nothing is known"
        if gap.kind == gaps.REJECTED:
            return f"nothing here is a {self._type(gap.detail)}"
        return "it is null"

    # --- rules
    def cast(self, types: Iterable[int], called: str) -> str:
        """Returns how what a call makes is cast; `called` is the API method."""
        listed = " and ".join(self._type(each) for each in types)
        return f"{short_name(called)} makes an object of it, which is cast to {listed}"

    def inference(self, inference: Inference, called: str) -> str:
        """Returns what a reflective call does by the rule; `called` is the API method."""
        derived = inference.derived
        short = short_name(called)
        lists = inference.role == api.LIST_MEMBERS
        finds = "lists" if lists else "finds"
        if derived.relation == "UnknownObject":
            return f"{short} returns something unknown"
        if derived.relation == "MethodObject":
            what = self._names.method(derived.detail)
            by = " in that class" if what.name == "<init>" else " by that class and name"
            return f"{short} {finds} {shown(str(what))}{'' if lists else by}"
        if derived.rule.startswith(NARROWED):
            told = "so " if inference.narrowing is not None else "by casts of what is made of it, "
            return f"{told}{short} may find class {self._type(derived.detail)}"
        if derived.relation == "ClassObject":
            return f"{short} {_RESULTS[derived.relation].format(self._type(derived.detail))}"
        held = self._provenance.holds(derived)
        if held is not None and held.kind == "field":
            verb = _ACCESSES.get(inference.role, finds)
            return f"{short} {verb} field {shown(self._names.field(derived.detail))}"
        return f"{short} {_RESULTS[derived.relation].format(shown(str(self._names.method(derived.detail))))}"
