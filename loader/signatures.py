"""Signatures of a program: ids on demand for names with descriptors.

A package-private method has a signature that is qualified with its package, because only methods of that
package, and what overrides those, may override it (JVMS 5.4.5); one of narrower access than what it overrides
has one that is qualified with its class.
"""

from __future__ import annotations

import numpy as np

from cypher.schema import Int32
from loader.csr import look_up
from loader.part import Part


class Signatures:
    """All signatures that were asked for; `names[s]` is (name, descriptor, package or None)."""

    def __init__(self) -> None:
        self.names: list[tuple[str, str, str | None]] = []
        self._ids: dict[tuple[str, str, str | None], int] = {}
        # 1 for `<init>` and `<clinit>`, 2 if some package that was looked at has a package-private method.
        self._marks = bytearray()

    def __len__(self) -> int:
        return len(self.names)

    def of(self, name: str, descriptor: str, package: str | None = None) -> int:
        """Returns the signature with this name and descriptor, qualified if `package` isn't None."""
        key = (name, descriptor, package)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = len(self.names)
            self.names.append(key)
            self._marks.append(1 if name[:1] == "<" else 0)
        return found

    def qualified(self, signature: int, package: str) -> int:
        """Returns the signature of package-private methods of `package`, or `class;`, with that name and descriptor."""
        name, descriptor, _ = self.names[signature]
        return self.of(name, descriptor, package)

    def of_refs(self, part: Part, refs: Int32) -> Int32:
        """Returns the signatures, none qualified, of these signature references of `part`."""

        def find(fresh: Int32) -> list[int]:
            names = part.text.many(part.unit.signature_name[fresh])
            descriptors = part.text.many(part.unit.signature_descriptor[fresh])
            return [self.of(name, descriptor) for name, descriptor in zip(names, descriptors, strict=True)]

        return look_up(part.signatures, refs, find)

    def special(self, signatures: Int32) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Returns which of these are of constructors and initialisers."""
        return (np.frombuffer(self._marks, np.uint8)[signatures] & 1).astype(np.bool_)

    def mark_package_private(self, signatures: Int32) -> None:
        """Notes that package-private methods have these."""
        np.frombuffer(self._marks, np.uint8)[signatures] |= 2

    def package_private_somewhere(self, signatures: Int32) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Returns which of these `mark_package_private` was told of."""
        return (np.frombuffer(self._marks, np.uint8)[signatures] & 2).astype(np.bool_)
