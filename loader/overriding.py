"""What may override package-private methods (JVMS 5.4.5)."""

from __future__ import annotations

from cypher.program import PRIVATE, PROTECTED, PUBLIC
from cypher.schema import Int64
from loader.hierarchy import Types
from loader.names import package_of
from loader.part import Part
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
        self._declared: dict[str, list[tuple[Part, Int64]]] = types.classes.package_private()
        self._of_package: dict[str, dict[int, int]] = {}
        # By type: what its subclasses may override.
        self._visible: list[_Visible] = []

    def of_package(self, package: str) -> dict[int, int]:
        """Returns qualified signatures of the package-private methods of `package`, by plain signature."""
        found = self._of_package.get(package)
        if found is None:
            found = self._of_package[package] = {}
            for part, rows in self._declared.get(package, ()):
                plain = self._signatures.of_refs(part, part.unit.method_signature[rows])
                special = self._signatures.special(plain)
                for signature in plain[~special].tolist():
                    found[signature] = self._signatures.qualified(signature, package)
        return found

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
        own = self.of_package(package)
        visible = above
        for signature, method, flags in methods:
            keys = {key for key, only in above.get(signature, ()) if only is None or only == package}
            if signature in own:
                keys.add(own[signature])
            if not keys:
                continue
            rows += [(type_, key, method) for key in sorted(keys)]
            if flags & PRIVATE:
                continue
            only = None if flags & (PUBLIC | PROTECTED) else package
            if visible is above:
                visible = dict(above)
            visible[signature] = above.get(signature, frozenset()) | {(key, only) for key in keys}
        return visible
