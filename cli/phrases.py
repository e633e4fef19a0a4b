"""What happens in a step of an explanation, in words."""

from __future__ import annotations

from cli.naming import Names
from cli.text import quoted, shown
from engine import chains, flow, heap
from engine.chains import Origin
from engine.flow import Step
from engine.provenance import Inference, Provenance
from engine.reflection import api
from engine.reflection.sources import COMPUTED, ENVIRONMENT, NAME, PROPERTY

# How an object is called whose making has been told already.
_NOUNS = {
    heap.CLASS_OBJECT: "the class object", heap.METHOD_OBJECT: "the method object", heap.FIELD_OBJECT: "the field object",
}  # fmt: skip
_RESULTS = {
    "ClassObject": "finds class {} by that name",
    "FieldObject": "finds field {}",
    "NewInstanceTarget": "makes an object with {}",
    "ResolvedInvoke": "calls {}",
    "ResolvedField": "accesses field {}",
}


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

    # --- origins
    def origin(self, origin: Origin, obj: int) -> str:
        """Returns what an object is, as the subject of a sentence."""
        kind, row = int(self._objects.kind[obj]), origin.facts[0].row
        if origin.kind == chains.CONSTANT:
            return f"constant {quoted(self._names.constant(row[2]))}"
        if origin.kind == chains.CLASS_LITERAL:
            return f"class literal {self._type(row[2])}.class"
        if origin.kind == chains.NEW:
            return f"a new {self._type(row[2])}"
        if origin.kind == chains.SOURCE:
            return self.source(origin)
        if origin.kind == chains.NATIVE:
            return f"what native method {self._method(origin.callee)} returns"
        if origin.kind == chains.CLASS_OF:
            return f"its class {self._type(int(self._objects.payload[obj]))}, by getClass,"
        if origin.kind == chains.RULE and kind in _NOUNS:
            return _NOUNS[kind]
        if origin.kind == chains.RULE:
            made = kind == heap.REFLECTIVE
            return f"the new {self._type(int(self._objects.type[obj]))}" if made else "the unknown result"
        type_ = self._type(int(self._objects.type[obj]))
        if kind == heap.ENTRY:
            return f"{type_} that the JVM or an unknown caller passes in"
        return f"{type_} that the JVM provides"

    def source(self, origin: Origin) -> str:
        """Returns what an input source returns."""
        source = self._provenance.source_of(origin.callee)
        assert source is not None
        method, key = self._method(origin.callee), self._provenance.key_of(origin)
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
        if step.kind in (flow.STORE, flow.STATIC_STORE):
            static = "static " if step.kind == flow.STATIC_STORE else ""
            return f"assigned to {static}field {self._field(step)}"
        if step.kind in (flow.LOAD, flow.STATIC_LOAD):
            static = "static " if step.kind == flow.STATIC_LOAD else ""
            return f"read from {static}field {self._field(step)}"
        if step.kind == flow.ARRAY_STORE:
            return f"put into {self._array(step.base)}"
        if step.kind == flow.ARRAY_LOAD:
            return f"taken from {self._array(step.base)}"
        if step.kind == flow.RECEIVER:
            return f"the receiver of {self._method(step.callee)}"
        if step.kind == flow.ARGUMENT:
            return f"passed as argument {self._position(step)} to {self._method(step.callee)}"
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

    def _array(self, base: int) -> str:
        method = int(self._objects.method[base])
        made = f" made in {self._method(method)}" if method >= 0 else ""
        return f"an array{made}"

    def _position(self, step: Step) -> int:
        """Returns the position as people count: from 1, the receiver not counted."""
        static = bool(self._names.method(step.callee).flags & 0x8)
        return step.facts[0].row[1] + (1 if static else 0)

    # --- rules
    def inference(self, inference: Inference, called: str) -> str:
        """Returns what a reflective call does by the rule; `called` is the API method."""
        derived = inference.derived
        short = ".".join(called.rsplit(".", 2)[-2:])
        if derived.relation == "UnknownObject":
            return f"{short} returns something unknown"
        if derived.relation == "MethodObject":
            what = self._names.method(derived.detail)
            by = "in that class" if what.name == "<init>" else "by that class and name"
            return f"{short} finds {shown(str(what))} {by}"
        if derived.relation == "ClassObject":
            return f"{short} {_RESULTS[derived.relation].format(self._type(derived.detail))}"
        if derived.relation in ("FieldObject", "ResolvedField"):
            verb = "writes" if inference.role == api.FIELD_SET else "reads"
            result = "finds" if derived.relation == "FieldObject" else verb
            return f"{short} {result} field {shown(self._names.field(derived.detail))}"
        return f"{short} {_RESULTS[derived.relation].format(shown(str(self._names.method(derived.detail))))}"
