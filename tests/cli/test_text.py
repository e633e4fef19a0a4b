"""Text from archives on terminals and in spreadsheets."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.diagnostics import groups
from cli.present import write_json
from cli.text import bytes_of, quoted, shown, spreadsheet_cell
from cypher.schema import Diagnostic


@given(st.text(st.characters(exclude_categories=[])))
def test_what_is_shown_controls_nothing_and_is_unicode(text: str) -> None:
    found = shown(text)
    assert all(unicodedata.category(each) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for each in found)
    found.encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize("text", ["=1+1", "+a", "-a", "@a"])
def test_formulas_become_text(text: str) -> None:
    assert spreadsheet_cell(text) == "'" + text


def test_a_tab_cannot_hide_a_formula() -> None:
    assert spreadsheet_cell("\t=1").startswith("\\x09")


def test_long_constants_are_cut() -> None:
    assert quoted("x" * 100, 10) == '"xxxxxxxxx…"'


@pytest.mark.parametrize("text", ["", "g", "4x", "-1", "1e3", "4 4g", "1.g"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        bytes_of(text)


def test_diagnostics_are_grouped_by_code_and_archive_gravest_first() -> None:
    found = groups(
        [
            Diagnostic("B", "note", "n", archive="x.jar"),
            Diagnostic("A", "warning", "first", archive="x.jar", entry="a.class"),
            Diagnostic("A", "warning", "second", "soundness", archive="x.jar"),
            Diagnostic("A", "warning", "third", archive="y.jar"),
            Diagnostic("Z", "error", "bad"),
        ]
    )
    assert [(each.code, each.archive, each.number, each.effect, each.text) for each in found] == [
        ("Z", "", 1, "none", "bad"),
        ("A", "x.jar", 2, "soundness", "a.class: first"),
        ("A", "y.jar", 1, "none", "third"),
        ("B", "x.jar", 1, "none", "n"),
    ]


@pytest.mark.parametrize("value", [[], [1], [{"a": [1, 2]}, {"b": "\ud800"}], {"a": [1]}, None])
def test_json_is_of_a_list_an_element_a_line(value: object, capsys: pytest.CaptureFixture[str]) -> None:
    write_json(value)
    written = capsys.readouterr().out
    assert json.loads(written) == value
    assert written.isascii()
    assert written.endswith("\n")
    if isinstance(value, list) and value:
        assert [json.loads(line.rstrip(",")) for line in written.splitlines()[1:-1]] == value
