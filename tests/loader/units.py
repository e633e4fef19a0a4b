"""Units written by hand: classes with the rows of their methods, references given by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from cypher.program import ABSTRACT, INTERFACE, NATIVE, PUBLIC
from loader.names import parameters
from loader.unit import CLASS, DYNAMIC, METHOD_HANDLE, METHOD_TYPE, RELATIONS, STRING, Unit

OBJECT = "java/lang/Object"
VIRTUAL_CALL, SPECIAL_CALL, STATIC_CALL, INTERFACE_CALL = 182, 183, 184, 185

Key = TypeVar("Key")


@dataclass
class Method:
    """A method; a row is the name of a relation and its columns, references by name."""

    name: str
    descriptor: str = "()V"
    flags: int = PUBLIC
    rows: Sequence[tuple[Any, ...]] = ()
    lines: Sequence[tuple[int, int]] = ()
    variables: int = 0

    def parameters(self) -> int:
        return len(parameters(self.descriptor)) + (0 if self.flags & 0x8 else 1)


@dataclass
class Class:
    """A class; `bootstraps` are (handle kind, method reference, static arguments as (kind, value))."""

    name: str
    superclass: str | None = OBJECT
    interfaces: Sequence[str] = ()
    flags: int = PUBLIC
    methods: Sequence[Method] = ()
    fields: Sequence[tuple[str, str, int]] = ()
    bootstraps: Sequence[tuple[int, tuple[str, str, str], Sequence[tuple[int, Any]]]] = ()
    source: str = ""
    constants: Mapping[str, str] = field(default_factory=dict)  # of fields, by their names


def interface(name: str, *interfaces: str, methods: Sequence[Method] = ()) -> Class:
    return Class(name, OBJECT, interfaces, PUBLIC | INTERFACE | ABSTRACT, methods)


class _Table(dict[Key, int]):
    def __missing__(self, key: Key) -> int:
        self[key] = len(self)
        return self[key]


@dataclass
class _Tables:
    text: _Table[str] = field(default_factory=_Table)
    type: _Table[str] = field(default_factory=_Table)
    signature: _Table[tuple[str, str]] = field(default_factory=_Table)
    method_ref: _Table[tuple[str, str, str]] = field(default_factory=_Table)
    field_ref: _Table[tuple[str, str, str]] = field(default_factory=_Table)
    handle: _Table[tuple[int, tuple[str, str, str]]] = field(default_factory=_Table)

    def constant(self, kind: int, value: Any) -> int:
        tables: dict[int, Any] = {
            STRING: self.text,
            CLASS: self.type,
            METHOD_TYPE: self.text,
            METHOD_HANDLE: self.handle,
        }
        if kind == DYNAMIC:
            return -1 if value is None else self.text[value]
        return int(tables[kind][value]) if kind in tables else int(value)

    def column(self, name: str, value: Any, row: dict[str, Any]) -> int:
        tables: dict[str, Any] = {
            "type_ref": self.type,
            "field_ref": self.field_ref,
            "method_ref": self.method_ref,
        }
        if name == "ref":
            return self.constant(row["kind"], value)
        if name == "signature":
            return self.signature[value]
        return int(tables[name][value]) if name in tables and value != -1 else int(value)


def unit_of(*classes: Class) -> Unit:
    """Returns the unit of `classes`."""
    tables = _Tables()
    methods = [method for each in classes for method in each.methods]
    body_at, body = _bodies(methods, tables)
    members = {method.name for method in methods} | {name for each in classes for name, _, _ in each.fields}
    bootstraps = [bootstrap for each in classes for bootstrap in each.bootstraps]
    static = [argument for _, _, arguments in bootstraps for argument in arguments]
    interned: dict[str, Any] = {
        "class_type": _ints(tables.type[each.name] for each in classes),
        "class_super": _ints(
            -1 if each.superclass is None else tables.type[each.superclass] for each in classes
        ),
        "class_source": _ints(tables.text[each.source] if each.source else -1 for each in classes),
        "class_entry": _ints(tables.text[each.name + ".class"] for each in classes),
        "class_interfaces": _ints(tables.type[name] for each in classes for name in each.interfaces),
        "method_signature": _ints(tables.signature[each.name, each.descriptor] for each in methods),
        "field_name": _ints(tables.text[name] for each in classes for name, _, _ in each.fields),
        "field_descriptor": _ints(
            tables.text[descriptor] for each in classes for _, descriptor, _ in each.fields
        ),
        "field_constant": _ints(
            tables.text[each.constants[name]] if name in each.constants else -1
            for each in classes
            for name, _, _ in each.fields
        ),
        "bootstrap_method": _ints(tables.method_ref[ref] for _, ref, _ in bootstraps),
        "bootstrap_argument_ref": _ints(tables.constant(*each) for each in static),
    }
    handles = list(tables.handle)
    interned["handle_kind"] = _ints(kind for kind, _ in handles)
    interned["handle_ref"] = _ints(
        (tables.field_ref if kind < 5 else tables.method_ref)[ref] for kind, ref in handles
    )
    for prefix, refs in (("method_ref", list(tables.method_ref)), ("field_ref", list(tables.field_ref))):
        interned[prefix + "_type"] = _ints(tables.type[owner] for owner, _, _ in refs)
        if prefix == "method_ref":
            interned["method_ref_signature"] = _ints(tables.signature[name, text] for _, name, text in refs)
        else:
            interned["field_ref_name"] = _ints(tables.text[name] for _, name, _ in refs)
            interned["field_ref_descriptor"] = _ints(tables.text[text] for _, _, text in refs)
    interned["type_text"] = _ints(tables.text[name] for name in list(tables.type))
    interned["signature_name"] = _ints(tables.text[name] for name, _ in list(tables.signature))
    interned["signature_descriptor"] = _ints(tables.text[text] for _, text in list(tables.signature))
    for name in members:
        _ = tables.text[name]
    texts = [text.encode("utf-8", "surrogatepass") for text in tables.text]
    return Unit(
        **interned,
        text_at=_at(len(text) for text in texts),
        text_bytes=np.frombuffer(b"".join(texts), np.uint8),
        text_member=np.array([text in members for text in tables.text], np.uint8),
        method_ref_interface=_ints(0 for _ in tables.method_ref),
        class_flags=_ints(each.flags for each in classes),
        class_version=_ints(61 for _ in classes),
        class_generic=_ints(-1 for _ in classes),
        class_host=_ints(-1 for _ in classes),
        class_declaring=_ints(-1 for _ in classes),
        class_enclosing=_ints(-1 for _ in classes),
        class_members_at=_at(0 for _ in classes),
        class_members=_ints(()),
        class_permitted_at=_at(0 for _ in classes),
        class_permitted=_ints(()),
        class_interfaces_at=_at(len(each.interfaces) for each in classes),
        class_methods_at=_at(len(each.methods) for each in classes),
        class_fields_at=_at(len(each.fields) for each in classes),
        class_bootstraps_at=_at(len(each.bootstraps) for each in classes),
        method_flags=_ints(each.flags for each in methods),
        method_generic=_ints(-1 for _ in methods),
        method_parameters=_ints(each.parameters() for each in methods),
        method_variables=_ints(max(each.variables, each.parameters() + 2) for each in methods),
        method_code=_ints(0 if each.flags & (ABSTRACT | NATIVE) else 1 for each in methods),
        method_exceptions_at=_at(0 for _ in methods),
        method_exceptions=_ints(()),
        method_lines_at=_at(len(each.lines) for each in methods),
        line_offset=_ints(offset for each in methods for offset, _ in each.lines),
        line_number=_ints(line for each in methods for _, line in each.lines),
        field_flags=_ints(flags for each in classes for _, _, flags in each.fields),
        field_generic=_ints(-1 for each in classes for _ in each.fields),
        bootstrap_kind=_ints(kind for kind, _, _ in bootstraps),
        bootstrap_arguments_at=_at(len(arguments) for _, _, arguments in bootstraps),
        bootstrap_argument_kind=_ints(kind for kind, _ in static),
        body_at=body_at,
        body=body,
    )


def _bodies(methods: Sequence[Method], tables: _Tables) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    body_at, body = {}, {}
    for relation, names in RELATIONS.items():
        rows = [
            [dict(zip(names, row[1:], strict=True)) for row in each.rows if row[0] == relation]
            for each in methods
        ]
        body_at[relation] = _at(len(each) for each in rows)
        body[relation] = {
            name: _ints(tables.column(name, row[name], row) for each in rows for row in each)
            for name in names
        }
    return body_at, body


def _ints(values: Any) -> Any:
    return np.array(list(values), np.int32)


def _at(counts: Any) -> Any:
    return np.concatenate(([0], np.cumsum(np.array(list(counts), np.int64)))).astype(np.int64)


def jdk(*more: Class) -> Unit:
    """Returns a unit of the few classes that every program needs, and `more`."""
    to_string = Method("toString", "()Ljava/lang/String;")
    return unit_of(
        Class(
            OBJECT,
            None,
            methods=(
                Method("<init>"),
                to_string,
                Method("hashCode", "()I", PUBLIC | NATIVE),
                Method("equals", "(Ljava/lang/Object;)Z"),
                Method("clone", "()Ljava/lang/Object;", 0x4 | NATIVE),
            ),
        ),
        interface("java/lang/Cloneable"),
        interface("java/io/Serializable"),
        Class(
            "java/lang/String",
            OBJECT,
            ("java/io/Serializable",),
            PUBLIC | 0x10,
            (Method("<init>"), to_string),
        ),
        *more,
    )
