"""The targets of reflective calls as a log of TamiFlex: `Kind;Target;Caller;Line;Metadata;`."""

from __future__ import annotations

from collections.abc import Iterator

from cli.naming import MethodName
from cli.run import Run
from cli.summary import application_sites
from cli.text import class_name, parameter_descriptors, return_descriptor, shown, type_of_descriptor
from engine.result import Target
from engine.sites import BYTECODE

_KINDS = {
    "java.lang.Class.forName": "Class.forName",
    "java.lang.Class.newInstance": "Class.newInstance",
    "java.lang.reflect.Constructor.newInstance": "Constructor.newInstance",
    "java.lang.reflect.Method.invoke": "Method.invoke",
    **{f"java.lang.Class.get{each}": f"Class.get{each}" for each in (
        "Method", "DeclaredMethod", "Constructor", "DeclaredConstructor", "Field", "DeclaredField")},
}  # fmt: skip
_FIELD = "java.lang.reflect.Field."


def lines(run: Run, everything: bool) -> Iterator[str]:
    """Yields a line for each target of a call that TamiFlex logs, of the application or of all code."""
    result, names = run.result, run.names
    chosen = result.reflective if everything else application_sites(result, names)
    found: dict[str, None] = {}
    for site in chosen:
        kind = _kind(site.api)
        if kind is None or result.sites.origin[site.site] != BYTECODE:
            continue
        method, offset = int(result.sites.method[site.site]), int(result.sites.offset[site.site])
        line = names.line(method, offset)
        place = f"{names.method(method).qualified};{line if line >= 0 else ''};;"
        for target in site.targets:
            found[f"{kind};{_target(run, kind, target)};{place}"] = None
    for each in sorted(found):
        yield shown(each) + "\n"


def _kind(api: str) -> str | None:
    if api.startswith(_FIELD):
        return "Field.set*" if api.removeprefix(_FIELD).startswith("set") else "Field.get*"
    return _KINDS.get(api)


def _target(run: Run, kind: str, target: Target) -> str:
    if target.kind == "type":
        return run.names.type(target.id)
    if target.kind == "field":
        declaring, name, descriptor = run.names.field_parts(target.id)
        return f"<{class_name(declaring)}: {type_of_descriptor(descriptor)} {name}>"
    method = run.names.method(target.id)
    return class_name(method.declaring) if kind == "Class.newInstance" else soot_signature(method)


def soot_signature(method: MethodName) -> str:
    """Returns a method in Soot's notation.

    >>> soot_signature(MethodName("a/B", "m", "(I[Ljava/lang/String;)V", 0))
    '<a.B: void m(int,java.lang.String[])>'
    """
    parameters = ",".join(map(type_of_descriptor, parameter_descriptors(method.descriptor)))
    returned = type_of_descriptor(return_descriptor(method.descriptor))
    return f"<{class_name(method.declaring)}: {returned} {method.name}({parameters})>"
