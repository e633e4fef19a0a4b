"""Management beans: which methods the JDK calls, for whoever manages the program, on the objects that it registers.

    Managed(o) :- "MBeanServer.registerMBean", actual(i, 1, v), points-to(v, o).
    Calls(i, m) :- Managed(o), Type(o, t), t <: u, Management(u), Declares(u, g), Select(t, g, m).

Source: Java Management Extensions 1.4, 2.2.2 and `MXBean`. That interfaces end in `MBean` or `MXBean` is all that is asked
of their names; if the program has an annotation `MXBean` anywhere, and for a `StandardMBean`, which is told of any interface,
all of the program's own are taken to be meant. What is passed to their methods is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cypher import schema
from cypher.program import ACC_STATIC, INTERFACE, JDK
from cypher.schema import NONE, VIRTUAL
from engine.constraints import Constraints
from engine.models import Models, SiteCall, SiteModel, keep_argument
from engine.solver import Solver
from engine.unknown import UnknownObjects

SERVER, STANDARD, ANNOTATION = (
    "javax/management/MBeanServer",
    "javax/management/StandardMBean",
    "javax/management/MXBean",
)
STRING = "java/lang/String"
# Objects of which the interfaces of management are called, and those of which any of the program's own are.
REGISTERED, TOLD = "management beans", "management beans of a StandardMBean"


class Management:
    """The models of the server; nothing happens before code outside the JDK registers an object."""

    def __init__(self, constraints: Constraints, models: Models) -> None:
        self._constraints, self._program = constraints, constraints.program
        self._unknown = UnknownObjects(constraints)
        self._cause = NONE  # the first site that registers one
        self._known: dict[str, set[int]] = {REGISTERED: set(), TOLD: set()}  # types of objects, by pool
        self._managed: set[int] = set()
        for owner, name, descriptor, pool in (
            (SERVER, "registerMBean", "", REGISTERED),
            (STANDARD, "<init>", "(Ljava/lang/Object;Ljava/lang/Class;)V", TOLD),
            (STANDARD, "<init>", "(Ljava/lang/Object;Ljava/lang/Class;Z)V", TOLD),
        ):
            means = partial(self._take, pool)
            models.on_site(SiteModel(owner, name, descriptor, means, outside=True, cuts=False))

    def _take(self, pool: str, constraints: Constraints, call: SiteCall) -> None:
        if self._cause < 0:
            self._cause = call.site
        keep_argument(constraints, call, 1, pool)

    def extend(self, solver: Solver) -> None:
        """Enters the calls of interfaces of objects that were registered since the last call."""
        if self._cause < 0:
            return
        anywhere = self._program.type_named(ANNOTATION) in self._program.annotation_types()
        for pool, known in self._known.items():
            objects = solver.objects_of(self._constraints.pool(pool))
            fresh = set(solver.types_of(objects).tolist()) - known
            known.update(fresh)
            interfaces = {
                each for type_ in fresh for each in self._interfaces(type_, anywhere or pool == TOLD)
            }
            for interface in sorted(interfaces - self._managed):
                self._managed.add(interface)
                self._call(interface)

    def _interfaces(self, type_: int, anything: bool) -> Iterator[int]:
        """Yields the interfaces of a class that are managed: those that end so, or of anything it is."""
        program = self._program
        for each in program.supertypes_of(type_):
            if anything or program.name_of_type(each).endswith(("MBean", "MXBean")):
                yield from filter(self._is_own_interface, program.supertypes_of(each))

    def _is_own_interface(self, type_: int) -> bool:
        flags = self._program.flags_of_type(type_)
        return bool(flags & INTERFACE and not flags & JDK)

    def _call(self, interface: int) -> None:
        """Calls each method of an interface on the objects that have it, with whatever it takes."""
        constraints, program = self._constraints, self._program
        receiver = constraints.fresh()
        for pool in self._known:
            constraints.add(schema.Cast, NONE, NONE, constraints.pool(pool), interface, receiver)
        for method in program.methods_of(interface):
            if program.flags_of_method(method) & ACC_STATIC:
                continue
            arguments = [
                (position, self._unknown_of(type_))
                for position, type_ in enumerate(program.parameter_types(method), start=1)
                if type_ >= 0
            ]
            signature = program.signature_of(method)
            constraints.call(self._cause, VIRTUAL, signature, receiver, arguments)

    def _unknown_of(self, type_: int) -> int:
        if self._program.name_of_type(type_) == STRING:
            return self._constraints.native_text()
        return self._unknown.pointer(type_)
