"""The class hierarchy of random programs, beside a model that follows the specification word by word.

What the model says of supertypes, overriding, resolution, selection and initialisation is JVMS 4.10, 5.4.3,
5.4.5, 5.4.6, 5.5 and 6.5, without regard to cost.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest

from cypher.program import (
    ABSTRACT,
    ACC_STATIC,
    APPLICATION,
    FINAL,
    INTERFACE,
    JDK,
    NATIVE,
    PHANTOM,
    PRIVATE,
    PROTECTED,
    PUBLIC,
    SYNTHETIC,
)
from cypher.schema import Invoke
from loader import hierarchy
from loader.link import LinkedProgram, link
from loader.members import MadeMethod
from tests.loader.reading import calls, facts, program_of, selected
from tests.loader.units import (
    INTERFACE_CALL,
    OBJECT,
    SPECIAL_CALL,
    STATIC_CALL,
    VIRTUAL_CALL,
    Class,
    Method,
    interface,
    jdk,
    unit_of,
)

Signature = tuple[str, str]
Named = tuple[str, str, str]  # class, name, descriptor

CLONEABLE, SERIALIZABLE = "java/lang/Cloneable", "java/io/Serializable"
CLINIT, INIT = ("<clinit>", "()V"), ("<init>", "()V")
SIGNATURES = [
    ("m", "()V"), ("n", "()V"), ("m", "(I)V"), ("s", "()V"), ("hashCode", "()I"), ("clone", "()Ljava/lang/Object;"), INIT,
]  # fmt: skip
OPCODES = (VIRTUAL_CALL, SPECIAL_CALL, STATIC_CALL, INTERFACE_CALL)
KINDS = {STATIC_CALL: 0, SPECIAL_CALL: 1, VIRTUAL_CALL: 2, INTERFACE_CALL: 2}
CALLERS = "calls"


# --- the specification
@dataclass(frozen=True)
class Model:
    """Classes by name; a class that isn't there is one without members below Object."""

    classes: dict[str, Class]
    # What was found before.
    above: dict[str, set[str]] = field(default_factory=dict)

    def superclass(self, name: str) -> str | None:
        if name.startswith("["):
            return OBJECT
        return self.classes[name].superclass if name in self.classes else OBJECT

    def interfaces(self, name: str) -> Sequence[str]:
        if name.startswith("["):
            return (CLONEABLE, SERIALIZABLE)
        return self.classes[name].interfaces if name in self.classes else ()

    def is_interface(self, name: str) -> bool:
        return name in self.classes and bool(self.classes[name].flags & INTERFACE)

    def supertypes(self, name: str) -> set[str]:
        """JVMS 4.10.1.2: reflexive and transitive; arrays are covariant."""
        if name in self.above:
            return self.above[name]
        direct = {self.superclass(name) or name, *self.interfaces(name)} - {name}
        found = {name}.union(*(self.supertypes(each) for each in direct))
        if name[:2] in {"[L", "[["}:
            element = name[1:] if name[1] == "[" else name[2:-1]
            found |= {array_of(each) for each in self.supertypes(element)}
        self.above[name] = found
        return found

    def superclasses(self, name: str) -> Iterator[str]:
        """The class and its superclasses, from below."""
        each: str | None = name
        while each is not None:
            yield each
            each = self.superclass(each)

    def declared(self, name: str, signature: Signature) -> Method | None:
        if name not in self.classes:
            return None
        methods = self.classes[name].methods
        return next((each for each in methods if (each.name, each.descriptor) == signature), None)

    def flags(self, name: str, signature: Signature) -> int:
        found = self.declared(name, signature)
        assert found is not None
        return found.flags

    def is_instance(self, name: str, signature: Signature) -> bool:
        found = self.declared(name, signature)
        return found is not None and not found.flags & ACC_STATIC

    # JVMS 5.4.3.2
    def field(self, name: str, field: Signature) -> str | None:
        """The class whose field it is."""
        if name in self.classes and field in {each[:2] for each in self.classes[name].fields}:
            return name
        found = (self.field(each, field) for each in self.interfaces(name))
        # (what is above interfaces is looked at last)
        above = next((each for each in found if each not in {None, OBJECT}), None)
        superclass = self.superclass(name)
        return self.field(superclass, field) if above is None and superclass else above

    # JVMS 5.4.3.3
    def maximally_specific(self, name: str, signature: Signature) -> list[str]:
        """The superinterfaces with a maximally-specific method, by name."""
        inherited = {
            each
            for each in self.supertypes(name) - {name}
            if self.is_interface(each)
            and self.declared(each, signature)
            and not self.flags(each, signature) & (PRIVATE | ACC_STATIC)
        }
        return sorted(
            each
            for each in inherited
            if not any(each in self.supertypes(other) for other in inherited - {each})
        )

    def concrete(self, name: str, signature: Signature) -> list[str]:
        """Those of them whose method isn't abstract."""
        found = self.maximally_specific(name, signature)
        return [each for each in found if not self.flags(each, signature) & ABSTRACT]

    def method(self, name: str, signature: Signature) -> str | None:
        """JVMS 5.4.3.3 and 5.4.3.4: the class whose method a reference resolves to."""
        if self.is_interface(name):
            if self.declared(name, signature):
                return name
            if (
                self.declared(OBJECT, signature)
                and self.flags(OBJECT, signature) & (PUBLIC | ACC_STATIC) == PUBLIC
            ):
                return OBJECT
        else:
            for each in self.superclasses(name):
                if self.declared(each, signature):
                    return each
        concrete = self.concrete(name, signature)
        if len(concrete) == 1:
            return concrete[0]
        # Any may be chosen: the first by name.
        return next(iter(self.maximally_specific(name, signature)), None)

    def can_override(self, name: str, above: str, signature: Signature) -> bool:
        """JVMS 5.4.5, for methods that both classes declare."""
        if self.flags(name, signature) & (PRIVATE | ACC_STATIC):
            return False
        flags = self.flags(above, signature)
        if flags & (PRIVATE | ACC_STATIC):
            return False
        if flags & (PUBLIC | PROTECTED) or package(name) == package(above):
            return True
        between = [
            each
            for each in self.superclasses(name)
            if each not in {name, above} and above in self.supertypes(each) and self.declared(each, signature)
        ]
        return any(
            self.can_override(name, each, signature) and self.can_override(each, above, signature)
            for each in between
        )

    def selected(self, receiver: str, resolved: str, signature: Signature) -> str | None:
        """JVMS 5.4.6: the class whose method is invoked on an instance of `receiver`."""
        for each in self.superclasses(receiver):
            if self.declared(each, signature) and self.can_override(each, resolved, signature):
                return each
        concrete = self.concrete(receiver, signature)
        return concrete[0] if len(concrete) == 1 else None

    def special(self, caller: str, name: str, signature: Signature) -> str | None:
        """JVMS 6.5, invokespecial: the class whose method is invoked."""
        start = name
        # (of what is missing, nobody knows whether it is an interface)
        if not self.is_interface(name) and name in self.supertypes(caller) - {caller}:
            start = self.superclass(caller) or OBJECT
        if self.is_interface(start):
            if self.is_instance(start, signature):
                return start
            if self.is_instance(OBJECT, signature) and self.flags(OBJECT, signature) & PUBLIC:
                return OBJECT
        else:
            for each in self.superclasses(start):
                if self.is_instance(each, signature):
                    return each
        concrete = self.concrete(start, signature)
        return concrete[0] if len(concrete) == 1 else None

    def call(self, opcode: int, name: str, signature: Signature, caller: str) -> tuple[int, str | None]:
        """The kind of a call and the class whose method it resolves to or, if it is known, invokes."""
        kind = KINDS[opcode]
        found = self.method(name, signature)
        if found is None or bool(self.flags(found, signature) & ACC_STATIC) != (opcode == STATIC_CALL):
            return kind, None
        if signature[0].startswith("<"):
            return kind, found if opcode == SPECIAL_CALL and found == name else None
        if self.flags(found, signature) & PRIVATE:
            return (1 if kind == 2 else kind), found
        return kind, self.special(caller, name, signature) if opcode == SPECIAL_CALL else found

    # JVMS 5.5
    def initialised(self, name: str) -> list[str]:
        """The types whose `<clinit>` runs when `name` is initialised, in that order."""
        order: list[str] = []

        def superinterfaces(each: str) -> None:
            for above in self.interfaces(each):
                superinterfaces(above)
                methods = self.classes[above].methods if above in self.classes else ()
                if any(not method.flags & (ABSTRACT | ACC_STATIC) for method in methods):
                    order.append(above)

        def initialise(each: str) -> None:
            above = self.superclass(each)
            if not self.is_interface(each):
                if above is not None:
                    initialise(above)
                superinterfaces(each)
            order.append(each)

        initialise(name)
        return [each for each in dict.fromkeys(order) if self.declared(each, CLINIT)]


def package(name: str) -> str:
    return name.rpartition("/")[0]


def array_of(name: str) -> str:
    return "[" + name if name.startswith("[") else f"[L{name};"


# --- random programs
JDK_OBJECT = (
    Method("<init>"), Method("toString", "()Ljava/lang/String;"), Method("hashCode", "()I", PUBLIC | 0x100),
    Method("equals", "(Ljava/lang/Object;)Z"), Method("clone", "()Ljava/lang/Object;", PROTECTED | 0x100),
)  # fmt: skip

FIELDS = [("f", "I"), ("g", "LA;")]


@dataclass(frozen=True)
class Kind:
    """What random programs are made of: how often a type is an interface, and a method or field is declared."""

    interfaces: float
    methods: float
    fields: float


KINDS_OF_PROGRAMS = (Kind(0.4, 0.3, 0.3), Kind(0.05, 0.6, 0.1), Kind(0.75, 0.5, 0.2))
OF_CLASSES = (
    PUBLIC, PUBLIC, PROTECTED, 0, 0, 0, PRIVATE, PUBLIC | ACC_STATIC, ACC_STATIC, PRIVATE | ACC_STATIC,
    PUBLIC | ABSTRACT,
)  # fmt: skip
OF_INTERFACES = (PUBLIC, PUBLIC, PUBLIC | ABSTRACT, PUBLIC | ABSTRACT, PRIVATE, PUBLIC | ACC_STATIC)


def root(chance: random.Random) -> Class:
    """Returns java.lang.Object, whose members come in any order, as any may be the first of the program."""
    methods = [Method("s", flags=PUBLIC | ACC_STATIC), *JDK_OBJECT]
    methods += [Method(*CLINIT, flags=ACC_STATIC)] * (chance.random() < 0.2)
    methods += [Method("n", flags=chance.choice((0, PRIVATE)))] * (chance.random() < 0.3)
    chance.shuffle(methods)
    return Class(
        OBJECT, None, methods=methods, fields=[("g", "LA;", PUBLIC | ACC_STATIC)] * chance.choice((0, 1))
    )


def generated(chance: random.Random, kind: Kind) -> list[Class]:
    """Returns classes and interfaces of a few packages, each after those above it."""
    made: list[Class] = []
    for number in range(chance.randint(4, 10)):
        is_interface = chance.random() < kind.interfaces
        name = chance.choice(("", "p/", "q/")) + chance.choice("ABCDEFG") + str(number)
        above = [each.name for each in made if each.flags & INTERFACE] + [CLONEABLE]
        interfaces = tuple(chance.sample(above, min(len(above), chance.choice((0, 1, 1, 2, 3)))))
        if chance.random() < 0.05:
            interfaces += ("gone/I",)
        classes = [each.name for each in made if not each.flags & INTERFACE]
        superclass = OBJECT
        if not is_interface and classes and chance.random() < 0.85:
            superclass = chance.choice(classes[-2:])
        elif not is_interface and chance.random() < 0.1:
            superclass = "gone/C"
        methods = [
            Method(*signature, flags=chance.choice(OF_INTERFACES if is_interface else OF_CLASSES))
            for signature in SIGNATURES[:-1]
            if chance.random() < kind.methods / (1 if signature in SIGNATURES[:2] else 3)
        ]
        if not is_interface:
            methods += [
                Method(*INIT, flags=flags) for flags in (PUBLIC, PRIVATE, 0) if chance.random() < 0.3
            ][:1]
        if chance.random() < 0.5:
            methods.append(Method(*CLINIT, flags=ACC_STATIC))
        chance.shuffle(methods)
        fields = [(*each, PUBLIC | ACC_STATIC) for each in FIELDS if chance.random() < kind.fields]
        flags = chance.choice((0, PUBLIC)) | (INTERFACE | ABSTRACT if is_interface else 0)
        made.append(Class(name, superclass, interfaces, flags, methods, fields))
    return made


@dataclass
class Linked:
    """A random program, and what its rows say so far."""

    program: LinkedProgram
    model: Model
    roles: dict[str, str]

    def __post_init__(self) -> None:
        self.superclass: list[int] = []
        self.element: list[int] = []
        self.flags: list[int] = []
        self.supertypes: list[list[int]] = []
        self.declared: list[dict[int, int]] = []
        self.method_flags: list[int] = []
        self.methods: list[Named] = []

    def read(self) -> None:
        """Reads the new rows."""
        program, (rows, methods) = self.program, self.program.new_rows()
        assert (rows.first, methods.first) == (len(self.superclass), len(self.method_flags))
        self.superclass += rows.superclass.tolist()
        self.element += rows.element.tolist()
        self.flags += rows.flags.tolist()
        for start, end in zip(rows.supertypes_at[:-1], rows.supertypes_at[1:], strict=True):
            self.supertypes.append(rows.supertypes[start:end].tolist())
        for start, end in zip(rows.declared_at[:-1], rows.declared_at[1:], strict=True):
            signatures = rows.declared_signature[start:end].tolist()
            assert signatures == sorted(set(signatures))
            self.declared.append(dict(zip(signatures, rows.declared_method[start:end].tolist(), strict=True)))
        assert rows.supertypes_at[-1] == len(rows.supertypes)
        assert rows.declared_at[-1] == len(rows.declared_signature) == len(rows.declared_method)
        assert (
            len(self.declared)
            == len(self.supertypes)
            == len(self.flags)
            == len(self.element)
            == len(self.superclass)
        )
        first = len(self.method_flags)
        assert methods.returns.tolist() == [-1] * len(methods.flags)
        self.method_flags += methods.flags.tolist()
        for number, declaring, signature, parameters, variables in zip(
            range(first, len(self.method_flags)), methods.declaring.tolist(), methods.signature.tolist(),
            methods.parameters.tolist(), methods.variables.tolist(), strict=True,
        ):  # fmt: skip
            name = self.named(number)
            self.methods.append(name)
            assert name[0] == program.name_of_type(declaring)
            assert program.signature_of(number) == signature
            found = self.model.declared(name[0], name[1:])
            assert found is not None
            assert self.method_flags[number] == program.flags_of_method(number)
            application = APPLICATION if self.roles[name[0]] == "application" else 0
            assert self.method_flags[number] == found.flags | application
            assert parameters == found.parameters()
            assert variables == max(found.variables, parameters + 2)

    def named(self, method: int) -> Named:
        type_, name, descriptor = self.program.name_of_method(method)
        return self.program.name_of_type(type_), name, descriptor

    def owner(self, method: int) -> str | None:
        return None if method < 0 else self.named(method)[0]

    def select(self, receiver: int, signature: int) -> int:
        """What a virtual call selects, by the rows."""
        each = receiver
        while each >= 0:
            if signature in self.declared[each]:
                return self.declared[each][signature]
            each = self.superclass[each]
        found = [each for each in self.supertypes[receiver] if signature in self.declared[each]]
        below = {above for each in found for above in self.supertypes[each] if above != each}
        methods = [self.declared[each][signature] for each in found if each not in below]
        concrete = [each for each in methods if not self.method_flags[each] & ABSTRACT]
        return concrete[0] if len(concrete) == 1 else -1


def linked(seed: int) -> Linked:
    """Returns a random program, whose classes come in any order from archives of all roles."""
    chance = random.Random(seed)
    object_ = root(chance)
    classes = generated(chance, KINDS_OF_PROGRAMS[seed % 3])
    callers = [each for each in classes if not each.flags & INTERFACE][:3]
    sites = [
        ("invoke", offset, opcode, (name, *signature), -1, 2)
        for offset, (opcode, name, signature) in enumerate(
            (chance.choice(OPCODES), chance.choice(classes).name, chance.choice(SIGNATURES))
            for _ in range(20)
        )
    ]
    classes = [
        replace(each, methods=[*each.methods, Method(CALLERS, rows=sites)]) if each in callers else each
        for each in classes
    ]
    roles = {each.name: chance.choice(("jdk", "application", "application", "library")) for each in classes}
    chance.shuffle(classes)
    base = [object_, interface(CLONEABLE), interface(SERIALIZABLE)]
    roles |= {each.name: "jdk" for each in base}
    classes = base + classes
    units = [
        (unit_of(*(each for each in classes if roles[each.name] == role)), role, f"{role}.jar")
        for role in ("jdk", "application", "library")
    ]
    return Linked(link(units), Model({each.name: each for each in classes}), roles)


@pytest.mark.parametrize("seed", range(40))
def test_random_program_is_what_the_specification_says(seed: int) -> None:
    found = linked(seed)
    program, model, chance = found.program, found.model, random.Random(seed)
    names = list(model.classes)
    names += [array_of(chance.choice(names)) for _ in range(3)] + ["[I", "[[J"]
    names += [array_of(array_of(chance.choice(names[:-2])))]
    chance.shuffle(names)
    # Rows are read in between, so that types and methods come in several parts.
    for each in names:
        type_ = program.type_named(each)
        assert type_ >= 0
        if chance.random() < 0.2:
            runs = [program.name_of_type(type_) for type_, _ in program.initialisers_of(type_)]
            assert runs == model.initialised(each)
        if chance.random() < 0.2:
            declared = found.owner(program.method_of(type_, "m", "()V"))
            assert declared == (each if model.declared(each, ("m", "()V")) else None)
        if chance.random() < 0.3:
            found.read()
    found.read()
    number = {program.name_of_type(each): each for each in range(len(found.flags))}
    check_types(found, number)
    check_resolution(found, number)
    check_selection(found, number)
    check_calls(found, number)
    check_initialisation(found, number)
    check_fields(found, number)


def test_super_call_passes_over_a_static_method() -> None:
    program = program_of(
        Class("A", methods=(Method("m"),)),
        Class("B", "A", methods=(Method("m", flags=PUBLIC | ACC_STATIC),)),
        Class(
            "C", "B", methods=(Method("n", rows=(("invoke", 0, SPECIAL_CALL, ("A", "m", "()V"), -1, 2),)),)
        ),
    )
    assert calls(program, "C.n") == [("SPECIAL", "A.m")]


def test_method_of_narrower_access_is_not_overridden_with_the_one_above() -> None:
    program = program_of(
        Class("q/A", methods=(Method("m", flags=PROTECTED),)),
        Class("q/B", "q/A", methods=(Method("m", flags=0),)),
        Class("p/C", "q/B", methods=(Method("m"),)),
    )
    program.type_named("p/C")
    assert selected(program, "p/C", "q/B.m") == "q/B.m"


@pytest.mark.parametrize("entered", [(), ("q/A",), ("q/C",), ("q/A", "q/C")])
def test_method_of_narrower_access_is_not_overridden_with_one_two_above(entered: Sequence[str]) -> None:
    classes = (
        Class("q/A", methods=(Method("m", flags=0),)), Class("q/B", "q/A", methods=(Method("m"),)),
        Class("q/C", "q/B", methods=(Method("m", flags=0),)), Class("p/D", "q/C", methods=(Method("m"),)),
        Class("q/E", "p/D", methods=(Method("m"),)), Class("p/F", "q/E", methods=(Method("m", flags=0),)),
    )  # fmt: skip
    for receiver, resolved, expected in (
        ("p/D", "q/A", "p/D"), ("p/D", "q/B", "p/D"), ("p/D", "q/C", "q/C"), ("p/D", "p/D", "p/D"),
        ("q/C", "q/A", "q/C"), ("q/E", "q/A", "q/E"), ("q/E", "q/C", "q/E"), ("p/F", "q/C", "p/F"),
    ):  # fmt: skip
        program = program_of(*classes)
        for each in (*entered, receiver):
            # Methods are entered together with those of the types that nobody has asked for methods yet.
            assert program.method_of(program.type_named(each), "m", "()V") >= 0
        assert selected(program, receiver, f"{resolved}.m") == f"{expected}.m"


def check_types(found: Linked, number: dict[str, int]) -> None:
    program, model = found.program, found.model
    for name, type_ in number.items():
        missing = "gone/" in name
        assert {program.name_of_type(each) for each in found.supertypes[type_]} == model.supertypes(name)
        assert found.supertypes[type_] == sorted(found.supertypes[type_])
        assert found.supertypes[type_][-1] == type_
        assert program.supertypes_of(type_) == frozenset(found.supertypes[type_])
        superclass = model.superclass(name)
        assert found.superclass[type_] == (-1 if superclass is None else number[superclass])
        assert program.superclass_of(type_) == found.superclass[type_]
        assert list(program.interfaces_of(type_)) == [number[each] for each in model.interfaces(name)]
        assert program._types.has_phantom(type_) == any("gone/" in each for each in model.supertypes(name))
        assert found.flags[type_] == program.flags_of_type(type_)
        own = (
            model.classes[name].flags if name in model.classes else PUBLIC | (FINAL if name[0] == "[" else 0)
        )
        assert found.flags[type_] & ~(PHANTOM | APPLICATION | JDK) == own | (
            PUBLIC | FINAL if name[0] == "[" else 0
        )
        assert bool(found.flags[type_] & PHANTOM) == missing
        element = name[2:-1] if name[:2] == "[L" else name[1:] if name[:2] == "[[" else ""
        assert found.element[type_] == (number[element] if element else -1)
        base = name.lstrip("[").removeprefix("L").rstrip(";") if name.startswith("[") else name
        role = found.roles.get(base, "")
        assert bool(found.flags[type_] & APPLICATION) == (role == "application")
        assert bool(found.flags[type_] & JDK) == (role == "jdk")
        assert program.type_named(name) == (-1 if missing else type_)


def check_resolution(found: Linked, number: dict[str, int]) -> None:
    for name, type_ in number.items():
        for signature in SIGNATURES:
            resolved = found.program.resolve_method(type_, *signature)
            assert found.owner(resolved) == found.model.method(name, signature)
            declared = found.program.method_of(type_, *signature)
            assert found.owner(declared) == (name if found.model.declared(name, signature) else None)


def check_selection(found: Linked, number: dict[str, int]) -> None:
    model, program = found.model, found.program
    for receiver, receiver_type in number.items():
        if model.is_interface(receiver):
            continue
        for above in model.supertypes(receiver):
            for signature in SIGNATURES[:-1]:
                method = model.declared(above, signature)
                if method is None or method.flags & (PRIVATE | ACC_STATIC):
                    continue
                resolved = program.method_of(number[above], *signature)
                chosen = found.select(receiver_type, program.signature_of(resolved))
                expected = model.selected(receiver, above, signature)
                assert found.owner(chosen) == expected, (receiver, above, signature)


def check_calls(found: Linked, number: dict[str, int]) -> None:
    model, program = found.model, found.program
    resolver, signatures = program._linkage.resolver, program._linkage.signatures

    def expected(
        opcode: int, name: str, signature: Signature, caller: str
    ) -> tuple[int, str | None, str, int]:
        kind, callee = model.call(opcode, name, signature, caller)
        by = signatures.of(*signature)
        if kind == 2 and callee is not None:
            by = program.signature_of(program.method_of(number[callee], *signature))
        return kind, callee, name, by

    asked: set[tuple[int, str, Signature]] = set()
    for caller, each in model.classes.items():
        site = next((method for method in each.methods if method.name == CALLERS), None)
        if site is None:
            continue
        rows = facts(program, f"{caller}.{CALLERS}")[Invoke]
        columns = (rows.kind.tolist(), rows.callee.tolist(), rows.declared.tolist(), rows.signature.tolist())
        for (_, _, opcode, ref, _, _), row in zip(site.rows, zip(*columns, strict=True), strict=True):
            kind, callee, declared, signature = row
            read = (kind, found.owner(callee), program.name_of_type(declared), signature)
            assert read == expected(opcode, ref[0], ref[1:], caller), (caller, opcode, ref)
            asked.add((opcode, ref[0], ref[1:]))
    chance = random.Random(len(number))
    for _ in range(100):
        opcode, name, called = chance.choice(OPCODES), chance.choice(list(number)), chance.choice(SIGNATURES)
        caller = chance.choice(list(model.classes))
        call = resolver.call(opcode, number[name], signatures.of(*called), number[caller])
        read = (call.kind, found.owner(call.callee), program.name_of_type(call.declared), call.signature)
        assert read == expected(opcode, name, called, caller), (caller, opcode, name, called)
        asked.add((opcode, name, called))
    # What a class lacks is missing, unless what is missing may have it.
    assert resolver.missing == {
        (number[name], signatures.of(*called))
        for opcode, name, called in asked
        if call_fails(model, opcode, name, called)
        and not any("gone/" in each for each in model.supertypes(name))
    }


def call_fails(model: Model, opcode: int, name: str, signature: Signature) -> bool:
    """Whether the call resolves to nothing that it may call."""
    method = model.method(name, signature)
    if method is None or bool(model.flags(method, signature) & ACC_STATIC) != (opcode == STATIC_CALL):
        return True
    return signature[0].startswith("<") and (opcode != SPECIAL_CALL or method != name)


def check_initialisation(found: Linked, number: dict[str, int]) -> None:
    program, model = found.program, found.model
    runs = program._methods.runs.view.tolist()
    for name, type_ in number.items():
        expected = model.initialised(name)
        initialisers = program.initialisers_of(type_)
        assert [program.name_of_type(each) for each, _ in initialisers] == expected
        assert [found.named(method) for _, method in initialisers] == [(each, *CLINIT) for each in expected]
        # Interfaces are said to run what Object does, which is nothing in reality.
        assert bool(runs[type_]) == bool(expected) or (model.is_interface(name) and model.initialised(OBJECT))


def check_fields(found: Linked, number: dict[str, int]) -> None:
    program, model = found.program, found.model
    fields = program._fields
    missing = declared = phantoms = 0
    for name, type_ in number.items():
        for wanted in FIELDS:
            resolved = fields.resolve(type_, *wanted)
            assert fields.resolve(type_, *wanted) == resolved
            owner, *rest = fields.name_of(resolved)
            expected = model.field(name, wanted)
            assert (program.name_of_type(owner), *rest) == (expected or name, *wanted)
            assert bool(fields.flags_of(resolved) & PHANTOM) == (expected is None)
            phantoms += expected is None
            missing += expected is None and not program._types.has_phantom(type_)
        own = model.classes[name].fields if name in model.classes else ()
        assert [fields.name_of(each) for each in program.fields_of(type_)] == [
            (type_, *each[:2]) for each in own
        ]
        assert [fields.flags_of(each) for each in program.fields_of(type_)] == [each[2] for each in own]
        declared += len(own)
    assert len(fields.missing) == missing
    assert len(fields.declaring) == declared + phantoms, "ids are wasted"


# --- what random programs lack
def names_of(program: LinkedProgram) -> list[str]:
    """Returns the names of the new types."""
    rows, _ = program.new_rows()
    return [program.name_of_type(rows.first + each) for each in range(len(rows.flags))]


def test_what_is_above_a_type_is_entered_before_it_and_nothing_else() -> None:
    program = program_of(Class("A", "gone/B", ("I",)), interface("I"), Class("C", "A"))
    program.type_named("C")
    assert names_of(program) == [OBJECT, "gone/B", "I", "A", "C"]
    program.type_named("[LC;")
    assert names_of(program) == [
        CLONEABLE, SERIALIZABLE, "[Ljava/lang/Object;", "[Lgone/B;", "[LI;", "[LA;", "[LC;",
    ]  # fmt: skip
    assert names_of(program) == []


@pytest.mark.parametrize("name", ["A/A", "java/lang/Objecs", "java/lang/Objecu", "zoo/Z"])
def test_missing_class_is_below_object(name: str) -> None:
    program = program_of(Class("A", name))
    above = program.superclass_of(program.type_named("A"))
    assert (program.name_of_type(above), program.superclass_of(above)) == (name, program.type_named(OBJECT))
    assert [program.is_missing(each) for each in (above, program.type_named("A"))] == [True, False]


def test_primitive_types() -> None:
    program = program_of(Class("A"))
    type_ = program.type_named("int")
    assert program.flags_of_type(type_) == PUBLIC | FINAL | ABSTRACT
    assert (program.superclass_of(type_), list(program.interfaces_of(type_))) == (-1, [])
    assert program.type_named("int") == program._types.primitive("int") == type_
    assert program.type_named("boolean") not in {-1, type_}
    assert program.name_of_type(program.array_of(type_)) == "[I"
    assert program.diagnostics == []


@pytest.mark.parametrize(
    ("count", "more"), [(1, ""), (2, ""), (3, ""), (4, " and 1 more"), (9, " and 6 more")]
)
def test_missing_types_are_listed(count: int, more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hierarchy, "_SHOWN", 3)
    names = [f"gone/I{each}" for each in range(count)]
    program = program_of(Class("A", OBJECT, names))
    program._types.make("made/M", PUBLIC, [], 0)
    for each in ("[LA;", "int"):
        program.type_named(each)
    (found,) = program.diagnostics
    assert (found.code, found.severity, found.effect) == ("HIE-PHANTOM", "warning", "soundness")
    shown = ", ".join(f"gone.I{each}" for each in range(min(count, 3)))
    assert found.text.endswith(f": {shown}{more}")


@pytest.mark.parametrize(
    ("wrong", "what", "effect"),
    [
        (Class("p/A", "F"), "extends F, which is final", "none"),
        (Class("p/A", "p/I"), "extends p.I, an interface", "none"),
        (Class("p/A", "p/A"), "extends p.A, its own subclass", "soundness"),
        (Class("p/A", None), "has no class as its superclass", "none"),
        (Class("p/A", "[LF;"), "has no class as its superclass", "none"),
        (Class("p/A", OBJECT, ("[LF;",)), "implements [LF;, an array type", "none"),
        (Class("p/A", OBJECT, ("F",)), "implements F, a class", "none"),
        (Class("p/A", OBJECT, ("p/A",)), "implements p.A, its own subtype", "soundness"),
    ],
)
def test_supertypes_that_cannot_be(wrong: Class, what: str, effect: str) -> None:
    program = program_of(wrong, Class("F", flags=PUBLIC | FINAL), interface("p/I"))
    type_ = program.type_named("p/A")
    (found,) = program.diagnostics
    assert (found.severity, found.effect, found.archive, found.entry) == (
        "warning",
        effect,
        "app.jar",
        "p/A.class",
    )
    assert found.code == ("HIE-CYCLE" if effect == "soundness" else "HIE-KIND")
    assert found.text == f"p.A {what}"
    above = "F" if what.endswith("final") else OBJECT
    assert program.name_of_type(program.superclass_of(type_)) == above
    assert list(program.interfaces_of(type_)) == []


@pytest.mark.parametrize(
    "object_", [Class(OBJECT, None, ("I",)), Class(OBJECT, "A"), Class(OBJECT, "A", ("I",))]
)
def test_object_has_nothing_above_it(object_: Class) -> None:
    program = link([(unit_of(object_, interface("I"), Class("A")), "jdk", "jdk")])
    type_ = program.type_named(OBJECT)
    assert (program.supertypes_of(type_), program.superclass_of(type_)) == (frozenset({type_}), -1)
    assert list(program.interfaces_of(type_)) == []
    assert [(each.code, each.effect) for each in program.diagnostics] == [("HIE-KIND", "none")]


@pytest.mark.parametrize(("room", "cut"), [(6, 0), (5, 1), (3, 1), (2, 2)])
def test_room_for_supertypes(room: int, cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hierarchy, "_MOST_SUPERTYPES", room)
    program = program_of(Class("A"), Class("B", "A"))
    type_ = program.type_named("B")  # Object has one supertype, A two, B three
    found = [each.text for each in program.diagnostics]
    assert [each.split()[0] for each in found] == ([str(cut)] if cut else [])
    assert len(program.supertypes_of(type_)) == (2 if cut else 3)


def test_types_and_methods_that_the_jvm_makes() -> None:
    program = program_of(interface("I", methods=(Method("m"),)), Class("A", methods=(Method("n"),)))
    types, methods = program._types, program._methods
    above = program.type_named("I")
    program.new_rows()
    made = []
    for name, count in (("p/L1", 2), ("A", 1), ("p/L2", 0), ("p/L33", 1)):
        type_ = types.make(name, PUBLIC | FINAL, [above], count)
        methods.add_made(
            type_, [MadeMethod("m", "()V", PUBLIC, 1, len(name) + each) for each in range(count)]
        )
        made.append(type_)
    # A name that a class file has stays with that class.
    assert program.type_named("A") not in {-1, *made}
    assert [program.type_named(f"p/L{each}") for each in (1, 2, 33)] == [-1] * 3
    assert types.named("p/L1") == made[0]
    assert program.name_of_type(program.array_of(made[0])) == "[Lp/L1;"
    rows, found = program.new_rows()
    assert [len(program.methods_of(each)) for each in made] == [2, 1, 0, 1]
    for type_ in made:
        assert list(program.interfaces_of(type_)) == [above]
        assert program.supertypes_of(type_) == {type_, above, program.type_named(OBJECT)}
        assert rows.flags[type_ - rows.first] == PUBLIC | FINAL
        name = program.name_of_type(type_)
        for place, method in enumerate(program.methods_of(type_)):
            assert program.name_of_method(method) == (type_, "m", "()V")
            row = method - found.first
            assert (found.flags[row], found.parameters[row], found.variables[row]) == (
                PUBLIC,
                1,
                len(name) + place,
            )
            assert (found.declaring[row], found.returns[row]) == (type_, -1)
    at, selectable = rows.declared_at, rows.declared_method
    of_type = [selectable[at[each - rows.first] : at[each - rows.first + 1]].tolist() for each in made]
    assert of_type == [list(program.methods_of(each))[:1] for each in made]


def test_of_two_equal_methods_the_first_counts() -> None:
    twice = (Method("m"), Method("n"), Method("m", flags=PROTECTED))
    program = program_of(Class("A", methods=twice), Class("B", methods=twice))
    for name in "AB":
        type_ = program.type_named(name)
        assert program.method_of(type_, "m", "()V") == program.methods_of(type_)[0]
    rows, _ = program.new_rows()
    for name in "AB":
        type_ = program.type_named(name)
        start, end = rows.declared_at[type_ : type_ + 2]
        assert sorted(rows.declared_method[start:end].tolist()) == list(program.methods_of(type_))[:2]


def test_signature_polymorphic_methods() -> None:
    native, plain = PUBLIC | NATIVE | 0x80, ("([Ljava/lang/Object;)Ljava/lang/Object;",)
    owner = "java/lang/invoke/VarHandle"
    methods = (
        Method("get", *plain, flags=PUBLIC | NATIVE), Method("other", *plain, flags=native),
        Method("get", "(I)V", flags=PUBLIC | 0x80), Method("get", *("([I)V",), flags=native),
        Method("set", *plain, flags=native),
    )  # fmt: skip
    program = program_of(Class("p/V", owner), library=(Class(owner, methods=methods),))
    for type_ in (program.type_named(owner), program.type_named("p/V")):
        for name, expected in (("get", "([I)V"), ("set", plain[0]), ("other", plain[0]), ("none", None)):
            found = program.resolve_method(type_, name, "(JJ)V")
            assert (program.name_of_method(found)[1:] if found >= 0 else None) == (
                expected and (name, expected)
            )
        assert program.name_of_method(program.resolve_method(type_, "get", "(I)V"))[2] == "(I)V"
    assert program.resolve_method(program.type_named("java/lang/String"), "get", "(JJ)V") == -1


def test_signature_polymorphic_methods_are_those_of_two_classes_and_hide_nothing_above_them() -> None:
    owner = "java/lang/invoke/VarHandle"
    above = Method("up"), Method("get", "([I)V", PUBLIC | NATIVE | 0x80)
    program = program_of(library=(Class(owner, "java/Q"), Class("java/Q", methods=above)))
    found = program.resolve_method(program.type_named(owner), "up", "()V")
    assert program.name_of_type(program.name_of_method(found)[0]) == "java/Q"
    assert program.resolve_method(program.type_named(owner), "get", "(JJ)V") == -1


def test_calls_that_resolve_to_nothing() -> None:
    program = program_of(Class("A"))
    resolver = program._linkage.resolver
    for opcode, kind in KINDS.items():
        assert tuple(resolver.unresolved(opcode, 7, 8)) == (kind, 7, -1, 8)


def test_of_several_superinterfaces_the_first_by_name_is_resolved_to() -> None:
    abstract = (Method("m", flags=PUBLIC | ABSTRACT),)
    program = program_of(
        interface("I2", methods=abstract), interface("I1", methods=abstract), interface("I3", methods=(Method("m"),)),
        interface("I4", methods=(Method("m"),)), Class("A", OBJECT, ("I2", "I1")), Class("B", OBJECT, ("I4", "I3")),
        Class("C", OBJECT, ("I2", "I1", "I4", "I3")), Class("D", OBJECT, ("I4", "I1")),
        Class("E", "B", methods=(Method("n", rows=(("invoke", 0, SPECIAL_CALL, ("B", "m", "()V"), -1, 2),)),)),
        Class("F", "D", methods=(Method("n", rows=(("invoke", 0, SPECIAL_CALL, ("D", "m", "()V"), -1, 2),)),)),
    )  # fmt: skip
    for name, expected in (("A", "I1"), ("B", "I3"), ("C", "I1"), ("D", "I4")):
        found = program.resolve_method(program.type_named(name), "m", "()V")
        assert program.name_of_type(program.name_of_method(found)[0]) == expected
    assert calls(program, "E.n", "F.n") == [("SPECIAL", ""), ("SPECIAL", "I4.m")]


def test_method_that_returns_its_argument() -> None:
    rows = (("assign", 0, 1, 2),)
    program = program_of(Class("A", methods=(Method("m", "(LA;)LA;", rows=rows), Method("n", "(LA;)LA;"))))
    program.type_named("A")
    _, found = program.new_rows()
    assert found.returns[-2:].tolist() == [1, -1]


def test_several_package_private_methods_are_overridden_each() -> None:
    names = "mno"
    hidden, public = (tuple(Method(each, flags=flags) for each in names) for flags in (0, PUBLIC))
    classes = (
        Class("p/A", methods=hidden), Class("p/B", "p/A", methods=public), Class("q/C", "p/B", methods=public),
        Class("q/D", "p/A", methods=public),
    )  # fmt: skip
    for receiver, expected in (("p/B", "p/B"), ("q/C", "q/C"), ("q/D", "p/A")):
        for name in names:
            program = program_of(*classes)
            program.type_named(receiver)
            assert selected(program, receiver, f"p/A.{name}") == f"{expected}.{name}"


def test_special_call_of_an_interface_passes_over_what_isnt_public_in_object() -> None:
    clone = ("clone", "()Ljava/lang/Object;")
    rows = [("invoke", place, SPECIAL_CALL, (name, *clone), -1, 2) for place, name in enumerate("IJ")]
    object_ = Class(OBJECT, None, methods=(Method(*clone, flags=PROTECTED), Method("<init>")))
    mine = (
        interface("J", methods=(Method(*clone),)), interface("I", "J"),
        Class("A", OBJECT, ("I",), methods=(Method("n", rows=rows),)),
    )  # fmt: skip
    program = link([(unit_of(object_), "jdk", "jdk"), (unit_of(*mine), "application", "app.jar")])
    assert calls(program, "A.n") == [("SPECIAL", "J." + "".join(clone))] * 2


def test_class_runs_what_superinterfaces_with_default_methods_do() -> None:
    clinit = Method(*CLINIT, flags=ACC_STATIC)
    program = program_of(
        interface("I", methods=(Method("m"), clinit)), interface("J", methods=(clinit,)), Class("A", OBJECT, ("I",)),
        Class("B", "A"), Class("C", OBJECT, ("J",)), interface("K", methods=(Method("m"),)), Class("D", OBJECT, ("K",)),
    )  # fmt: skip
    types = [program.type_named(each) for each in "IJABCKD"]
    program.new_rows()
    assert [bool(program._methods.runs.view[each]) for each in types] == [True] * 4 + [False] * 3
    assert [len(program.initialisers_of(each)) for each in types] == [1] * 4 + [0] * 3


def test_private_and_static_methods_override_nothing() -> None:
    for flags in (PRIVATE, ACC_STATIC):
        program = program_of(
            Class("p/A", methods=(Method("m", flags=0),)), Class("p/B", "p/A", methods=(Method("m", flags=flags),)),
        )  # fmt: skip
        program.type_named("p/B")
        assert selected(program, "p/B", "p/A.m") == "p/A.m"


def test_method_of_the_lowest_superinterface_is_the_most_specific() -> None:
    program = program_of(
        interface("I", methods=(Method("m"),)), interface("J", "I", methods=(Method("m"),)),
        interface("K", "J"), Class("A", OBJECT, ("I", "K")), Class("B", "A", ("I",)),
    )  # fmt: skip
    for name in "KAB":
        found = program.resolve_method(program.type_named(name), "m", "()V")
        assert program.name_of_type(program.name_of_method(found)[0]) == "J"


def test_super_call_of_the_very_first_method() -> None:
    first = Method("hashCode", "()I")
    rows = [("invoke", 0, SPECIAL_CALL, (OBJECT, "hashCode", "()I"), -1, 2)]
    mine = (Class("A", methods=(first,)), Class("B", "A", methods=(Method("n", rows=rows),)))
    object_ = Class(OBJECT, None, methods=(first, Method("<init>")))
    program = link([(unit_of(object_), "jdk", "jdk"), (unit_of(*mine), "application", "app.jar")])
    assert calls(program, "B.n") == [("SPECIAL", "A.hashCode()I")]


def test_members_are_described_as_single_questions_have_them() -> None:
    methods = (Method("<init>"), Method("m", "(I)V", flags=PRIVATE | ACC_STATIC), Method("m", flags=PUBLIC))
    fields = (("b", "I", PUBLIC), ("a", "LA;", PRIVATE | ACC_STATIC))
    last = tuple(Class(f"java/{each}", fields=fields) for each in "WXYZ")
    program = program_of(Class("A", fields=fields, methods=methods), Class("B"), library=last)
    for name in ("A", "B", "[LA;"):
        type_ = program.type_named(name)
        assert [*program.described_methods(type_)] == [
            (each, *program.name_of_method(each)[1:], program.flags_of_method(each))
            for each in program.methods_of(type_)
        ]
        assert [*program.described_fields(type_)] == [
            (each, *program.name_of_field(each)[1:], program.flags_of_field(each))
            for each in program.fields_of(type_)
        ]
    assert [len(program.described_methods(program.type_named(name))) for name in ("A", "B")] == [3, 0]


def test_a_field_that_is_made_is_one_and_of_no_class_file() -> None:
    program = program_of(Class("A", fields=(("a", "I", PUBLIC),)), Class("B"))
    first, second = types = [program.type_named(name) for name in ("A", "B")]
    keys = [(type_, name, "LA;") for type_ in types for name in ("a", "b")]
    made = [program.made_field(*key) for key in keys]
    assert made == [program.made_field(*key) for key in keys]
    assert [program.name_of_field(each) for each in made] == keys
    assert {program.flags_of_field(each) for each in made} == {SYNTHETIC}
    assert [program.name_of_field(each) for each in program.fields_of(first)] == [(first, "a", "I")]
    assert [*program.fields_of(second)] == []


def test_constants_of_fields_are_those_of_their_archive() -> None:
    fields = (
        ("a", "Ljava/lang/String;", PUBLIC | ACC_STATIC),
        ("b", "Ljava/lang/String;", PUBLIC | ACC_STATIC),
    )
    first = Class("A", fields=fields, constants={"a": "b"})
    second = Class("B", fields=fields, constants={"a": "of B", "b": "a"})
    units = [
        (jdk(), "jdk", "jdk"),
        *((unit_of(each), "application", f"{each.name}.jar") for each in (first, second)),
    ]
    program = link(units)
    for class_ in (first, second):
        type_ = program.type_named(class_.name)
        found = [program.constant_of_field(each) for each in program.fields_of(type_)]
        texts = [program.text(each) if each >= 0 else None for each in found]
        assert texts == [class_.constants.get(name) for name, *_ in fields]
        assert program.constant_of_field(program.made_field(type_, "c", "Ljava/lang/String;")) == -1
