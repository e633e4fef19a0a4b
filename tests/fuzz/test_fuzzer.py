"""The fuzzer itself: it makes the same mutants again, and finds bugs that were put there for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from loader.translate import translate
from loader.zipread import Zip
from tests.badinputs.zips import Item, build, class_file
from tests.fuzz import corpus, oracle, runner
from tests.fuzz.classformat import layout_of
from tests.fuzz.corpus import Corpus, Mutant
from tests.fuzz.oracle import Oracle, Verdicts
from tests.fuzz.runner import Figures, Runner
from tests.fuzz.stubs import MODULUS, WRONG

pytestmark = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")

SEED = 3


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus.build(tmp_path_factory.mktemp("compiled"))


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    with oracle.oracle(tmp_path_factory.mktemp("oracle")) as asked:
        yield asked


def test_no_file_of_the_corpus_is_refused(files: Corpus, java: Oracle) -> None:
    unit = translate(files.classes.items(), "x.jar")
    assert not [each for each in unit.diagnostics if each.code not in {"CLS-EXTRA", "CLS-WRONG-NAME"}]
    odd = {"Trailing", "jdk.zipfs/module-info"}
    answers = java.classes(files.originals("class"))
    named = dict(zip(files.classes, answers, strict=True))
    assert {name for name, answer in named.items() if answer.startswith("refused")} == {
        f"{each}.class" for each in odd
    }
    archives = java.archives(files.originals("zip"))
    assert not [path for path, answer in archives if answer == "refused"]


def test_layouts_are_those_of_classes(files: Corpus) -> None:
    for layout in files.layouts:
        assert layout.model.encoded() == layout.data
        assert max(layout.indexes) + 2 <= len(layout.data)
    dense = layout_of(files.classes["Dense.class"])
    switch = 0xAA
    assert switch in {dense.data[each] for each in dense.opcodes}


@pytest.mark.parametrize("kind", corpus.KINDS)
def test_a_mutant_is_known_by_seed_and_index(files: Corpus, kind: str) -> None:
    again = Corpus(dict(files.classes))
    whole = list(files.mutants(kind, SEED, 0, 300))
    assert whole[100:300] == list(again.mutants(kind, SEED, 100, 300))
    assert [each.mutator for each in whole] == [files.mutator(kind, each.number) for each in whole]
    other = list(files.mutants(kind, SEED + 1, 0, 300))
    assert sum(one.data != two.data for one, two in zip(whole, other, strict=True)) > 250
    originals = {each.data for each in files.originals(kind)}
    assert sum(each.data in originals for each in whole) < 60


def test_a_saved_corpus_is_the_same(files: Corpus, tmp_path: Path) -> None:
    files.save(tmp_path)
    assert corpus.load(tmp_path).classes == files.classes
    assert list(corpus.load(tmp_path).classes) == list(files.classes)


def found(files: Corpus, folder: Path, bug: str, count: int, monkeypatch: pytest.MonkeyPatch) -> Figures:
    """Returns what the runner finds where the reader of class files has this bug."""
    if bug == "hang":
        monkeypatch.setattr(runner, "PATIENCE", 5.0)
        monkeypatch.setattr(runner, "PATIENCE_ALONE", 5.0)
    made = Runner(folder, files, f"tests.fuzz.stubs:{bug}")
    try:
        return made.run(Figures("class", SEED), count)
    finally:
        made.close()


def test_a_reader_without_bugs_passes(files: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = found(files, tmp_path, "accept", 3000, monkeypatch)
    assert not figures.failures
    assert figures.accepted.total() == figures.refused.total() == 1500
    assert figures.mutants == 3000
    assert 0 < figures.memory < 512 << 20
    assert figures.seconds > 0
    assert not figures.useless


def test_a_byte_that_the_reader_does_not_know_is_found(
    files: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = [each.number for each in files.mutants("class", SEED, 0, 40_000) if each.data[0] == 0xFE][:3]
    figures = found(files, tmp_path, "lose_key", wrong[-1] + 1, monkeypatch)
    assert [each["which"] for each in figures.failures] == [f"class:{SEED}:{each}" for each in wrong]
    assert figures.failed == 3
    assert "KeyError: 254" in figures.failures[0]["problem"]
    assert f"FAILED class:{SEED}:{wrong[0]}" in str(figures)
    short = next(each for each in figures.failures if each["bytes"])
    again = files.mutant("class", SEED, int(short["which"].rpartition(":")[2]))
    assert again.data.hex() == short["bytes"]


@pytest.mark.parametrize(
    ("bug", "problem"),
    [
        ("write", "Forbidden: open"),
        ("look", "Forbidden: open"),
        ("start", "Forbidden: subprocess.Popen"),
        ("fill", "memory: "),
        ("crash", "stuck: ended"),
        pytest.param("loop", "TimeoutError", marks=pytest.mark.slow),
        pytest.param("hang", "stuck: no answer", marks=pytest.mark.slow),
    ],
)
def test_what_a_reader_may_not_do_is_found(
    files: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str, problem: str
) -> None:
    figures = found(files, tmp_path, bug, MODULUS, monkeypatch)
    assert [each["which"] for each in figures.failures] == [f"class:{SEED}:{WRONG}"]
    assert problem in figures.failures[0]["problem"]
    assert figures.mutants == MODULUS


@pytest.mark.parametrize("data", [b"", b"\xca\xfe\xba\xbe", class_file("A")[:-1], class_file("A") + b"x"])
def test_the_jvm_refuses_a_class(java: Oracle, data: bytes) -> None:
    assert java.classes([Mutant(0, "", "", "A.class", data)])[0].startswith("refused ")


def test_the_jvm_defines_a_class(java: Oracle) -> None:
    words = java.classes([Mutant(0, "", "", "A.class", class_file("a/A"))])[0].split(" ")
    assert words[:2] == ["defined", "1"]
    assert [bytes.fromhex(each[1:]).decode("utf-16-be") for each in words[2:]] == ["a.A", "java.lang.Object"]


def test_a_class_that_we_refuse_but_the_jvm_defines_is_found(
    files: Corpus, java: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = translate([], "x.jar")
    monkeypatch.setattr(oracle, "translate", lambda *_: nothing)
    verdicts = oracle.compare(files, java, Verdicts("class", SEED), 500)
    assert verdicts.different == verdicts.counts["only the JVM accepts"] > 50
    assert (
        verdicts.counts.total() == 500 + verdicts.counts["JVM: defined"] + verdicts.counts["JVM: supertypes"]
    )


def test_an_archive_that_we_see_otherwise_is_found(
    files: Corpus, java: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Zip, "read", lambda *_: b"other")
    verdicts = oracle.compare(files, java, Verdicts("zip", SEED), 200)
    assert verdicts.different > 50
    assert "another content" in verdicts.differences[0]


def test_the_jvm_lists_an_archive(java: Oracle) -> None:
    one = class_file("A")
    good = Mutant(0, "", "", "x.jar", build([Item(b"A.class", one), Item(b"t", b"text", crc=1)]))
    (_, answer), (_, refused) = java.archives([good, good._replace(data=b"PK")])
    entries, classes = answer.split("\n")
    assert entries.startswith("ok ")
    assert [each.split(":")[1] for each in entries.split(" ")[1:]] == [str(len(one)), "4"]
    assert classes.startswith(f"ok {b'A.class'.hex()}:")
    assert refused == "refused"
