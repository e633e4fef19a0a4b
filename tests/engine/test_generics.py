"""Signatures of generic types (JVMS 4.7.9.1), taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.reflection.generics import is_class, listed, parameterized, without_parameters

NAMES = st.text("abC$", min_size=1, max_size=4).map(lambda name: f"p/{name}")


def with_arguments(types: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Returns signatures of classes with arguments, arrays of them, and classes within them."""
    wildcards = st.builds(str.__add__, st.sampled_from(["+", "-"]), types)
    arguments = st.lists(types | wildcards | st.just("*"), min_size=1, max_size=3).map("".join)
    classes = st.builds("L{}<{}>;".format, NAMES, arguments)
    return classes | types.map("[{}".format) | st.builds("L{}<{}>.B;".format, NAMES, arguments)


TYPES = st.recursive(
    NAMES.map("L{};".format) | NAMES.map("T{};".format) | st.sampled_from(["[I", "[[Z"]), with_arguments
)


@given(st.lists(TYPES))
def test_a_list_of_types_is_taken_apart(types: list[str]) -> None:
    assert listed("".join(types)) == types


@given(NAMES, st.lists(TYPES, min_size=1), NAMES, st.lists(TYPES))
def test_a_parameterized_type_is_taken_apart(
    outer: str, first: list[str], inner: str, second: list[str]
) -> None:
    whole = f"L{outer}<{''.join(first)}>;"
    assert parameterized(whole) == (f"L{outer};", first, "")
    arguments = f"<{''.join(second)}>" if second else ""
    assert parameterized(f"{whole[:-1]}.{inner}{arguments};") == (f"L{outer}${inner};", second, whole)


@given(TYPES, TYPES)
def test_type_parameters_stand_before_the_rest(bound: str, superclass: str) -> None:
    assert without_parameters(f"<T:{bound}U::{bound}>{superclass}Lp/I;") == f"{superclass}Lp/I;"
    assert without_parameters(f"{superclass}Lp/I;") == f"{superclass}Lp/I;"


@given(TYPES)
def test_classes_are_types_without_arguments_and_variables(type_: str) -> None:
    assert is_class(type_) == ("<" not in type_ and "T" not in type_)


@pytest.mark.parametrize("text", ["L", "Lp/A", "Lp/A<;", "Tp", "X", "[", "Lp/A;Q", "+", "<"])
def test_what_is_malformed_has_no_types(text: str) -> None:
    assert listed(text) == []


@given(st.text("<>;.[*+-LTIp/"))
def test_no_text_stops_the_analysis(text: str) -> None:
    types = listed(text)
    assert "".join(types) in ("", text)
    for each in (*types, *listed(without_parameters(text))):
        assert is_class(each) or each[0] in "LT[*+-"
        if each.startswith("L"):
            assert parameterized(each).raw.startswith("L")
