"""A unit: the translated content of one archive, as flat columns with ids of its own.

The translator writes units, the cache keeps them, and the linker turns their ids into the program's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cypher.schema import Diagnostic

# Bump whenever the translation of a class file changes: it is part of every cache key.
VERSION = 12
# States of `Unit.method_code`.
NO_CODE, TRANSLATED, DROPPED = range(3)

# What a constant (`ldc`) or a bootstrap argument refers to; `ref` is an id of the named table, the text of its
# descriptor for a DYNAMIC bootstrap argument. (Loading a DYNAMIC constant is a row of `dynamic`.)
STRING, CLASS, METHOD_TYPE, METHOD_HANDLE, DYNAMIC, NUMBER = range(6)

# Columns of each relation of method bodies. Ids: `…variable`-like columns are variables of the method in the
# layout of `cypher.schema`; `type_ref`, `field_ref`, `method_ref`, `text`, `signature` are rows of the unit.
RELATIONS: dict[str, tuple[str, ...]] = {
    "new": ("offset", "type_ref", "target"),
    "constant": ("offset", "kind", "ref", "target"),
    "assign": ("offset", "source", "target"),
    "cast": ("offset", "source", "type_ref", "target"),
    "load": ("offset", "base", "field_ref", "target"),
    "store": ("offset", "source", "field_ref", "base"),
    "array_load": ("offset", "base", "target"),
    "array_store": ("offset", "source", "index", "base"),
    # target/source is -1 where the field is primitive (the access still triggers initialisation)
    "static_load": ("offset", "field_ref", "target"),
    "static_store": ("offset", "source", "field_ref"),
    # opcode: 182 virtual, 183 special, 184 static, 185 interface
    "invoke": ("offset", "opcode", "method_ref", "result", "thrown"),
    # ordinal: index of the row of `invoke` among those of the method; reference arguments only
    "argument": ("ordinal", "position", "variable"),
    "exact_argument": ("ordinal", "position", "length", "index", "variable"),
    "result_cast": ("ordinal", "type_ref"),
    # bootstrap: row of the class's bootstrap table; signature: name and descriptor of the call, or of the constant
    "dynamic": ("offset", "bootstrap", "signature", "result", "thrown"),
    "dynamic_argument": ("ordinal", "position", "variable"),
    "catch": ("offset", "source", "type_ref", "target"),
    "uncaught": ("offset", "source", "type_ref", "target"),
}


def _empty() -> NDArray[np.int32]:
    return np.empty(0, np.int32)


def _none() -> NDArray[np.int64]:
    return np.zeros(1, np.int64)


@dataclass
class Unit:
    """Tables of one archive. Arrays are int32 unless said otherwise; `…_at` arrays are int64 offsets (CSR)."""

    # --- text: names, descriptors and string constants, each once, as modified-UTF-8-decoded text encoded
    # in UTF-8 with surrogatepass. `text_member[i]` is 1 if it is the name of a field or method declared here.
    text_at: NDArray[np.int64]
    text_bytes: NDArray[np.uint8]
    text_member: NDArray[np.uint8]
    # --- references
    type_text: NDArray[np.int32]  # type_ref -> text: internal name (a/b/C) or array descriptor ([I, [La/b/C;)
    signature_name: NDArray[np.int32]  # signature -> text
    signature_descriptor: NDArray[np.int32]  # signature -> text
    method_ref_type: NDArray[np.int32]  # method_ref -> type_ref
    method_ref_signature: NDArray[np.int32]  # method_ref -> signature
    method_ref_interface: NDArray[np.int32]  # 1 if an InterfaceMethodref
    field_ref_type: NDArray[np.int32]
    field_ref_name: NDArray[np.int32]  # text
    field_ref_descriptor: NDArray[np.int32]  # text
    # --- classes (in the order of the archive; one row per class that could be read)
    class_type: NDArray[np.int32]  # type_ref
    class_super: NDArray[np.int32]  # type_ref or -1
    class_flags: NDArray[np.int32]
    class_version: NDArray[np.int32]  # major
    class_source: NDArray[np.int32]  # text of SourceFile or -1
    class_generic: NDArray[np.int32]  # text of Signature (JVMS 4.7.9) or -1; likewise for methods and fields
    class_host: NDArray[np.int32]  # type_ref of the nest host or -1
    class_declaring: NDArray[np.int32]  # type_ref of the class of which it is a member or -1
    class_enclosing: NDArray[np.int32]  # type_ref of the class in whose body it stands or -1
    class_members_at: NDArray[np.int64]
    class_members: NDArray[np.int32]  # type_refs of the member classes
    class_permitted_at: NDArray[np.int64]
    class_permitted: NDArray[np.int32]  # type_refs of the permitted subclasses
    class_entry: NDArray[np.int32]  # text: entry name in the archive
    class_interfaces_at: NDArray[np.int64]
    class_interfaces: NDArray[np.int32]  # type_refs
    class_methods_at: NDArray[np.int64]  # methods of class c are rows [at[c], at[c + 1])
    class_fields_at: NDArray[np.int64]
    class_bootstraps_at: NDArray[np.int64]
    # --- methods
    method_signature: NDArray[np.int32]
    method_flags: NDArray[np.int32]
    method_generic: NDArray[np.int32]
    method_parameters: NDArray[np.int32]  # P: parameters with the receiver
    method_variables: NDArray[np.int32]  # at least P + 2
    method_code: NDArray[np.int32]  # 0 none, 1 translated, 2 could not be translated (a diagnostic says why)
    method_exceptions_at: NDArray[np.int64]
    method_exceptions: NDArray[np.int32]  # type_refs of the exceptions that it declares
    method_lines_at: NDArray[np.int64]
    line_offset: NDArray[np.int32]
    line_number: NDArray[np.int32]
    # --- fields
    field_name: NDArray[np.int32]  # text
    field_descriptor: NDArray[np.int32]  # text
    field_flags: NDArray[np.int32]
    field_generic: NDArray[np.int32]
    # --- bootstrap methods (JVMS 4.7.23)
    bootstrap_kind: NDArray[np.int32]  # reference_kind of the method handle (JVMS 4.4.8)
    bootstrap_method: NDArray[np.int32]  # method_ref
    bootstrap_arguments_at: NDArray[np.int64]
    bootstrap_argument_kind: NDArray[np.int32]  # STRING … NUMBER
    # per kind: text | type_ref | text (descriptor) | handle | -1 | the number itself if an int, else -1
    bootstrap_argument_ref: NDArray[np.int32]
    handle_kind: NDArray[np.int32]  # reference_kind 1..9
    handle_ref: NDArray[np.int32]  # field_ref for kinds 1..4, method_ref for 5..9
    # --- method bodies: for each relation, offsets by method (length methods + 1) and its columns, by name
    body_at: dict[str, NDArray[np.int64]]
    body: dict[str, dict[str, NDArray[np.int32]]]
    # ---
    diagnostics: list[Diagnostic] = field(default_factory=list)
    # text that a static field holds from the start (its ConstantValue) or -1, by field; empty if not known
    field_constant: NDArray[np.int32] = field(default_factory=_empty)
    # --- the types of annotations, whether visible at run time or not, as texts (descriptors)
    class_annotations_at: NDArray[np.int64] = field(default_factory=_none)
    class_annotations: NDArray[np.int32] = field(default_factory=_empty)
    field_annotations_at: NDArray[np.int64] = field(default_factory=_none)
    field_annotations: NDArray[np.int32] = field(default_factory=_empty)
    method_annotations_at: NDArray[np.int64] = field(default_factory=_none)
    method_annotations: NDArray[np.int32] = field(default_factory=_empty)
    # --- declarations beside code: `service_provider` provides the service; an annotation has a text (STRING) or a
    # class (CLASS, by the text of its descriptor) as value of an element
    service_type: NDArray[np.int32] = field(default_factory=_empty)  # type_ref
    service_provider: NDArray[np.int32] = field(default_factory=_empty)  # type_ref
    service_module: NDArray[np.int32] = field(
        default_factory=_empty
    )  # 1 if a module declaration says so, 0 if a configuration file does
    # packages that are exported, or opened (1), to every module: by module declarations and the manifest
    package_name: NDArray[np.int32] = field(default_factory=_empty)  # text: internal name
    package_opened: NDArray[np.int32] = field(default_factory=_empty)
    annotation_type: NDArray[np.int32] = field(default_factory=_empty)  # text: descriptor
    annotation_element: NDArray[np.int32] = field(default_factory=_empty)  # text
    annotation_kind: NDArray[np.int32] = field(default_factory=_empty)
    annotation_value: NDArray[np.int32] = field(default_factory=_empty)  # text
