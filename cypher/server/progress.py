"""What long work says about itself."""

from __future__ import annotations

from collections.abc import Callable

# Called with what happens, and with how far it is ("" when that has just begun).
Tell = Callable[[str, str], None]


def silently(_what: str, _far: str) -> None:
    """Says nothing."""
