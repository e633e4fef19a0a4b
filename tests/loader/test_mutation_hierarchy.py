"""Were the class hierarchy different, a random program or a written case would show it."""

from __future__ import annotations

import pytest

from tests.loader import mutation_hierarchy
from tests.mutants import sampled

# One mutant in so many is tried; `python -m tests.loader.mutation_hierarchy` tries them all, which takes minutes.
PART = 6

# Mutants that link the same program.
EQUIVALENT = {
    # What is known is computed again.
    "Types.named: self._enter(name) if found is None else found → self._enter(name)",
    "Types.defined: if known is not None: → if False:",
    "Types.defined: without return NONE if self.flags[known] & PHANTOM or self.number[known] == MADE else known",
    "Types._name: self.names[known] if known >= 0 else part.type_name(ref) → part.type_name(ref)",
    "Types._name: known >= 0 → known > 0",
    "Types._name: known >= 0 → known >= 1",
    "Types._name: known >= 0 → known >= -1",
    "Types._append: if len(parents) == 1: → if False:",
    "Overriding.prepare: without self._prepared |= fresh",
    "Methods.declared: if found is None: → if True:",
    "Methods.enter: if first == len(self.types): → if False:",
    "Methods.enter: first == len(self.types) → first >= len(self.types)",
    "Methods.enter: without return",
    "Methods._default_interfaces: not types.interfaces[type_] or types.is_interface(type_) → types.is_interface(type_)",
    "Resolver.calls: callee == UNSEEN → callee <= UNSEEN",
    "Resolver.calls: callee == UNSEEN → callee >= UNSEEN",
    "Resolver.calls: if missing.any(): → if True:",
    "Resolver._fill: without self._methods.enter()",
    "Resolver._targets: without self._methods.enter()",
    "Resolver._select: if found is None: → if True:",
    "Resolver._select_special: found < 0 → found <= 0",
    "Resolver._select_special: found < 0 → found < 1",
    "Fields._interfaces: if not self._types.interfaces[type_]: → if False:",
    "Fields._interfaces: without return []",
    "Fields._interfaces: if each not in found: → if True:",
    "Fields._index: if found is None: → if True:",
    # No flags are asked for.
    "Resolver._in_superclasses: without and self._methods.flags_of(found) & without → self._methods.flags_of(found) & without",
    # What is on the stack once more is passed over, and what has an id isn't asked for.
    "Types._enter: without waiting.pop() (2)",
    "Types._enter: without opened.discard(name)",
    # The lists have one length: each is made from the other.
    "Types.diagnostics: zip(self.names, self.number, strict=True) → zip(self.names, self.number, strict=False)",
    "Methods.declared: zip(reversed(plain), reversed(ids), strict=True) → zip(reversed(plain), reversed(ids), strict=False)",
    "Methods._qualify: zip(rows.tolist(), declaring[rows].tolist(), plain[rows].tolist(), flags[rows].tolist(), strict=True) → zip(rows.tolist(), declaring[rows].tolist(), plain[rows].tolist(), flags[rows].tolist(), strict=False)",
    "Resolver._targets: zip(owners.tolist(), plain.tolist(), strict=True) → zip(owners.tolist(), plain.tolist(), strict=False)",
    "Resolver._targets: zip(owners[callee < 0].tolist(), plain[callee < 0].tolist(), strict=True) → zip(owners[callee < 0].tolist(), plain[callee < 0].tolist(), strict=False)",
    "Methods.described: zip(ids, plain, flags, strict=True) → zip(ids, plain, flags, strict=False)",
    "Fields.described: zip(fields, self._keys(type_), flags, strict=True) → zip(fields, self._keys(type_), flags, strict=False)",
    "Fields._keys: zip(names, descriptors, strict=True) → zip(names, descriptors, strict=False)",
    # Nothing is below these numbers where they are compared.
    "Types.defined: self.number[known] == MADE → self.number[known] <= MADE",
    "Methods._place: numbers == MADE → numbers <= MADE",
    "Methods._describe: where == NONE → where <= NONE",
    "Methods._note_initialisers: plain == self._initialiser → plain <= self._initialiser",
    "Resolver.call: callee == _PER_CALLER → callee <= _PER_CALLER",
    "Resolver.calls: callee == _PER_CALLER → callee <= _PER_CALLER",
    # Flags aren't negative, and ways of calling no more than two.
    "Methods._qualify: flags & (ACC_STATIC | PRIVATE) == 0 → flags & (ACC_STATIC | PRIVATE) <= 0",
    "Methods._qualify: flags & (PUBLIC | PROTECTED) == 0 → flags & (PUBLIC | PROTECTED) <= 0",
    "Methods._note_initialisers: flags & (ABSTRACT | ACC_STATIC) == 0 → flags & (ABSTRACT | ACC_STATIC) <= 0",
    "Resolver._targets: np.asarray(way) == 2 → np.asarray(way) >= 2",
    "Resolver._targets: kind == VIRTUAL → kind >= VIRTUAL",
    "Resolver._targets: kind == VIRTUAL → kind >= VIRTUAL (2)",
    "Resolver._targets: flags & PRIVATE == 0 → flags & PRIVATE <= 0",
    # None is false.
    "Types._may_implement: without return False (3)",
    # There is one, or all are the same.
    "Types._append: parents[0] → parents[-1]",
    "Resolver.resolve: concrete[0] → concrete[-1]",
    "Resolver.call: each[0] → each[-1]",
    "Resolver._select_special: concrete[0] → concrete[-1]",
    # More is marked, or kept under signatures by which nothing is called; each method may have one of its own.
    "Overriding.prepare: where == which → where <= which",
    "Overriding.prepare: where == which → where >= which",
    "Overriding.prepare: for where, start, end in self._spans.get(package, ()) if where == which → for where, start, end in self._spans.get(package, ())",
    "Overriding.extend: superclass >= 0 → superclass > 0",
    "Overriding.extend: superclass >= 0 → superclass >= 1",
    "Overriding._of_type: if is_package_private: → if True:",
    "Overriding._of_type: if (root, None) in above.get(signature, ()): → if True:",
    "Overriding._of_type: (root, None) in above.get(signature, ()) → (root, None) not in above.get(signature, ())",
    "Overriding._of_type: if not keys: → if False:",
    "Overriding._of_type: without continue",
    # Numpy takes any negative number for what is left, and no bytes for no rows.
    "Methods._qualify: np.array(self._overriding.extend(candidates), np.int32).reshape(-1, 3) → np.array(self._overriding.extend(candidates), np.int32).reshape(-2, 3)",
    "Methods.new_rows: np.array(np.frombuffer(flat, np.int32)) if flat else empty → np.array(np.frombuffer(flat, np.int32))",
    # Only Object declares the first method of a program.
    "Resolver._in_superclasses: polymorphic >= 0 → polymorphic > 0",
    "Resolver._in_superclasses: polymorphic >= 0 → polymorphic >= 1",
    "Methods._note_initialisers: self.initialiser[each] >= 0 → self.initialiser[each] > 0",
    "Methods._note_initialisers: self.initialiser[each] >= 0 → self.initialiser[each] >= 1",
    # Where nothing was found there is no callee, whatever the flags are.
    "Resolver._targets: callee >= 0 → callee >= -1",
    "Resolver._targets: np.where(callee >= 0, self._methods.flags.view[callee], 0) → np.where(callee >= 0, self._methods.flags.view[callee], 1)",
    "Resolver._targets: np.where(callee >= 0, self._methods.flags.view[callee], 0) → np.where(callee >= 0, self._methods.flags.view[callee], -1)",
    # A private method is called within its nest, where selection finds it, too.
    "Resolver._targets: flags & PRIVATE == 0 → flags & PRIVATE >= 0",
    # There are no fields to have ids.
    "Fields.of_type: range(0) → range(-1)",
    "Fields._index: self._types.number[type_] >= 0 → self._types.number[type_] >= -1",
    "Fields._allocate: if count: → if True:",
    # A class on the border of two parts is looked for in the later one last.
    "Methods._place: numbers < types.classes.first[which + 1] → numbers <= types.classes.first[which + 1]",
}


@pytest.mark.slow
def test_changed_hierarchy_is_noticed() -> None:
    surviving, number = mutation_hierarchy.survivors(PART)
    assert number > 100
    assert set(surviving) == {each for each in EQUIVALENT if sampled(each, PART)}
