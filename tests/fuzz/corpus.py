"""The files that mutants are made of, and the mutants: each is known by kind, seed and index."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import NamedTuple

from loader import jdk
from loader.archives import Limits
from loader.containers import JDK, Opener
from tests import fixture_assembler
from tests.fuzz import containers, mutators
from tests.fuzz.classformat import Layout, layout_of
from tests.fuzz.containers import Subject
from tests.loader.rawclass import RawClass

HERE = Path(__file__).parent
KINDS = ("class", "zip", "image")

# Classes that no compiler of today makes, and some of the JDK.
ASSEMBLED = ("JsrFinally", "JsrNested", "StackForms", "WideForms")
OF_JDK = (
    "java/lang/Runnable", "java/lang/annotation/Retention", "java/lang/constant/Constable",
    "java/nio/file/DirectoryStream$Filter", "java/util/IllegalFormatException", "java/util/function/Supplier",
    "jdk.zipfs/module-info",
)  # fmt: skip
LONGEST = 1700  # bytes of a class


class Mutant(NamedTuple):
    """A file to be read. `file` is its name; of a class, that of its entry."""

    number: int
    mutator: str
    origin: str
    file: str
    data: bytes


@dataclass(frozen=True)
class Corpus:
    """Class files by entry name, and all that is made of them."""

    classes: dict[str, bytes]

    @cached_property
    def layouts(self) -> list[Layout]:
        """The classes; no two have one name, so that they can be read together."""
        found = [layout_of(content) for content in self.classes.values()]
        assert len({each.name for each in found}) == len(found)
        return found

    @cached_property
    def _named(self) -> list[tuple[str, bytes]]:
        return [(name.removesuffix(".class"), content) for name, content in self.classes.items()]

    @cached_property
    def zips(self) -> list[Subject]:
        """The archives."""
        return containers.archives(self._named)

    @cached_property
    def images(self) -> list[Subject]:
        """The jimages and jmods."""
        return containers.images(self._named)

    def round(self, kind: str) -> int:
        """Returns how many mutants in a row come from different files."""
        return len(self.classes) if kind == "class" else len(self._subjects(kind))

    def mutant(self, kind: str, seed: int, index: int) -> Mutant:
        """Returns the mutant of this index: the file is taken in turn, then the mutator."""
        at, turn = self._place(kind, index)
        chance = Random(f"{kind}:{seed}:{index}")
        if kind == "class":
            layout = self.layouts[at]
            name, change = OF_CLASSES[turn % len(OF_CLASSES)]
            data = change(chance, layout, self.layouts)
            return Mutant(index, name, layout.name, f"{layout.name}.class", data)
        subjects = self._subjects(kind)
        name, mutate = OF_CONTAINERS[turn % len(OF_CONTAINERS)]
        return Mutant(index, name, f"{kind} {at}", subjects[at].file, mutate(chance, subjects[at], subjects))

    def originals(self, kind: str) -> list[Mutant]:
        """Returns the files as they are."""
        if kind == "class":
            return [Mutant(-1, "", each.name, f"{each.name}.class", each.data) for each in self.layouts]
        return [Mutant(-1, "", kind, each.file, each.data) for each in self._subjects(kind)]

    def mutator(self, kind: str, index: int) -> str:
        """Returns the name of the mutator that makes the mutant of this index."""
        turn = self._place(kind, index)[1]
        return (
            OF_CLASSES[turn % len(OF_CLASSES)]
            if kind == "class"
            else OF_CONTAINERS[turn % len(OF_CONTAINERS)]
        )[0]

    def _place(self, kind: str, index: int) -> tuple[int, int]:
        """Returns the number of the file, and the turn of its mutator."""
        turn, at = divmod(index, self.round(kind))
        return at, turn + at

    def mutants(self, kind: str, seed: int, start: int, stop: int) -> Iterator[Mutant]:
        """Yields the mutants of these indexes."""
        for index in range(start, stop):
            yield self.mutant(kind, seed, index)

    def save(self, folder: Path) -> None:
        """Writes the class files for `load`."""
        for at, (name, content) in enumerate(self.classes.items()):
            (folder / f"{at:03} {name.replace('/', ' ')}").write_bytes(content)

    def _subjects(self, kind: str) -> list[Subject]:
        return {"zip": self.zips, "image": self.images}[kind]


ClassMutator = Callable[[Random, Layout, list[Layout]], bytes]
ContainerMutator = Callable[[Random, Subject, list[Subject]], bytes]


def _plain_of_class(mutate: Callable[[Random, bytes], bytes]) -> ClassMutator:
    return lambda chance, layout, _: mutate(chance, layout.data)


def _alone(mutate: Callable[[Random, Layout], bytes]) -> ClassMutator:
    return lambda chance, layout, _: mutate(chance, layout)


def _with_other(mutate: Callable[[Random, Layout, Layout], bytes]) -> ClassMutator:
    return lambda chance, layout, all_: mutate(chance, layout, chance.choice(all_))


def _plain_of_container(mutate: Callable[[Random, bytes], bytes]) -> ContainerMutator:
    return lambda chance, subject, _: mutate(chance, subject.data)


_EDITING = 3  # turns that writing a class anew gets, since it can change most
OF_CLASSES: list[tuple[str, ClassMutator]] = [
    *((each.__name__, _plain_of_class(each)) for each in mutators.PLAIN),
    *(
        (each.__name__, _alone(each))
        for each in (
            mutators.swap_index, mutators.change_length, mutators.change_opcode, mutators.change_count,
            *[mutators.edit] * _EDITING,
        )
    ),
    *((each.__name__, _with_other(each)) for each in (mutators.splice, mutators.transplant)),
]  # fmt: skip
OF_CONTAINERS: list[tuple[str, ContainerMutator]] = [
    *((each.__name__, _plain_of_container(each)) for each in mutators.PLAIN),
    ("change_number", lambda chance, subject, _: containers.change_number(chance, subject)),
    *[("edit", lambda chance, subject, _: containers.edit(chance, subject))] * _EDITING,
    ("splice", lambda chance, subject, all_: containers.splice(chance, subject, chance.choice(all_))),
]


def build(folder: Path) -> Corpus:
    """Returns the corpus, compiled to `folder`."""
    command = ["javac", "-g", "--release", "17", "-nowarn", "-d", str(folder), str(HERE / "Corpus.java")]
    subprocess.run(command, check=True, capture_output=True, text=True)
    compiled = {each.name: each.read_bytes() for each in sorted(folder.glob("*.class"))}
    classes = compiled | _assembled() | _built() | _of_jdk()
    return Corpus({name: content for name, content in classes.items() if len(content) <= LONGEST})


def load(folder: Path) -> Corpus:
    """Returns the corpus that was saved to `folder`."""
    files = sorted(folder.iterdir())
    return Corpus({each.name[4:].replace(" ", "/"): each.read_bytes() for each in files})


def _assembled() -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name in ASSEMBLED:
        path = HERE.parent / "fixtures" / f"{name}.jasm"
        made = fixture_assembler.assemble(path.read_text(), path.name)
        found |= {f"{each}.class": content for each, content in made.items()}
    return found


def _built() -> dict[str, bytes]:
    """Returns classes with a dynamic constant, with bytes behind the end, and of the first version."""
    dynamic = RawClass("Dynamic")
    pool = dynamic.pool
    bootstrap = pool.handle(
        6, pool.method("java/lang/invoke/ConstantBootstraps", "invoke", "()Ljava/lang/Object;")
    )
    row = bootstrap.to_bytes(2, "big") + b"\0\2" + pool.string("x").to_bytes(2, "big")
    row += pool.dynamic(17, 1, "inner", "J").to_bytes(2, "big")
    content = b"\0\2" + row + bootstrap.to_bytes(2, "big") + b"\0\0"
    dynamic.attributes.append(("BootstrapMethods", content))
    loaded = pool.dynamic(17, 0, "outer", "Ljava/lang/Object;")
    dynamic.method(b"\x13" + loaded.to_bytes(2, "big") + b"\xb0", "()Ljava/lang/Object;")
    trailing = RawClass("Trailing", major=52).method(b"\xb1").encoded() + b"behind it"
    old = (
        RawClass("Old", major=45, minor=3).method(b"\x2a\xc6\0\4\xb1\xb1", "(Ljava/lang/Object;)V").encoded()
    )
    return {"Dynamic.class": dynamic.encoded(), "Trailing.class": trailing, "Old.class": old}


def _of_jdk() -> dict[str, bytes]:
    wanted = {f"{name}.class" for name in OF_JDK}
    found: dict[str, bytes] = {}
    opener = Opener(Limits(), 17, [])
    for file in jdk.find_jdk().files:
        for archive in opener.open(file, str(file), JDK):
            read = {name: archive.read(name) for name in sorted(wanted)}
            found |= {name: content for name, content in read.items() if content is not None}
    return found
