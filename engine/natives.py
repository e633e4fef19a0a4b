"""Native methods that may run: what they do beside returning an object of their type is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cypher.program import APPLICATION, JDK, NATIVE, Program
from cypher.schema import Diagnostic, Int32, listed
from engine.reflection.names import name_of_class


def native_methods(
    program: Program, reached: Int32, is_modelled: Callable[[int], bool]
) -> Iterator[Diagnostic]:
    """Yields a diagnostic for the native methods of the program, and one for those of the JDK without a model."""
    found = [each for each in reached.tolist() if program.flags_of_method(each) & NATIVE]
    own = [each for each in found if program.flags_of_method(each) & APPLICATION]
    if own:
        text = f"native methods of the program may run, of which only the type of what they return is known {_listed(program, own)}"
        yield Diagnostic("CLS-NATIVE", "warning", text, "soundness")
    of_jdk = [
        each
        for each in found
        if program.flags_of_type(program.name_of_method(each)[0]) & JDK and not is_modelled(each)
    ]
    if of_jdk:
        text = f"native methods of the JDK that may run have no model {_listed(program, of_jdk)}"
        yield Diagnostic("CLS-NATIVE", "note", text, "none")


def _listed(program: Program, methods: list[int]) -> str:
    named = (program.name_of_method(each) for each in methods)
    names = sorted({f"{name_of_class(program, type_)}.{name}" for type_, name, _ in named})
    return f"({len(methods):,}): {listed(names)}"
