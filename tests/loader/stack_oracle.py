"""Where each reference on the operand stack comes from: as our interpretation has it, and as ASM does."""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

from loader import bytecode, maven
from loader.classfile import Code, MalformedClass, Member, read_class
from loader.frame import Frame
from loader.opcodes import next_instruction
from loader.symbols import Pool, Symbols
from loader.unit import RELATIONS

JAVA, JAVAC = shutil.which("java"), shutil.which("javac")
ORACLE = Path(__file__).parents[1] / "oracles" / "StackOracle.java"
# Later ones let handlers see what the last instruction before the end of their range stores.
ASM = "org.ow2.asm:asm-analysis:9.4"
ASM_NEWEST = struct.pack(">H", 61)  # the class file version that it knows
HANDLER = 1_000_000
# Relations whose rows put something new into a variable, and where they have offset and variable.
_ORIGINS = {
    "new": "target", "constant": "target", "load": "target", "array_load": "target", "static_load": "target",
    "cast": "target", "invoke": "result", "dynamic": "result",
}  # fmt: skip


def ask(contents: Sequence[bytes], directory: Path, wanted: Sequence[str] = ()) -> dict[str, str]:
    """Returns ASM's answer for each method: a digest, or all of it for those `wanted`."""
    assert JAVA is not None
    assert JAVAC is not None
    artifact = maven.resolve(ASM)
    path = ":".join(map(str, (directory, artifact.file, *artifact.runtime)))
    if not (directory / "StackOracle.class").exists():
        subprocess.run([JAVAC, "-cp", path, "-d", str(directory), str(ORACLE)], check=True, timeout=300)
    packed, answered = directory / "classes", directory / "answers"
    with packed.open("wb") as file:
        file.write(struct.pack(">i", len(contents)))
        for content in contents:
            version = min(content[6:8], ASM_NEWEST)
            file.write(struct.pack(">i", len(content)) + content[:6] + version + content[8:])
    command = [JAVA, "-Xmx2g", "-cp", path, "StackOracle", str(packed), str(answered), *wanted]
    subprocess.run(command, check=True, timeout=3600)
    lines = answered.read_bytes().decode("utf-8", "surrogatepass").split("\n")[:-1]
    return dict(line.rsplit("\t", 1) for line in lines)


def origins_of(content: bytes) -> Iterator[tuple[str, str]]:
    """Yields (method, origins) of the bodies in a class file, in the words of the oracle."""
    file = read_class(content)
    pool = Pool(file.pool, Symbols(), len(file.bootstraps()))
    for method in file.methods.rows:
        code = file.code(method)
        if code is not None:
            name = b".".join((file.name, file.pool.utf8(method.name) + file.pool.utf8(method.descriptor)))
            yield name.decode("utf-8", "surrogatepass"), _origins(pool, code, method)


def digest(origins: str) -> str:
    """Returns what the oracle answers for short."""
    return hashlib.md5(origins.encode(), usedforsecurity=False).hexdigest()[:16]


def _origins(pool: Pool, code: Code, method: Member) -> str:
    frame = Frame({name: [] for name in RELATIONS})
    states: dict[int, list[int]] = {}
    run = bytecode._run

    def step(frame: Frame, place: int, end: int) -> int:
        while 0 <= place < end:
            states[place] = frame.stack.copy()
            place = run(frame, place, place + 1)
        return place

    static = bool(method.flags & 8)
    shape = pool.symbols.shape(pool.pool.utf8(method.descriptor))
    with patch.object(bytecode, "_run", step):
        try:
            bytecode.translate_body(frame, code, pool, shape, static)
        except MalformedClass as problem:
            return f"ERROR {problem.code} {problem.text}"
    ordinals = _ordinals(code.instructions)
    found = _variables(frame, ordinals)
    if frame.handlers:
        for target, variable in frame.handler_variables.items():
            found.setdefault(variable, set()).add(HANDLER + ordinals[target])
    slots = shape.slots if static else shape.slots + 1
    for position, depth in shape.references if static else shape.references_with_receiver:
        found.setdefault(position + 1, set()).add(-1 - (slots + depth))
    sources = _sources(frame.rows["assign"], 1, 2, 3)
    _forget_casts_of_null(found, sources, _sources(frame.rows["cast"], 1, 3, 4))
    return _written(states, found, sources, ordinals)


def _ordinals(code: bytes) -> dict[int, int]:
    ordinals: dict[int, int] = {}
    place = 0
    while place < len(code):
        ordinals[place] = len(ordinals)
        place = next_instruction(code, place)
    return ordinals


def _variables(frame: Frame, ordinals: dict[int, int]) -> dict[int, set[int]]:
    """Returns the instruction that makes what each variable holds."""
    found: dict[int, set[int]] = {}
    for relation, column in _ORIGINS.items():
        names = RELATIONS[relation]
        rows = frame.rows[relation]
        at = names.index(column)
        for start in range(0, len(rows), len(names)):
            found.setdefault(rows[start + at], set()).add(ordinals[rows[start]])
    return found


def _sources(rows: list[int], source: int, target: int, width: int) -> dict[int, list[int]]:
    """Returns the sources of each target."""
    sources: dict[int, list[int]] = {}
    for start in range(0, len(rows), width):
        sources.setdefault(rows[start + target], []).append(rows[start + source])
    return sources


def _forget_casts_of_null(
    found: dict[int, set[int]], assigns: dict[int, list[int]], casts: dict[int, list[int]]
) -> None:
    """Removes what is made by casting a variable that holds nothing: to the oracle, that is null as before."""
    targets: dict[int, list[int]] = {}
    for sources in (assigns, casts):
        for target, listed in sources.items():
            for source in listed:
                targets.setdefault(source, []).append(target)
    waiting = [variable for variable in found if variable not in casts]
    held = set(waiting)
    while waiting:
        for target in targets.get(waiting.pop(), ()):
            if target not in held:
                held.add(target)
                waiting.append(target)
    for target in casts.keys() - held:
        del found[target]


def _written(
    states: dict[int, list[int]],
    found: dict[int, set[int]],
    sources: dict[int, list[int]],
    ordinals: dict[int, int],
) -> str:
    known: dict[int, str] = {}

    def origin(variable: int) -> str:
        if variable not in known:
            seen, waiting = {variable}, [variable]
            while waiting:
                for source in sources.get(waiting.pop(), ()):
                    if source not in seen:
                        seen.add(source)
                        waiting.append(source)
            numbers = sorted(set().union(*(found.get(each, ()) for each in seen)))
            known[variable] = "".join(f"{number}," for number in numbers)
        return known[variable]

    text = []
    for place in sorted(states):
        values = enumerate(states[place])
        held = (f"{slot}={origin(value)};" for slot, value in values if value > 0 and origin(value))
        text.append(f"{ordinals[place]}:{''.join(held)} ")
    return "".join(text)
