"""What we see beside what a real JVM sees, mutant by mutant."""

from __future__ import annotations

import subprocess
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from struct import pack, unpack

from loader.archives import Limits
from loader.classfile import MalformedClass, read_class
from loader.containers import Opener
from loader.source import FileSource, Refused
from loader.translate import translate
from loader.unit import Unit
from loader.views import layout_of
from loader.zipread import EntryError, Zip
from tests.fuzz.corpus import Corpus, Mutant
from tests.fuzz.readers import LIMITS, entries_of
from tests.loader import jvm

HERE = Path(__file__).parent
BATCH = 256
RELEASE = 17
# What we refuse because it costs too much is no disagreement.
OF_LIMITS = {"ARC-BUDGET", "ARC-ENTRIES", "ARC-ENTRY-SIZE"}
_DROPPED = 2
_MOST_LISTED = 100


@dataclass
class Verdicts:
    """How many mutants of one kind were judged how, and those that the JVM accepts but we refuse, or see otherwise.

    `following` is the index after the last mutant.
    """

    kind: str
    seed: int
    following: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    different: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, mutant: Mutant, what: str) -> None:
        """Adds a mutant that is judged wrongly."""
        self.different += 1
        if len(self.differences) < _MOST_LISTED:
            which = f"{self.kind}:{self.seed}:{mutant.number} ({mutant.mutator} of {mutant.origin})"
            self.differences.append(f"{which}: {what}")

    def __str__(self) -> str:
        lines = [f"{self.kind}, seed {self.seed}, beside the JVM: {self.following:,} mutants"]
        lines += [f"  {name:<24}{count:>10,}" for name, count in sorted(self.counts.items())]
        lines += [f"  {'wrongly refused or seen':<24}{self.different:>10,}"]
        return "\n".join([*lines, *(f"  WRONG {each}" for each in self.differences)])


class Oracle:
    """A JVM that answers questions."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def classes(self, mutants: Sequence[Mutant]) -> list[str]:
        """Returns what the JVM says of class files."""
        return self._ask(b"\0", [each.data for each in mutants])

    def archives(self, mutants: Sequence[Mutant]) -> list[tuple[Path, str]]:
        """Returns where each archive is, until the next call, and what the JVM says of it."""
        paths = [self._folder / f"{at}.jar" for at in range(len(mutants))]
        for path, each in zip(paths, mutants, strict=True):
            path.write_bytes(each.data)
        answers = self._ask(b"\1", [str(path).encode() for path in paths])
        return list(zip(paths, answers, strict=True))

    def _ask(self, kind: bytes, questions: list[bytes]) -> list[str]:
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        asked.write(pack(">i", len(questions)))
        asked.write(b"".join(kind + pack(">i", len(each)) + each for each in questions))
        asked.flush()
        found = []
        for _ in questions:
            (length,) = unpack(">i", answered.read(4))
            found.append(answered.read(length).decode())
        return found


@contextmanager
def oracle(folder: Path) -> Iterator[Oracle]:
    """Runs a JVM whose code is compiled to `folder`, where the archives go, too."""
    assert jvm.JAVA is not None
    sources = [str(jvm.ORACLE), str(HERE / "FuzzOracle.java")]
    subprocess.run(["javac", "-d", str(folder), *sources], check=True)
    command = [jvm.JAVA, "-Xmx512m", "-Xshare:auto", "-XX:+UseSerialGC", "-cp", str(folder), "FuzzOracle"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Oracle(process, folder)
        assert process.stdin is not None
        process.stdin.close()


def compare(corpus: Corpus, java: Oracle, verdicts: Verdicts, stop: int) -> Verdicts:
    """Returns the verdicts with those on the mutants up to `stop`."""
    kind = verdicts.kind
    for first in range(verdicts.following, stop, BATCH):
        verdicts.following = min(first + BATCH, stop)
        mutants = list(corpus.mutants(kind, verdicts.seed, first, verdicts.following))
        if kind == "class":
            _judge_classes(mutants, java.classes(mutants), verdicts, corpus.round(kind))
        else:
            for each, (path, answer) in zip(mutants, java.archives(mutants), strict=True):
                _judge_archive(each, path, answer, verdicts)
    return verdicts


# --- class files
def _judge_classes(mutants: list[Mutant], answers: list[str], verdicts: Verdicts, together: int) -> None:
    """Judges class files; of those that the JVM refuses, so many in a row are of different classes."""
    pairs = list(zip(mutants, answers, strict=True))
    for first in range(0, len(pairs), together):
        batch = [each for each, answer in pairs[first : first + together] if answer.startswith("refused")]
        seen = entries_of(translate([(each.file, each.data) for each in batch], "x.jar"))
        for each in batch:
            verdicts.counts[_verdict(ours=each.file in seen, theirs=False)] += 1
    for mutant, answer in pairs:
        verdict, *words = answer.split(" ")
        if verdict != "refused":
            unit = translate([(mutant.file, mutant.data)], "x.jar")
            verdicts.counts[_verdict(ours=len(unit.class_type) == 1, theirs=True)] += 1
            verdicts.counts[f"JVM: {verdict}"] += 1
            problem = _problem(unit, mutant.data, words if verdict == "defined" else [])
            if problem:
                verdicts.add(mutant, f"{problem}; JVM: {answer[:200]}")


def _problem(unit: Unit, data: bytes, seen: list[str]) -> str:
    """Returns what is wrong with the unit of a class that the JVM accepts, "" if nothing is."""
    if len(unit.class_type) != 1:
        return "refused: " + "; ".join(f"{each.code} {each.text}" for each in unit.diagnostics)
    if seen:
        refs = [unit.class_type[0], unit.class_super[0], *unit.class_interfaces]
        ours = [_text(unit, int(ref)) for ref in refs]
        theirs = [bytes.fromhex(each[1:]).decode("utf-16-be", "surrogatepass") for each in seen[1:]]
        if ours != theirs:
            return f"seen as {ours}, not {theirs}"
    if _DROPPED in unit.method_code:
        file = read_class(data)
        for method in file.methods.rows:
            try:
                file.code(method)
            except MalformedClass as problem:
                return f"a method is left out although its form is right: {problem.code} {problem.text}"
    return ""


def _text(unit: Unit, type_ref: int) -> str:
    """Returns the name of a type as `Class.getName` has it."""
    text = int(unit.type_text[type_ref])
    start, end = unit.text_at[text : text + 2].tolist()
    return unit.text_bytes[start:end].tobytes().decode("utf-8", "surrogatepass").replace("/", ".")


# --- archives
def _judge_archive(mutant: Mutant, path: Path, answer: str, verdicts: Verdicts) -> None:
    entries, _, classes = answer.partition("\n")
    is_theirs = entries != "refused"
    try:
        archive = Zip(FileSource(path, "x.jar", LIMITS.archive_bytes), Limits())
    except Refused as problem:
        code = problem.diagnostic.code
        verdicts.counts["over a limit" if code in OF_LIMITS else _verdict(ours=False, theirs=is_theirs)] += 1
        if is_theirs and code not in OF_LIMITS:
            verdicts.add(mutant, f"refused: {code} {problem}")
        return
    verdicts.counts[_verdict(ours=True, theirs=is_theirs)] += 1
    if is_theirs:
        problems = [*_entry_problems(archive, entries.split(" ")[1:])]
        if layout_of(archive.names(), "jar", "").kind == "jar":
            problems += _class_problems(path, classes)
        for each in problems[:1]:
            verdicts.add(mutant, each)


def _entry_problems(archive: Zip, entries: list[str]) -> Iterator[str]:
    """Yields what is wrong with the entries that the JVM lists."""
    for each in entries:
        word, size, checksum = each.split(":")
        name = bytes.fromhex(word[1:]).decode("utf-16-be", "surrogatepass")
        entry = archive.entries.get(name)
        if entry is None:
            yield f"the entry {name!r} is missing"
        elif entry.size != int(size):
            yield f"the entry {name!r} has {entry.size} bytes, not {size}"
        elif checksum != "!":
            try:
                content = archive.read(name)
            except EntryError as problem:
                if problem.code not in OF_LIMITS:
                    yield f"the entry {name!r} can't be read: {problem}"
                continue
            if zlib.crc32(content) != int(checksum):
                yield f"the entry {name!r} has another content"


def _class_problems(path: Path, answer: str) -> list[str]:
    """Returns what is wrong with the classes on the class path."""
    if answer == "refused":
        return []
    try:
        (archive,) = Opener(Limits(nesting=0), RELEASE, []).open(path, "x.jar", "application")
    except Refused as problem:
        return [] if problem.diagnostic.code in OF_LIMITS else [f"the class path is refused: {problem}"]
    ours = {name: sha256(content).hexdigest() for name, content in archive.classes()}
    found = []
    for each in answer.split(" ")[1:]:
        word, content = each.split(":")
        name = bytes.fromhex(word).decode()
        if content != "!" and may_be_loaded(name) and ours.get(name) != content:
            found.append(f"the class {name!r} is {'another' if name in ours else 'missing'}")
    return found


def may_be_loaded(name: str) -> bool:
    """Returns whether a class of some name is looked for in the entry `name`."""
    parts = name.removesuffix(".class").split("/")
    # (what begins like a drive is the protocol of a URL to class loaders)
    return (
        not name.startswith("META-INF/versions/")
        and name[1:2] != ":"
        and all(part and not set(part) & set(".;[") for part in parts)
    )


def _verdict(ours: bool, theirs: bool) -> str:
    if ours == theirs:
        return "both accept" if ours else "both refuse"
    return "only we accept" if ours else "only the JVM accepts"
