"""The main attributes of `META-INF/MANIFEST.MF`, as `java.util.jar.Attributes` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

NAME = "META-INF/MANIFEST.MF"

_HEADER = re.compile(r"([A-Za-z0-9_-]{1,70}): (.*)", re.DOTALL)
_LINE_END = re.compile(rb"\r\n|\r|\n")


class Manifest(NamedTuple):
    """Main attributes by name. `multi_release` says whether versioned entries count."""

    attributes: Mapping[str, str]
    multi_release: bool = False

    def get(self, name: str) -> str:
        """Returns the attribute `name`, of whatever case, or the empty string."""
        wanted = name.lower()
        return next((value for key, value in self.attributes.items() if key.lower() == wanted), "")

    @property
    def main_class(self) -> str | None:
        """Returns the class to start: that of a Spring Boot application, else the one that `java -jar` starts."""
        return self.get("Start-Class").strip() or self.get("Main-Class").strip() or None

    @property
    def agents(self) -> tuple[str, ...]:
        """Returns the classes that the JVM starts agents in (`java.lang.instrument`), each once."""
        found = (self.get(each).strip() for each in ("Premain-Class", "Agent-Class", "Launcher-Agent-Class"))
        return tuple(dict.fromkeys(filter(None, found)))


EMPTY = Manifest(MappingProxyType({}))


def parse(data: bytes) -> Manifest:
    r"""Returns the main attributes in `data`. Of a name given twice, the last counts.

    >>> parse(b"Main-Class: a.b\r\n .C\r\n\r\nName: x\r\nMain-Class: y\r\n").main_class
    'a.b.C'
    """
    attributes: dict[str, tuple[str, str]] = {}
    well_formed = True
    # What follows the last line end is no line to the JVM.
    for line in _logical(_LINE_END.split(data)[:-1]):
        header = _HEADER.fullmatch(line)
        if header is None:
            well_formed = False
            break
        attributes[header[1].lower()] = header[1], header[2]
    multi_release = attributes.get("multi-release", ("", ""))[1].lower() == "true"
    # It looks for these words as they stand, not broken by a continuation, before it looks at attributes.
    marked = b"multi-release: true" in data.lower()
    return Manifest(MappingProxyType(dict(attributes.values())), marked and well_formed and multi_release)


def _logical(lines: Iterable[bytes]) -> Iterator[str]:
    """Yields the lines of the main section, continuation lines joined."""
    parts: list[bytes] = []
    for line in lines:
        if line.startswith(b" ") and parts:
            parts.append(line[1:])
            continue
        if parts:
            yield b"".join(parts).decode("utf-8", "replace")
        if not line:
            return
        parts = [line]
    if parts:
        yield b"".join(parts).decode("utf-8", "replace")
