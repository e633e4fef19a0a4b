"""The main attributes of `META-INF/MANIFEST.MF`, as `java.util.jar.Attributes` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

NAME = "META-INF/MANIFEST.MF"

_HEADER = re.compile(r"([A-Za-z0-9_-]{1,70}): (.*)", re.DOTALL)


class Manifest(NamedTuple):
    """Main attributes by name. `well_formed` is False if the JVM would refuse the manifest."""

    attributes: Mapping[str, str]
    well_formed: bool

    def get(self, name: str) -> str:
        """Returns the attribute `name`, of whatever case, or the empty string."""
        wanted = name.lower()
        return next((value for key, value in self.attributes.items() if key.lower() == wanted), "")

    @property
    def multi_release(self) -> bool:
        """Returns whether versioned entries count."""
        return self.well_formed and self.get("Multi-Release").lower() == "true"

    @property
    def main_class(self) -> str | None:
        """Returns the class to start: that of a Spring Boot application, else the one that `java -jar` starts."""
        return self.get("Start-Class").strip() or self.get("Main-Class").strip() or None


EMPTY = Manifest(MappingProxyType({}), True)


def parse(data: bytes) -> Manifest:
    r"""Returns the main attributes in `data`. Of a name given twice, the last counts.

    >>> parse(b"Main-Class: a.b\r\n .C\r\n\r\nName: x\r\nMain-Class: y\r\n").main_class
    'a.b.C'
    """
    attributes: dict[str, tuple[str, str]] = {}
    well_formed = True
    for line in _logical_lines(data):
        header = _HEADER.fullmatch(line)
        if header is None:
            well_formed = False
            break
        attributes[header[1].lower()] = header[1], header[2]
    return Manifest(MappingProxyType(dict(attributes.values())), well_formed)


def _logical_lines(data: bytes) -> Iterator[str]:
    """Yields the lines of the main section, continuation lines joined."""
    parts: list[bytes] = []
    for line in re.split(rb"\r\n|\r|\n", data):
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
