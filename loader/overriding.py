"""What may override package-private methods (JVMS 5.4.5)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cypher.program import PROTECTED, PUBLIC
from loader.hierarchy import Types
from loader.names import package_of
from loader.signatures import Signatures

# For a plain signature: (a qualified signature under which some method is selected, the package that may
# override that method, None for every package).
_Visible = dict[int, frozenset[tuple[int, str | None]]]

_NOTHING: _Visible = {}


class Overriding:
    """The qualified signatures under which the methods of each type are selected, type by type."""

    def __init__(self, types: Types, signatures: Signatures) -> None:
        self._types = types
        self._signatures = signatures
        self._rows, self._spans = types.classes.package_private()
        self._prepared: set[str] = set()
        # By method of narrower access than one that it overrides: a qualified signature of its own.
        self.narrower: dict[int, int] = {}
        # By type: what its subclasses may override.
        self._visible: list[_Visible] = []

    def prepare(self, packages: Iterable[str]) -> None:
        """Looks at the package-private methods of these packages; needed before `extend` for their types."""
        fresh = set(packages) - self._prepared
        self._prepared |= fresh
        for which, part in enumerate(self._types.classes.parts):
            rows = [
                self._rows[which][start:end]
                for package in sorted(fresh)
                for where, start, end in self._spans.get(package, ())
                if where == which
            ]
            if rows:
                refs = part.unit.method_signature[np.concatenate(rows)]
                self._signatures.mark_package_private(self._signatures.of_refs(part, refs))

    def extend(self, declared: dict[int, list[tuple[int, int, int]]]) -> list[tuple[int, int, int]]:
        """Returns rows (type, qualified signature, method) of the types that are new since the last call.

        `declared` has, by type, (signature, method, flags) of the methods that may have such rows.
        """
        types = self._types
        rows: list[tuple[int, int, int]] = []
        for type_ in range(len(self._visible), len(types)):
            superclass = types.superclass[type_]
            visible = self._visible[superclass] if superclass >= 0 else _NOTHING
            methods = declared.get(type_)
            if methods is not None:
                visible = self._of_type(type_, methods, visible, rows)
            self._visible.append(visible)
        return rows

    def _of_type(
        self,
        type_: int,
        methods: list[tuple[int, int, int]],
        above: _Visible,
        rows: list[tuple[int, int, int]],
    ) -> _Visible:
        """Returns what subclasses of `type_` may override, and adds the rows of its own methods."""
        package = package_of(self._types.names[type_])
        visible = above
        for signature, method, flags in methods:
            keys = {key for key, only in above.get(signature, ()) if only is None or only == package}
            is_package_private = not flags & (PUBLIC | PROTECTED)
            if is_package_private:
                root = self._signatures.qualified(signature, package)
                if (root, None) in above.get(signature, ()):
                    # What may override the wider one above it in other packages may not override this.
                    root = self._signatures.qualified(signature, f"{self._types.names[type_]};")
                    self.narrower[method] = root
                keys.add(root)
            if not keys:
                continue
            rows += [(type_, key, method) for key in sorted(keys)]
            only = package if is_package_private else None
            if visible is above:
                visible = dict(above)
            visible[signature] = above.get(signature, frozenset()) | {(key, only) for key in keys}
        return visible
