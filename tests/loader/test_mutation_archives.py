"""Were archives read differently, a written case would show it."""

from __future__ import annotations

import pytest

from tests.loader import mutation_archives

# Mutants that read the same.
EQUIVALENT = {
    # Each entry is compared with the limit when there is one more.
    "Zip._parse: len(entries) == self._limits.entries → len(entries) >= self._limits.entries",
    "Opener._inside: depth == self._limits.nesting → depth >= self._limits.nesting",
    # Without an extra field there is none of zip64.
    "Zip._entry: if extra: → if True:",
    # Other methods are refused before.
    "Zip._entry: header[4] == DEFLATED → header[4] >= DEFLATED",
    "Zip._bytes: entry.method == STORED → entry.method <= STORED",
    # Nothing that has 16 or 32 bits is larger.
    "Zip._zip64: header[13] == _MAGIC16 → header[13] >= _MAGIC16",
    "Zip._zip64: size == _MAGIC32 → size >= _MAGIC32",
    "Zip._zip64: compressed == _MAGIC32 → compressed >= _MAGIC32",
    "Zip._zip64: value == _MAGIC32 → value >= _MAGIC32",
    # What stands in for values that are missing is compared with 0, and a third one with nothing.
    "Zip._zip64: values[:2] → values[:3]",
    "Zip._zip64: (*values[:2], 0, 0) → (*values[:2], 1, 0)",
    "Zip._zip64: (*values[:2], 0, 0) → (*values[:2], 0, 1)",
    "Zip._zip64: (*values[:2], 0, 0) → (*values[:2], 0, -1)",
    # More is read than needed, or a little less at first.
    "Zip._content: limit + 1 → limit + 2",
    "Zip._content: limit + 1 → limit + 2 (2)",
    "Zip._compressed: _LOCAL.size + len(name) + 64 → _LOCAL.size + len(name) + 65",
    "Zip._compressed: _LOCAL.size + len(name) + 64 → _LOCAL.size + len(name) + 63",
    "_find_end: source.size - tail_start → source.size + tail_start",
    # That they differ was asked before.
    "Zip._content: len(content) < entry.size → len(content) <= entry.size",
    # Sizes and positions aren't negative.
    "_find_end: source.size == 0 → source.size <= 0",
    "_read_directory: end.position == 0 → end.position <= 0",
    "_inflate: wanted == 0 → wanted <= 0",
    "_inflate: missing == 0 → missing <= 0",
    "_overlap: taken = 0 → taken = -1",
    # In front of a source there is nothing to be read.
    "_leads_to_headers: min(central, local) >= 0 and source.read(central, 4) == b'PK\\x01\\x02' and (source.read(local, 4) == b'PK\\x03\\x04') → source.read(central, 4) == b'PK\\x01\\x02' and source.read(local, 4) == b'PK\\x03\\x04'",
    "_leads_to_headers: min(central, local) → max(central, local)",
    "_leads_to_headers: min(central, local) >= 0 → min(central, local) >= -1",
    # Between its start and END, a source has either all bytes of a locator or none.
    "_find_end64: len(raw) < _END64_LOCATOR.size or not raw.startswith(b'PK\\x06\\x07') → not raw.startswith(b'PK\\x06\\x07')",
    # Offsets of no entries count from anywhere.
    "_read_directory: (b'', 0) → (b'', 1)",
    "_read_directory: (b'', 0) → (b'', -1)",
    # Behind its end a stream gives nothing more.
    "_inflate: missing == 0 or inflater.eof → missing == 0",
    # None is false, and a result that isn't there.
    "_overlap: without return False",
    "Archive.read: without return None (2)",
    # Sizes of 31 bits and more are larger than any limit.
    "_read_size: size < _SIGN and entry.name.endswith(('.class', '.class/')) → entry.name.endswith(('.class', '.class/'))",
    "_read_size: size < _SIGN → size <= _SIGN",
    # Whether it ended counts where more was asked for, and what is false becomes false.
    "_inflate: (b'', False) → (b'', True)",
    "_manifest_of: own.multi_release and isinstance(container, Zip) and (not container.has_declared_size(found)) → isinstance(container, Zip) and (not container.has_declared_size(found))",
    # No name begins with one of none.
    "view: excluded and entry.startswith(excluded) → entry.startswith(excluded)",
    # Versions are looked at from 8 on: what stands for none is below that, and less than nothing is no version.
    "view: version = 0 → version = 1",
    "view: int(found[1]) if found else 0 → int(found[1]) if found else 1",
    "view: int(found[1]) if found else 0 → int(found[1]) if found else -1",
    "view: not found or not _FIRST_VERSION <= version <= release or name.startswith('META-INF/') → not _FIRST_VERSION <= version <= release or name.startswith('META-INF/')",
    "view: versions.get(name, 0) → versions.get(name, -1)",
    "view: versions.get(name, 0) → versions.get(name, 1) (2)",
    "view: versions.get(name, 0) → versions.get(name, -1) (2)",
    "view: if version: → if True:",
    "Opener._roots: self._root(container, label, LIBRARY, own, '', 0, ('BOOT-INF/', 'WEB-INF/')) → self._root(container, label, LIBRARY, own, '', 1, ('BOOT-INF/', 'WEB-INF/'))",
    "Opener._roots: self._root(container, label, LIBRARY, own, '', 0, ('BOOT-INF/', 'WEB-INF/')) → self._root(container, label, LIBRARY, own, '', -1, ('BOOT-INF/', 'WEB-INF/'))",
    # Which versions are known counts only where one is looked for.
    "view: release and name[:1] in 'Mm' and (spelt := _KNOWN_VERSION.fullmatch(name)) → name[:1] in 'Mm' and (spelt := _KNOWN_VERSION.fullmatch(name))",
    # A shorter way to what the expression says.
    "view: release and name[:1] in 'Mm' and (spelt := _KNOWN_VERSION.fullmatch(name)) → release and (spelt := _KNOWN_VERSION.fullmatch(name))",
    "view: name[:1] → name[:0]",
    "view: name.endswith('.class') and is_class(name) → is_class(name)",
    # These are the first and the last in the alphabet of kinds, or of those that are left.
    "nested_archives: kind == 'war' → kind >= 'war'",
    "nested_archives: kind == 'boot' → kind <= 'boot'",
    "nested_archives: kind == 'ear' → kind <= 'ear'",
    # A manifest without lines has no attributes, well-formed or not.
    "_logical: if parts: → if True: (2)",
    # No other container has the bytes of a jimage.
    "Opener._jimage: without salt = f'jimage {salt} '",
    # Charging the budget has handed them on.
    "Opener._archive: without self._hand_on(container)",
    # A directory has one root where this is asked.
    "Opener._roots: archives[0] → archives[-1]",
    # No letter is shorter in upper case; what begins with the folder has a slash.
    "_manifest_of: len(name) == len(manifest.NAME) → len(name) >= len(manifest.NAME)",
    "_is_signature: name.count('/') == 1 → name.count('/') <= 1",
}


@pytest.mark.slow
def test_changed_reading_of_archives_is_noticed() -> None:
    surviving, number = mutation_archives.survivors()
    assert number > 1000
    assert set(surviving) == EQUIVALENT
