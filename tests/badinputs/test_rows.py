"""Each kind of bad input has a test."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.badinputs.rows import ROWS

TESTS = Path(__file__).parents[1]
MARKED = re.compile(r"^ *def test_((?:[achdqs]\d+_)+)|\bid=\"((?:[ACHDQS]\d+\b ?)+)", re.MULTILINE)


def ids_in(text: str) -> Iterator[str]:
    """Yields the ids in the names of the tests, and in the ids of their parameters, that a module holds."""
    for names, parameters in MARKED.findall(text):
        yield from (each.upper() for each in re.split("[_ ]", names or parameters) if each)


@pytest.fixture(scope="module")
def tested() -> set[str]:
    return {each for path in TESTS.rglob("test_*.py") for each in ids_in(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("row", ROWS)
def test_row_has_a_test(row: str, tested: set[str]) -> None:
    assert row in tested, ROWS[row]


def test_no_test_is_of_a_row_that_is_not_listed(tested: set[str]) -> None:
    assert tested <= ROWS.keys()


def test_ids_are_found() -> None:
    text = '    def test_a01_a02_empty():\n@parametrize([pytest.param(1, id="C03 C04 magic")])\ndef test_a_b():\n'
    assert list(ids_in(text)) == ["A01", "A02", "C03", "C04"]
