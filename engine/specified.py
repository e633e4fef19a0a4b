"""Enters what a user specifies (`engine.specification`): names at reflective calls, results of other calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from cypher import schema
from cypher.program import PHANTOM
from cypher.schema import NONE, Facts
from engine import heap
from engine.constraints import STRING, Constraints
from engine.models import SiteCall
from engine.openness import NAME, SUBJECT
from engine.reflection import api
from engine.reflection import relations as rel
from engine.reflection.api import Api
from engine.reflection.handles import is_static, kind_of
from engine.reflection.names import Members, class_named
from engine.result import Target
from engine.rules import Late, Rules
from engine.specification import Specification

_NAMED = (api.FOR_NAME, *api.FINDING)
_CALLS: dict[str, Any] = {
    api.CLASS_NEW: rel.NewInstanceCall,
    api.LIST_MEMBERS: rel.ListMembers,
    api.CONSTRUCTOR_NEW: rel.ConstructorCall,
    api.INVOKE: rel.InvokeCall,
}
# What else acts on members.
_ACTING = (api.FIELD_GET, api.FIELD_SET, api.UNREFLECT, api.CALL_HANDLE)


class Specified:
    """`operands` has those of each reflective call of which a user has said what they are; `answered` are other calls.

    What comes to an operand besides stays there: a specification adds targets, and never takes any; members that it
    names are used, whoever may do so. `names` are the rows for names at reflective calls.
    """

    def __init__(
        self, constraints: Constraints, rules: Rules, members: Members, specification: Specification
    ) -> None:
        self._constraints, self._program, self._members_of = constraints, constraints.program, members
        self._specification = specification
        self._offsets = np.array(sorted(specification.offsets), np.int32)
        self.operands: dict[int, frozenset[str]] = {}
        self.answered: set[int] = set()
        self.names = Late(rules)

    def enter(self, each: Api, call: SiteCall) -> None:
        """Takes what is specified for a reflective call."""
        texts = self._specification.at(call.method, call.offset) if self._offsets.size else None
        if texts is None or each.role not in (*_CALLS, *_NAMED, *_ACTING) or not self._names_operand(each):
            return
        plain = each.role in _NAMED and each.named >= 0
        whole = [text for text in texts if each.role in api.FINDING and "." in text]
        settled = {NAME} if plain else {SUBJECT}
        self.operands[call.site] = frozenset(settled | ({NAME, SUBJECT} if whole or not texts else set()))
        self.names.add(self._rows_of(each, call, texts))

    def _names_operand(self, each: Api) -> bool:
        """Returns whether a name can stand for an operand: `Lookup.bind` takes an object in place of a class."""
        return each.role != api.FIND_HANDLE or each.subject >= 0

    def _rows_of(self, each: Api, call: SiteCall, texts: Sequence[str]) -> Iterator[Any]:
        for text in texts:
            if not self._names_something(each, text):
                self._specification.absent(call.method, call.offset, text)
            yield from self._rows(each, call, text)

    def _names_something(self, each: Api, text: str) -> bool:
        """Returns whether a name that is specified at a call is that of a class or member in the program."""
        if each.role in (api.INVOKE, *_ACTING):
            return any(True for _ in self._members(each, text))
        owner = text.rpartition(".")[0] if each.role in api.FINDING and each.named >= 0 else text
        type_ = class_named(self._program, owner)
        return not owner or (type_ >= 0 and not self._program.flags_of_type(type_) & PHANTOM)

    def _rows(self, each: Api, call: SiteCall, text: str) -> Iterator[Any]:
        """Yields the call once more, with other operands in place of those that are specified, and what these are."""
        site: Any = call.site
        subject: Any = call.argument(each.subject) if each.subject >= 0 else NONE
        operand: Any = self._constraints.fresh()
        if each.role == api.FOR_NAME:
            yield rel.ForName(site, operand, int(each.initialises))
            yield rel.StringAt(operand, text)
        elif each.role == api.GET_MEMBER and each.named < 0:
            yield rel.GetMember(site, each.sort, int(each.declared), operand, NONE)  # type: ignore[arg-type]
            yield from self._class_at(operand, text)
        elif each.role == api.GET_MEMBER:
            owner, _, name = text.rpartition(".")
            if owner:
                subject = self._constraints.fresh()
                yield from self._class_at(subject, owner)
            yield rel.GetMember(site, each.sort, int(each.declared), subject, operand)
            yield rel.StringAt(operand, name)
        elif each.role == api.LIST_MEMBERS:
            yield rel.ListMembers(site, each.sort, int(each.declared), operand)
            yield from self._class_at(operand, text)
        elif each.role == api.CLASS_NEW:
            yield rel.NewInstanceCall(site, operand, 1)
            yield from self._class_at(operand, text)
        elif each.role == api.FIND_HANDLE:
            yield from self._lookup(each, call, operand, text)
        elif each.role == api.UNREFLECT:
            yield from (rel.UnreflectCall(site, kind, operand) for kind in each.kinds)
        elif each.role == api.CALL_HANDLE:
            yield rel.HandleCall(site, operand)
        elif each.role in _CALLS:
            yield _CALLS[each.role](site, operand, 1, NONE)
        else:
            yield rel.FieldCall(site, operand, int(each.role == api.FIELD_SET), 1)
        for found in self._members(each, text):
            yield from self._at(each, operand, found)

    def _lookup(self, each: Api, call: SiteCall, operand: Any, text: str) -> Iterator[Any]:
        """Yields a lookup of a handle once more."""
        site: Any = call.site
        is_constructor = each.kind == api.NEW
        owner, _, name = (text, "", "") if is_constructor else text.rpartition(".")
        subject: Any = self._constraints.fresh() if owner else call.argument(each.subject)
        type_: Any = call.argument(each.typed)
        yield rel.LookupCall(site, each.kind, subject, NONE if is_constructor else operand, type_)  # type: ignore[arg-type]
        yield from self._class_at(subject, owner)
        if name:
            yield rel.StringAt(operand, name)

    def _at(self, each: Api, operand: Any, found: Target) -> Iterator[Any]:
        """Yields what is at an operand where a member is specified."""
        member: Any = found.id
        if each.role == api.CALL_HANDLE:
            yield from (rel.HandleAt(operand, member, kind) for kind in self._kinds(found))
        else:
            yield rel.FieldAt(operand, member) if found.kind == "field" else rel.MethodAt(operand, member)

    def _kinds(self, found: Target) -> tuple[int, ...]:
        """Returns the reference kinds of the handles of a member that may be meant: of a field both that read and that write."""
        if found.kind == "field":
            static = is_static(self._program, found.id)
            return api.GET_FIELD + static, api.PUT_FIELD + static
        if self._program.name_of_method(found.id)[1] == "<init>":
            return (api.NEW,)
        return (kind_of(self._program, found.id),)

    def _class_at(self, operand: Any, text: str) -> Iterator[rel.ClassAt]:
        type_: Any = class_named(self._program, text)
        if type_ >= 0:
            yield rel.ClassAt(operand, type_)

    def _members(self, each: Api, text: str) -> Iterator[Target]:
        """Yields the members `a.b.C.name`, which the class may inherit, on which a call acts; constructors are its own."""
        if each.role not in (api.CONSTRUCTOR_NEW, api.INVOKE, *_ACTING):
            return
        of_class = each.role == api.CONSTRUCTOR_NEW or each.name == "unreflectConstructor"
        owner, _, name = (text, "", "<init>") if of_class else text.rpartition(".")
        type_, members = class_named(self._program, owner), self._members_of
        if name == "<init>":
            yield from (Target("method", method) for method in members.constructors(type_, declared=True))
            return
        of_field = each.role in (api.FIELD_GET, api.FIELD_SET) or each.kind in (api.GET_FIELD, api.PUT_FIELD)
        if not of_field:
            yield from (Target("method", method) for method in members.inherited_methods(type_, (name,)))
        if each.role != api.INVOKE:
            yield from (Target("field", field) for field in members.inherited_fields(type_, (name,)))

    def answer(self, facts: Facts, reflective: Collection[int]) -> Iterator[int]:
        """Has calls of a batch that are not reflective return the texts that are specified for them; yields these.

        They return a string of unknown text as well, so that nothing is lost that follows from one.
        """
        if not self._offsets.size:
            return
        invoke = facts[schema.Invoke]
        constraints = self._constraints
        for row in np.flatnonzero(np.isin(invoke.offset, self._offsets) & (invoke.result >= 0)).tolist():
            site, method, offset, result = (
                int(getattr(invoke, name)[row]) for name in ("site", "method", "offset", "result")
            )
            texts = self._specification.at(method, offset) if site not in reflective else None
            if texts is None:
                continue
            unknown = constraints.object(heap.UNKNOWN, self._program.type_named(STRING), method, offset, site)
            constraints.put(result, unknown)
            for text in map(self._program.text_of, texts):
                constraints.put(result, constraints.text_object(text))
                constraints.add(schema.StringConstant, method, offset, text, result)
            self.answered.add(site)
            yield site
