"""Operands that take only a few members, one more of which is too many."""

from __future__ import annotations

from engine.bounded import Bounded


def test_members_are_kept_until_they_are_too_many() -> None:
    operand = Bounded(of_objects=1, in_all=2)
    for members in range(1, 6):
        if operand.takes_members:
            operand.members[members] = None
        assert (operand.classes() is None) == (members > 2)
    assert list(operand.members) == [1, 2, 3]
