"""What was observed while a program ran: recordings of calls, and logs of TamiFlex.

A recording is UTF-8 text whose columns are separated by tabs; lines that begin with `#` are comments. Methods
are written `a.b.C.m(I)V`, fields `a.b.C.f`.

    call        CALLER        CALLEE        an instruction of CALLER led to CALLEE
    init        CALLER        CALLEE        an instruction of CALLER made the JVM initialise the class of CALLEE
    jvm         <jvm>         CALLEE        the JVM called CALLEE by itself
    reflective  CALLER:LINE   API   TARGET  the call of the reflection API in that line had this target

Classes made for lambdas, proxies and accessors are no callers: what they call is called by the method below.
A log of TamiFlex has lines `Kind;Target;Caller;Line;Metadata;` and says nothing of other calls.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from cli.exits import Exit, Failure
from cypher.schema import NONE

CALL, INIT, JVM, REFLECTIVE = "call", "init", "jvm", "reflective"
MACHINE = "<jvm>"

_TYPE = r"\[*+(?:[BCDFIJSZ]|L[^;]++;)"
_DESCRIPTOR = re.compile(rf"\((?:{_TYPE})*+\)(?:V|{_TYPE})")
_SOOT = re.compile(r"<([^:]+): (\S+) ([^ (]+)(?:\((.*)\))?>")
_PRIMITIVES = {
    "byte": "B", "char": "C", "double": "D", "float": "F", "int": "I", "long": "J", "short": "S",
    "boolean": "Z", "void": "V",
}  # fmt: skip
# The kinds in a log of TamiFlex that are compared, and the method of the API that each stands for.
_APIS = {
    "Class.forName": "java.lang.Class.forName",
    "Class.newInstance": "java.lang.Class.newInstance",
    "Constructor.newInstance": "java.lang.reflect.Constructor.newInstance",
    "Method.invoke": "java.lang.reflect.Method.invoke",
    "Field.get*": "java.lang.reflect.Field.get",
    "Field.set*": "java.lang.reflect.Field.set",
    **{f"Class.get{each}": f"java.lang.Class.get{each}" for each in (
        "Method", "DeclaredMethod", "Constructor", "DeclaredConstructor", "Field", "DeclaredField")},
}  # fmt: skip
_KIND = re.compile(r"(?:Class|Constructor|Method|Field|Array)\.[A-Za-z]+\*?")
_FIELD = re.compile(r"(java\.lang\.reflect\.Field\.[gs]et).*")


class Method(NamedTuple):
    """A method by name; `declaring` is an internal name, `descriptor` is empty if it isn't known."""

    declaring: str
    name: str
    descriptor: str

    @property
    def qualified(self) -> str:
        """Returns the name without parameters, as in `a.b.C.m`."""
        return f"{self.declaring.replace('/', '.')}.{self.name}"

    def __str__(self) -> str:
        return self.qualified + self.descriptor


class Pair(NamedTuple):
    """A row of kind CALL, INIT or JVM; no caller is the JVM."""

    kind: str
    caller: Method | None
    callee: Method


class ReflectiveCall(NamedTuple):
    """A call of the reflection API in `line` (-1 if there is none) of `caller`, and what it found or acted on."""

    caller: Method
    line: int
    api: str
    target: str


class Observed(NamedTuple):
    """What a file holds, each row once; `skipped` counts lines of kinds that no analysis tells."""

    pairs: tuple[Pair, ...]
    reflective: tuple[ReflectiveCall, ...]
    skipped: int


class _Wrong(Exception):
    """A line isn't what was expected; the text says what was."""


def read(path: Path) -> Observed:
    """Returns what a recording or a log holds. Raises `Failure` that names the first line that is wrong."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise Failure(Exit.NO_INPUT, f"{path} can't be read: {problem.strerror}") from None
    reader = _Reader()
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            reader.take(line.decode().removesuffix("\r"))
        except UnicodeDecodeError:
            raise _failure(path, number, "text in UTF-8") from None
        except _Wrong as problem:
            raise _failure(path, number, str(problem)) from None
    return Observed(tuple(reader.pairs), tuple(reader.reflective), reader.skipped)


def _failure(path: Path, number: int, expected: str) -> Failure:
    return Failure(Exit.USAGE, f"{path}:{number}: expected {expected}")


class _Reader:
    """Takes lines; the first that is no comment decides between the formats."""

    def __init__(self) -> None:
        self.pairs: dict[Pair, None] = {}
        self.reflective: dict[ReflectiveCall, None] = {}
        self.skipped = 0
        self._is_log: bool | None = None
        self._methods: dict[str, Method] = {}

    def take(self, line: str) -> None:
        if not line.strip() or line.startswith("#"):
            return
        if self._is_log is None:
            self._is_log = "\t" not in line and ";" in line
        if self._is_log:
            self._take_logged(line)
        else:
            self._take_recorded(line)

    def _take_recorded(self, line: str) -> None:
        kind, *columns = line.split("\t")
        if kind == REFLECTIVE and len(columns) == 3:
            place, api, target = columns
            caller, _, digits = place.rpartition(":")
            call = ReflectiveCall(self._method(caller), _number(digits), family(api), target)
            self.reflective[call] = None
        elif kind in (CALL, INIT, JVM) and len(columns) == 2:
            from_machine = columns[0] == MACHINE
            if kind == JVM and not from_machine:
                raise _Wrong(f"{MACHINE} as the caller")
            self.pairs[
                Pair(kind, None if from_machine else self._method(columns[0]), self._method(columns[1]))
            ] = None
        else:
            raise _Wrong(
                "a row of call, init or jvm with 2 more columns, or of reflective with 3, between tabs"
            )

    def _method(self, text: str) -> Method:
        found = self._methods.get(text)
        if found is None:
            at = max(text.rfind("("), 0)
            qualified, descriptor = text[:at], text[at:]
            declaring, _, name = qualified.rpartition(".")
            if not (declaring and name and _DESCRIPTOR.fullmatch(descriptor)):
                raise _Wrong(f"a method such as a.b.C.m(I)V, not {text}")
            found = self._methods[text] = Method(declaring.replace(".", "/"), name, descriptor)
        return found

    def _take_logged(self, line: str) -> None:
        kind, *rest = line.split(";")
        if not _KIND.fullmatch(kind) or len(rest) < 3:
            raise _Wrong("Kind;Target;Caller;Line;Metadata; with a kind such as Method.invoke")
        api = _APIS.get(kind)
        if api is None:
            self.skipped += 1
            return
        target, caller, digits = rest[:3]
        declaring, _, name = caller.rpartition(".")
        if not declaring or not name:
            raise _Wrong(f"a caller such as a.b.C.m, not {caller}")
        method = Method(declaring.replace(".", "/"), name, "")
        self.reflective[ReflectiveCall(method, _number(digits), api, _logged_target(kind, target))] = None


def _number(digits: str) -> int:
    """Returns a line number."""
    if digits in ("", "-1"):
        return NONE
    if not (digits.isascii() and digits.isdigit()):
        raise _Wrong(f"a line number, not {digits}")
    return int(digits)


def family(api: str) -> str:
    """Returns the name under which the methods of `Field` that get, or set, are one.

    >>> family("java.lang.reflect.Field.getInt"), family("java.lang.Class.getField")
    ('java.lang.reflect.Field.get', 'java.lang.Class.getField')
    """
    return _FIELD.sub(r"\1", api)


def _logged_target(kind: str, text: str) -> str:
    """Returns a target of a log as `a.b.C`, `a.b.C.m(I)V` or `a.b.C.f`.

    >>> _logged_target("Method.invoke", "<a.B: void m(int,java.lang.String[])>")
    'a.B.m(I[Ljava/lang/String;)V'
    """
    if not text.startswith("<"):
        if not text:
            raise _Wrong("a target")
        return f"{text}.<init>()V" if kind == "Class.newInstance" else text
    match = _SOOT.fullmatch(text)
    if match is None:
        raise _Wrong(f"a target such as <a.B: void m(int)>, not {text}")
    declaring, result, name, parameters = match.groups()
    if parameters is None:
        return f"{declaring}.{name}"
    listed = "".join(map(_descriptor, parameters.split(","))) if parameters else ""
    return f"{declaring}.{name}({listed}){_descriptor(result)}"


def _descriptor(type_: str) -> str:
    element = type_.replace("[]", "")
    dimensions = (len(type_) - len(element)) // 2
    return "[" * dimensions + (_PRIMITIVES.get(element) or f"L{element.replace('.', '/')};")
