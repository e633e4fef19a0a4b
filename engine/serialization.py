"""Object serialization: which methods streams call back, and what objects that are read may be.

    Deserialized(o)   :- Type(o, t), t <: Serializable.
    Deserialized(o_t) :- t <: Serializable, t <: u, Read(v), Cast(v, u, w).
    Read(v)           :- "ObjectInputStream.readObject", Result(i, v).
    Read(w)           :- Read(v), Assign(w, v).
    Read(w)           :- Read(v), Returns(m, v), Calls(s, m), Result(s, w).
    o_t.f ∋ o         :- Deserialized(o_t), Deserialized(o), f a field of t, o <: type(f).
    Written(o)        :- "ObjectOutputStream.writeObject", actual(i, 1, v), points-to(v, o).
    Written(o')       :- Written(o), o.f ∋ o'.

Source: Java Object Serialization Specification, 1.10 to 1.13, 2.3 to 2.5, 3.1 to 3.7. What is in a stream is not
known: what the program could have written is taken to be there, which is what it makes, and what it expects there,
once code outside the JDK reads one. (That it could be any class of the program is true, but of use to nobody.)
An object that is made stands for its copy too, so that this has what is in its fields; unless its class reads it
in a way of its own, which must not change what is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import numpy as np

from cypher import schema
from cypher.growing import Growing
from cypher.program import ACC_STATIC, ENUM, JDK, PRIVATE
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL
from engine import heap
from engine.constraints import Constraints, IdMap
from engine.layout import superclasses
from engine.models import Models, SiteCall, SiteModel, keep_argument
from engine.reflection.names import class_of_descriptor
from engine.solver import Solver

SERIALIZABLE, EXTERNALIZABLE = "java/io/Serializable", "java/io/Externalizable"
INPUT, OUTPUT = "java/io/ObjectInputStream", "java/io/ObjectOutputStream"
READERS = ((INPUT, "readObject"), (INPUT, "readUnshared"), ("java/io/ObjectInput", "readObject"))
WRITERS = ((OUTPUT, "writeObject"), (OUTPUT, "writeUnshared"), ("java/io/ObjectOutput", "writeObject"))
RECORD = "java/lang/Record"
TRANSIENT = 0x80
# Of the JDK's classes, those of these packages are taken to be in streams, if the program makes objects of them; of
# others, those that have such a class above them. (Windows, say, could be in a stream, but hardly are.)
PLAIN = ("java/lang/", "java/math/", "java/time/", "java/util/")
DESERIALIZED, WRITTEN = "deserialized objects", "serialized objects"
INPUTS, OUTPUTS = "streams that are read", "streams that are written"


class Serialization:
    """Models of the streams; nothing happens before code outside the JDK uses one."""

    def __init__(self, constraints: Constraints, models: Models) -> None:
        self._constraints, self._program = constraints, constraints.program
        self._serializable = self._program.type_named(SERIALIZABLE)
        self._externalizable = self._program.type_named(EXTERNALIZABLE)
        self._reading = self._writing = NONE  # the first site that does, which most modes find first
        self._restored: set[int] = set()
        self._saved: set[int] = set()
        self._hooked: set[str] = set()
        self._copied: set[int] = set()  # types whose objects stand for their copies
        self._results: list[int] = []  # of reading, outside the JDK
        self._entered = 0  # objects
        self._batches = self._calls = 0  # taken so far
        # Where values go (from where, to where), where they are cast (what, to which type), and what reads return.
        self._sources, self._targets = Growing(), Growing()
        self._cast_from, self._cast_to = Growing(), Growing()
        self._result = IdMap()  # by site
        self._read_to = np.empty(0, np.int32)
        for named, means in ((READERS, self._read), (WRITERS, self._write)):
            for owner, name in named:
                models.on_site(SiteModel(owner, name, "", means))

    def _read(self, constraints: Constraints, call: SiteCall) -> None:
        """Returns any object that may be in a stream."""
        if call.result >= 0:
            constraints.add(
                schema.Assign, call.method, call.offset, constraints.pool(DESERIALIZED), call.result
            )
        if not constraints.confined.covers_one(call.method):
            if self._reading < 0:
                self._reading = call.site
            if call.result >= 0:
                self._results.append(call.result)
        keep_argument(constraints, call, 0, INPUTS)

    def _write(self, constraints: Constraints, call: SiteCall) -> None:
        """Notes an object that is written; those of the JDK's own code only if they come from outside."""
        if self._writing < 0 and not constraints.confined.covers_one(call.method):
            self._writing = call.site
        keep_argument(constraints, call, 0, OUTPUTS)
        keep_argument(constraints, call, 1, WRITTEN)

    def extend(self, solver: Solver) -> None:
        """Enters what follows for classes that came up since the last call."""
        if self._reading >= 0:
            for type_ in (*self._take_made(solver), *self._expected(solver)):
                if type_ not in self._restored and self._may_be_read(type_):
                    self._restore(type_)
        if self._writing >= 0:
            written = solver.objects_of(self._constraints.pool(WRITTEN))
            for type_ in np.unique(solver.types_of(written)).tolist():
                if type_ not in self._saved:
                    self._saved.add(type_)
                    self._save(type_)

        self._hook(INPUT, "resolveObject", INPUTS, DESERIALIZED, self._reading)
        self._hook(OUTPUT, "replaceObject", OUTPUTS, WRITTEN, self._writing)

    def _hook(self, owner: str, name: str, streams: str, objects: str, cause: int) -> None:
        """Lets a subclass of a stream exchange objects (2.2, 3.3)."""
        if cause < 0 or name in self._hooked:
            return
        self._hooked.add(name)
        constraints, program = self._constraints, self._program
        type_ = program.type_named(owner)
        method = (
            program.method_of(type_, name, "(Ljava/lang/Object;)Ljava/lang/Object;") if type_ >= 0 else NONE
        )
        if method >= 0:
            arguments = [(1, constraints.pool(objects))]
            receiver, signature = constraints.pool(streams), program.signature_of(method)
            constraints.call(cause, VIRTUAL, signature, receiver, arguments, constraints.pool(objects))

    # --- reading
    def _take_made(self, solver: Solver) -> list[int]:
        """Has the objects made since the last call be in streams, if they may be; returns their types."""
        objects = np.arange(self._entered, solver.statistics().objects, dtype=np.int32)
        self._entered += objects.size
        types = solver.types_of(objects)
        found = [each for each in np.unique(types).tolist() if self._may_be_read(each)]
        plain = [each for each in found if self._is_plain(each)]
        self._copied.update(plain)
        for obj in objects[np.isin(types, plain)].tolist():
            self._constraints.put(self._constraints.pool(DESERIALIZED), obj)
        return found

    def _is_plain(self, type_: int) -> bool:
        """Returns whether what is read of the class has the fields of what was written, and nothing else is done."""
        program = self._program
        if program.name_of_type(type_).startswith("[") or self._externalizable in program.supertypes_of(
            type_
        ):
            return False
        superclass = program.superclass_of(type_)
        if superclass >= 0 and program.name_of_type(superclass) == RECORD:
            return False
        return not any(
            program.method_of(each, "readObject", f"(L{INPUT};)V") >= 0
            or program.method_of(each, "writeObject", f"(L{OUTPUT};)V") >= 0
            or any(
                program.name_of_field(field)[1] == "serialPersistentFields"
                for field in program.fields_of(each)
            )
            for each in self._serializable_classes(type_)
        )

    def _expected(self, solver: Solver) -> Iterator[int]:
        """Yields the classes of the program's own types to which it casts what it reads."""
        program = self._program
        before = len(self._sources)
        self._take_facts(solver)
        targets = self._targets.view
        led = np.isin(self._sources.view[before:], self._read_to)
        following = np.concatenate((np.array(self._results, np.int32), targets[before:][led]))
        while (following := np.setdiff1d(following[following >= 0], self._read_to)).size:
            self._read_to = np.union1d(self._read_to, following)
            following = targets[np.isin(self._sources.view, following)]
        for type_ in np.unique(self._cast_to.view[np.isin(self._cast_from.view, self._read_to)]).tolist():
            if not program.flags_of_type(type_) & JDK:
                yield from program.concrete_subtypes_of(type_)

    def _take_facts(self, solver: Solver) -> None:
        """Notes where values go by assignments and results of calls, and where they are cast, since the last call."""
        batches = self._constraints.batches
        for facts in batches[self._batches :]:
            if assigns := facts.get(schema.Assign):
                self._sources.extend(assigns.source)
                self._targets.extend(assigns.target)
            if casts := facts.get(schema.Cast):
                self._cast_from.extend(casts.source)
                self._cast_to.extend(casts.type)
            if invokes := facts.get(schema.Invoke):
                self._result.of(invokes.site)
                self._result.put(invokes.site, invokes.result)
        self._batches = len(batches)
        called, callee, self._calls = solver.calls_made(self._calls)
        results = self._result.of(called)
        passed = results >= 0
        self._targets.extend(results[passed])
        callee = callee[passed]
        self._sources.extend(solver.first_variables(callee) + self._constraints.parameters.of(callee))

    def _may_be_read(self, type_: int) -> bool:
        """Returns whether objects of the class are taken to be in streams: see PLAIN."""
        program = self._program
        if self._serializable not in program.supertypes_of(type_):
            return False
        above = (each for each in superclasses(program, type_) if program.flags_of_type(each) & JDK)
        of_jdk = next(above, NONE)
        return of_jdk < 0 or program.name_of_type(of_jdk).lstrip("[L").startswith(PLAIN)

    def _restore(self, type_: int) -> None:
        """Makes an object of the class, or constants of the enum, and has the stream call it back."""
        if type_ in self._restored:
            return
        self._restored.add(type_)
        constraints, program = self._constraints, self._program
        pool = constraints.pool(DESERIALIZED)
        constraints.initialise([type_], NONE, NONE, self._reading)
        if program.flags_of_type(type_) & ENUM:
            for field in program.fields_of(type_):
                if program.flags_of_field(field) & ENUM:
                    constraints.add(schema.StaticLoad, NONE, NONE, field, pool)
            return
        receiver = constraints.fresh()
        if type_ in self._copied:
            constraints.add(schema.Cast, NONE, NONE, pool, type_, receiver)
        else:
            made = constraints.object(heap.ENTRY, type_)
            constraints.put(receiver, made)
            constraints.put(pool, made)
        if program.name_of_type(type_).startswith("["):
            constraints.add(schema.ArrayStore, NONE, NONE, pool, NONE, receiver)
            return
        superclass = program.superclass_of(type_)
        if superclass >= 0 and program.name_of_type(superclass) == RECORD:
            self._construct_record(type_, receiver)
        elif self._externalizable in program.supertypes_of(type_):
            self._special(type_, "<init>", "()V", receiver)
            self._virtual("readExternal", "(Ljava/io/ObjectInput;)V", receiver, INPUTS)
        else:
            self._restore_fields(type_, receiver)
        for declaring in superclasses(program, type_):
            resolve = program.method_of(declaring, "readResolve", "()Ljava/lang/Object;")
            if resolve >= 0:
                constraints.call(self._reading, SPECIAL, resolve, receiver, result=pool)
                break
        self._restore_lambda(type_)

    def _restore_fields(self, type_: int, receiver: int) -> None:
        constraints, program = self._constraints, self._program
        serializable = self._serializable_classes(type_)
        above = program.superclass_of(serializable[-1])
        if above >= 0:
            self._special(above, "<init>", "()V", receiver)
        for declaring in serializable:
            for field, of_type in () if type_ in self._copied else self._fields(declaring):
                value = constraints.fresh()
                constraints.add(schema.Cast, NONE, NONE, constraints.pool(DESERIALIZED), of_type, value)
                constraints.add(schema.Store, NONE, NONE, value, field, receiver)
                if program.name_of_type(of_type).startswith("["):
                    self._restore(of_type)
            stream = [(1, constraints.pool(INPUTS))]
            self._special(declaring, "readObject", f"(L{INPUT};)V", receiver, stream)
            self._special(declaring, "readObjectNoData", "()V", receiver)

    def _construct_record(self, type_: int, receiver: int) -> None:
        """Runs the canonical constructor with values from the stream (1.13)."""
        constraints, program = self._constraints, self._program
        fields = [each for each in program.fields_of(type_) if not program.flags_of_field(each) & ACC_STATIC]
        descriptor = f"({''.join(program.name_of_field(each)[2] for each in fields)})V"
        constructor = program.method_of(type_, "<init>", descriptor)
        if constructor < 0:
            return
        arguments = []
        for position, of_type in enumerate(program.parameter_types(constructor), start=1):
            if of_type >= 0:
                value = constraints.fresh()
                constraints.add(schema.Cast, NONE, NONE, constraints.pool(DESERIALIZED), of_type, value)
                arguments.append((position, value))
        constraints.call(self._reading, SPECIAL, constructor, receiver, arguments)

    def _restore_lambda(self, type_: int) -> None:
        """Has the class that made a lambda make it again (`SerializedLambda`)."""
        program = self._program
        host, found, _ = program.name_of_type(type_).partition("$$Lambda")
        owner = program.type_named(host) if found else NONE
        descriptor = "(Ljava/lang/invoke/SerializedLambda;)Ljava/lang/Object;"
        again = program.method_of(owner, "$deserializeLambda$", descriptor) if owner >= 0 else NONE
        if again >= 0:
            self._constraints.call(self._reading, STATIC, again, result=self._constraints.pool(DESERIALIZED))

    # --- writing
    def _save(self, type_: int) -> None:
        """Has the stream call back objects of the class, and goes on to what they refer to."""
        constraints, program = self._constraints, self._program
        written, receiver = constraints.pool(WRITTEN), constraints.fresh()
        if self._serializable not in program.supertypes_of(type_):
            return
        constraints.add(schema.Cast, NONE, NONE, written, type_, receiver)
        if program.name_of_type(type_).startswith("["):
            constraints.add(schema.ArrayLoad, NONE, NONE, receiver, written)
            return
        for declaring in superclasses(program, type_):
            replace = program.method_of(declaring, "writeReplace", "()Ljava/lang/Object;")
            if replace >= 0:
                constraints.call(self._writing, SPECIAL, replace, receiver, result=written)
                break
        if self._externalizable in program.supertypes_of(type_):
            self._virtual("writeExternal", "(Ljava/io/ObjectOutput;)V", receiver, OUTPUTS)
            return
        for declaring in self._serializable_classes(type_):
            for field, _ in self._fields(declaring):
                constraints.add(schema.Load, NONE, NONE, receiver, field, written)
            stream = [(1, constraints.pool(OUTPUTS))]
            self._special(declaring, "writeObject", f"(L{OUTPUT};)V", receiver, stream, self._writing)

    # --- classes
    def _serializable_classes(self, type_: int) -> list[int]:
        """Returns the class and its superclasses as far as they are serializable."""
        program = self._program
        return list(
            takewhile(
                lambda each: self._serializable in program.supertypes_of(each), superclasses(program, type_)
            )
        )

    def _fields(self, type_: int) -> Iterator[tuple[int, int]]:
        """Yields the fields of a class that go into a stream by default, if they are references, and their types."""
        program = self._program
        for field in program.fields_of(type_):
            descriptor = program.name_of_field(field)[2]
            if descriptor[0] in "L[" and not program.flags_of_field(field) & (ACC_STATIC | TRANSIENT):
                of_type = class_of_descriptor(program, descriptor)
                if of_type >= 0:
                    yield field, of_type

    def _special(
        self,
        type_: int,
        name: str,
        descriptor: str,
        receiver: int,
        arguments: list[tuple[int, int]] | None = None,
        cause: int | None = None,
    ) -> None:
        """Calls a constructor, or a private method, that the class declares, if it does."""
        program = self._program
        method = program.method_of(type_, name, descriptor)
        if method >= 0 and (name == "<init>" or program.flags_of_method(method) & PRIVATE):
            cause = self._reading if cause is None else cause
            self._constraints.call(cause, SPECIAL, method, receiver, arguments or ())

    def _virtual(self, name: str, descriptor: str, receiver: int, stream: str) -> None:
        """Calls a method of `Externalizable`."""
        constraints, program = self._constraints, self._program
        method = program.method_of(self._externalizable, name, descriptor)
        if method >= 0:
            cause = self._reading if stream == INPUTS else self._writing
            arguments = [(1, constraints.pool(stream))]
            constraints.call(cause, VIRTUAL, program.signature_of(method), receiver, arguments)
