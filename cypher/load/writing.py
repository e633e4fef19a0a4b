"""Transactions whose work may be repeated: it finds what an earlier try has written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from neo4j import Session
from neo4j.exceptions import IncompleteCommit

Found = TypeVar("Found")
# Commits in a row of which the outcome may stay unknown, because the connection broke before the answer.
_DOUBTS = 4


def write(session: Session, work: Callable[..., Found], *arguments: Any) -> Found:
    """Returns what `work(transaction, *arguments)` returns, in a transaction that is repeated if need be."""
    for _ in range(_DOUBTS - 1):
        try:
            return session.execute_write(work, *arguments)
        except IncompleteCommit:
            continue
    return session.execute_write(work, *arguments)
