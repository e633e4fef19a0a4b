"""Zip archives, read as the JVM reads them: over the central directory, leniently where `java.util.zip` is.

Other readers disagree with the JVM about duplicate names, checksums, local headers, names and sizes, and a
class that hides in such a disagreement would run without having been analysed.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cypher.schema import Diagnostic
from loader.source import MIB, Limits, NestedSource, Source, WindowSource, refusal, sha256_of

STORED, DEFLATED = 0, 8

_END = struct.Struct("<4sHHHHIIH")
_END64_LOCATOR = struct.Struct("<4sIqI")
_END64 = struct.Struct("<4sqHHIIqqqq")
_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
_LOCAL = struct.Struct("<4sHHHHHIIIHH")

_MAGIC32, _MAGIC16 = 0xFFFFFFFF, 0xFFFF
_SIGN = 0x80000000
_END_REACH = 0xFFFF + _END.size  # how far from the end of the file its comment may push the END record
_BLOCK = 128  # the JVM looks for END in blocks of this size, so a little further than it must

# Deflate can't do better than 258 bytes for two bits.
_BEST_RATIO = 1032

_SHORT, _LONGEST = 65_535, 16_000_000  # of manifests, to `java.util.jar`

_SYMLINK = 0xA000
_UNIX = 3

# Control characters, marks that change the reading direction, segments that lead elsewhere, and `.CLASS`.
# Backslashes and drive letters are no separators to the JVM, but no honest tool writes them.
_ODD_NAME = re.compile(
    r"[\x00-\x1f\x7f-\x9f\\\u200e\u200f\u202a-\u202e\u2066-\u2069]"
    r"|(?:^|/)\.\.?(?:/|$)|^/|//|^[A-Za-z]:|\.(?!class/?$)(?i:class)/?$"
)
_LISTED = 1000  # diagnostics of one kind in one archive


class Entry(NamedTuple):
    """An entry of the central directory. `offset` is that of its local header in the file.

    If it is negative, there is no local header, and the compressed bytes are as far from the start: the JVM
    negates offsets until it has passed the header. `size` is the declared size, which the JVM reads at most;
    `bound` what can really come out of it.
    """

    name: str
    offset: int
    method: int
    checksum: int
    compressed: int
    size: int
    bound: int


class EntryError(Exception):
    """An entry that can't be read; the archive can. `code` is that of the diagnostic."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class _End(NamedTuple):
    position: int
    length: int
    offset: int
    total: int


class Zip:
    """The entries of a zip archive by name, of equal names the last, in the order of the central directory.

    Raises `Refused` where the JVM throws, and where `limits` are exceeded. `diagnostics` grow as entries are
    read: local headers and checksums are looked at no earlier.
    """

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.entries: dict[str, Entry] = {}
        self.shadowed: dict[str, Entry] = {}
        self.diagnostics: list[Diagnostic] = []
        self._limits = limits
        self._counts: Counter[str] = Counter()
        self._seen: set[tuple[str, str]] = set()
        end = _find_end(source)
        directory, start = _read_directory(source, end)
        entries = self._parse(directory, start)
        if len(entries) & _MAGIC16 != end.total & _MAGIC16:
            self._note("ARC-COUNT", f"has {len(entries):,} entries but declares {end.total:,}")
        for entry in entries:
            hidden = self.entries.pop(entry.name, None)
            if hidden is not None:
                self.shadowed[entry.name] = hidden
            self.entries[entry.name] = entry
        if _overlap(entries):
            self._note("ARC-OVERLAP", "entries share compressed bytes", "none")

    def names(self) -> Iterator[str]:
        """Yields the names of all entries, each once, in the order of the central directory."""
        return iter(self.entries)

    def read(self, name: str) -> bytes:
        """Returns what the JVM reads of the entry `name`. Raises `EntryError`, and `KeyError` for no entry."""
        return self._content(self.entries[name], self._limits.entry_bytes)

    def read_whole(self, name: str) -> bytes:
        """Returns what a stream of the entry `name` gives, whatever size is declared. Raises as `read` does."""
        return self._content(self.entries[name], self._limits.entry_bytes, whole=True)

    def has_declared_size(self, name: str) -> bool:
        """Returns whether `java.util.jar` reads the manifest `name`.

        It throws if that is too long, or longer or shorter than it declares. Of a short one it reads no more.
        """
        entry = self.entries[name]
        if entry.size > _LONGEST:
            return False
        more = entry.size > _SHORT
        try:
            content, has_ended = self._bytes(entry, entry.size + more)
        except EntryError:
            return False
        return len(content) == entry.size and (has_ended or not more)

    def digest(self, salt: str) -> str:
        """Returns the hash of `salt` and the whole archive."""
        return sha256_of(self.source, salt=salt)

    def check(self) -> None:
        """Raises `Changed` if the file changed."""
        self.source.check()

    def drop(self) -> None:
        """Gives back the memory that can be had again."""
        self.source.drop()

    def nested(self, name: str, label: str) -> Source:
        """Returns the entry `name` as a source of bytes with a label of its own. Raises `EntryError`."""
        window = self._stored(name)
        if window is not None:
            return WindowSource(label, self.source, *window)
        entry, limit = self.entries[name], self._limits.nested_bytes
        return NestedSource(label, lambda: self._content(entry, limit), self.source)

    def report_shadowed(self, name: str) -> None:
        """Adds a diagnostic if `name` stands more than once in the archive."""
        hidden = self.shadowed.get(name)
        if hidden is None:
            return
        hashes = []
        for entry in (hidden, self.entries[name]):
            try:
                hashes.append(hashlib.sha256(self._content(entry, self._limits.entry_bytes)).hexdigest())
            except EntryError as problem:
                hashes.append(str(problem))
        text = f"is there more than once: the last counts, sha256 {hashes[1]}, not {hashes[0]}"
        self._note("ARC-DUP-ENTRY", text, "none" if hashes[0] == hashes[1] else "precision", name)

    def inflated_bound(self, names: Iterable[str], limit: int) -> int:
        """Returns how many bytes can come out of the entries `names`, if none is read further than `limit`.

        Raises `Refused` if that is over the limits.
        """
        limits, total, suspicious = self._limits, 0, 0
        for name in names:
            for entry in (self.entries[name], self.shadowed.get(name)):
                if entry is not None:
                    bound = min(entry.bound, limit + 1)
                    total += bound
                    if bound > limits.ratio_from and bound > limits.ratio * entry.compressed:
                        suspicious += bound
        if total > limits.inflated_per_archive or suspicious > limits.ratio_bytes:
            text = f"would inflate to {max(total, suspicious):,} bytes, more than the limit"
            raise refusal("ARC-BUDGET", text, self.source.label)
        return total

    def _stored(self, name: str) -> tuple[int, int] | None:
        """Returns offset and length in the file of the entry `name`, if it is there as it is."""
        entry = self.entries[name]
        if entry.method != STORED or entry.compressed != entry.size or name in self.shadowed:
            return None
        header = self.source.read(entry.offset, _LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(b"PK\3\4"):
            return None
        start = entry.offset + _LOCAL.size + sum(_LOCAL.unpack(header)[-2:])
        return (start, entry.size) if start + entry.size <= self.source.size else None

    def _parse(self, directory: bytes, start: int) -> list[Entry]:
        """Returns all entries of the central directory; `start` is where offsets count from."""
        entries: list[Entry] = []
        at, last = 0, len(directory) - _CENTRAL.size
        while at <= last:
            if len(entries) == self._limits.entries:
                text = f"has more than {self._limits.entries:,} entries, the limit"
                raise refusal("ARC-ENTRIES", text, self.source.label)
            header = _CENTRAL.unpack_from(directory, at)
            at += _CENTRAL.size
            following = at + header[10] + header[11] + header[12]
            if header[0] != b"PK\1\2" or following > len(directory):
                raise self._corrupt("a header of the central directory is malformed")
            name = self._name(directory[at : at + header[10]])
            extra = directory[at + header[10] : at + header[10] + header[11]]
            if header[3] & 1 or header[4] not in {STORED, DEFLATED}:
                raise self._unsupported(directory, header[3], header[4])
            entries.append(self._entry(name, header, extra, start))
            if _ODD_NAME.search(name):
                self._note("ARC-NAME", "has an unusual name", "none", name)
            if name.endswith(".class/"):
                self._note("ARC-DIRNAME", "ends like a directory but is a class to the JVM", "none", name)
            if header[15] >> 16 & 0xF000 == _SYMLINK and header[1] >> 8 == _UNIX:
                self._note("ARC-SYMLINK", "is a symbolic link, taken as data", "none", name)
            at = following
        if at != len(directory):
            raise self._corrupt("the central directory has bytes that are no header")
        return entries

    def _name(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            shown = raw.decode("utf-8", "backslashreplace")
            text = "the name of an entry is not UTF-8"
            raise refusal("ARC-NAME-ENC", text, self.source.label, shown) from None

    def _entry(self, name: str, header: tuple[int, ...], extra: bytes, start: int) -> Entry:
        compressed, size, offset = header[8], header[9], header[16]
        if extra:
            compressed, size, offset = self._zip64(header, extra)
        bound = min(compressed, max(self.source.size - abs(start + offset), 0))
        if header[4] == DEFLATED:
            bound *= _BEST_RATIO
        return Entry(name, start + offset, header[4], header[7], compressed, size, min(size, bound))

    def _zip64(self, header: tuple[int, ...], extra: bytes) -> tuple[int, int, int]:
        """Returns compressed size, size and offset, replaced from the zip64 field where they are all ones."""
        compressed, size, offset = header[8], header[9], header[16]
        at = 0
        while at + 4 <= len(extra):
            tag, length = struct.unpack_from("<HH", extra, at)
            at += 4
            if at + length > len(extra):
                raise self._corrupt("an extra field is longer than its entry")
            if tag == 1 and length:
                exact = 8 * (size, compressed, offset).count(_MAGIC32) + 4 * (header[13] == _MAGIC16)
                if length not in {8, 16, 24, 28, exact}:
                    raise self._corrupt("a zip64 field has the wrong size")
                values = struct.unpack_from(f"<{length // 8}q", extra, at)
                # The JVM looks at these places, whichever are replaced, and not at the offset: an entry that
                # lies outside the file can't be read, but the others can.
                negative = [value < 0 for value in (*values[:2], 0, 0)]
                if (size == _MAGIC32 and negative[0]) or (compressed == _MAGIC32 and negative[1]):
                    raise self._corrupt("a zip64 field is negative")
                left = iter(values)
                size, compressed, offset = (
                    next(left, value) if value == _MAGIC32 else value for value in (size, compressed, offset)
                )
                break
            at += length
        return max(compressed, 0), size, offset

    def _content(self, entry: Entry, limit: int, *, whole: bool = False) -> bytes:
        """Returns the first `size` bytes of `entry`, or all. Raises `EntryError` if that is more than `limit`."""
        content, _ = self._bytes(entry, limit + 1 if whole else min(_read_size(entry), limit + 1))
        if len(content) > limit:
            raise EntryError("ARC-ENTRY-SIZE", f"has more than {limit:,} bytes, the limit")
        if len(content) != entry.size:
            text = f"has {len(content):,} bytes but declares {entry.size:,}"
            effect = "precision" if len(content) < entry.size else "none"
            self._once("ARC-SIZE", text, effect, entry.name)
        elif zlib.crc32(content) != entry.checksum:
            self._once("ARC-CRC", "doesn't match its checksum, which the JVM ignores", "none", entry.name)
        return content

    def _bytes(self, entry: Entry, wanted: int) -> tuple[bytes, bool]:
        """Returns the first `wanted` bytes of `entry`, or fewer, and whether its end was reached if it is deflated.

        Raises `EntryError`.
        """
        if entry.method == STORED:
            return b"".join(self._compressed(entry, min(entry.compressed, wanted))), True
        return _inflate(_blocks(self._compressed(entry, entry.compressed), entry.size), wanted)

    def _compressed(self, entry: Entry, length: int) -> Iterator[bytes]:
        """Yields `length` compressed bytes of `entry` in pieces; the first read has the local header too."""
        if entry.offset < 0:
            text = "has a negative offset, and so no local header to the JVM"
            self._once("ARC-CORRUPT", text, "none", entry.name)
            yield from self._pieces(-entry.offset, length - entry.offset)
            return
        name = entry.name.encode()
        guess = _LOCAL.size + len(name) + 64 + length
        head = self.source.read(entry.offset, min(guess, MIB))
        if len(head) < _LOCAL.size or not head.startswith(b"PK\3\4"):
            raise EntryError("ARC-CORRUPT", "has no local header")
        name_length, extra_length = _LOCAL.unpack_from(head)[-2:]
        start = _LOCAL.size + name_length + extra_length
        local = self.source.read(entry.offset + _LOCAL.size, name_length)
        if local != name:
            shown = local.decode("utf-8", "backslashreplace")
            self._once("ARC-LOCNAME", f"is called {shown!r} in its local header", "none", entry.name)
        end = start + length
        yield head[start:end]
        yield from self._pieces(entry.offset + max(start, len(head)), entry.offset + end)

    def _pieces(self, start: int, end: int) -> Iterator[bytes]:
        """Yields the bytes of the file from `start` to `end`, or as far as there are any."""
        for at in range(start, end, MIB):
            piece = self.source.read(at, min(MIB, end - at))
            if not piece:
                return
            yield piece

    def _unsupported(self, directory: bytes, flags: int, method: int) -> Exception:
        what = "is encrypted" if flags & 1 else f"uses compression method {method}"
        names = list(_names(directory))
        listed = ", ".join(names[:10]) + (f" and {len(names) - 10:,} more" if len(names) > 10 else "")
        code = "ARC-ENCRYPTED" if flags & 1 else "ARC-METHOD"
        return refusal(
            code, f"an entry {what}, so the JVM refuses the archive, with {listed}", self.source.label
        )

    def _corrupt(self, text: str) -> Exception:
        return refusal("ARC-CORRUPT", text, self.source.label)

    def _note(self, code: str, text: str, effect: str = "none", entry: str = "") -> None:
        self._counts[code] += 1
        if self._counts[code] > _LISTED + 1:
            return
        if self._counts[code] > _LISTED:
            text, entry = "more entries like those before are not listed", ""
        self.diagnostics.append(Diagnostic(code, "warning", text, effect, self.source.label, entry))

    def _once(self, code: str, text: str, effect: str, entry: str) -> None:
        if (code, entry) not in self._seen:
            self._seen.add((code, entry))
            self._note(code, text, effect, entry)


def _find_end(source: Source) -> _End:
    """Returns the END record, looked for from the end of the file as the JVM does. Raises `Refused`."""
    if source.size == 0:
        raise refusal("ARC-EMPTY", "is empty", source.label)
    tail_start = max(0, source.size - _END_REACH - _BLOCK)
    tail = source.read(tail_start, source.size - tail_start)
    at = len(tail)
    while (at := tail.rfind(b"PK\5\6", 0, at)) >= 0:
        if at + _END.size <= len(tail):
            _, _, _, _, count, length, offset, comment = _END.unpack_from(tail, at)
            end = _End(tail_start + at, length, offset, count)
            if at + _END.size + comment == len(tail) or _leads_to_headers(source, end):
                return _find_end64(source, end)
    found = source.read(0, 4)
    hint = "; give the directory that holds its packages" if found == b"\xca\xfe\xba\xbe" else ""
    raise refusal("ARC-NOT-ZIP", f"is no zip archive, or is cut off{hint}", source.label)


def _leads_to_headers(source: Source, end: _End) -> bool:
    """Returns whether `end`, whose comment doesn't end with the file, leads to a central directory."""
    central = end.position - end.length
    local = central - end.offset
    return (
        min(central, local) >= 0
        and source.read(central, 4) == b"PK\1\2"
        and source.read(local, 4) == b"PK\3\4"
    )


def _find_end64(source: Source, end: _End) -> _End:
    """Returns what the zip64 END record says, if there is one that agrees with `end`."""
    raw = source.read(end.position - _END64_LOCATOR.size, _END64_LOCATOR.size)
    if len(raw) < _END64_LOCATOR.size or not raw.startswith(b"PK\6\7"):
        return end
    position = _END64_LOCATOR.unpack(raw)[2]
    raw = source.read(position, _END64.size)
    if len(raw) < _END64.size or not raw.startswith(b"PK\6\6"):
        return end
    count, length, offset = _END64.unpack(raw)[7:]
    agrees = (
        end.length in {length, _MAGIC32}
        and end.offset in {offset, _MAGIC32}
        and end.total in {count, _MAGIC16}
    )
    return _End(position, length, offset, count) if agrees else end


def _read_directory(source: Source, end: _End) -> tuple[bytes, int]:
    """Returns the central directory, and the position that offsets count from. Raises `Refused`."""
    if end.position == 0:
        return b"", 0
    central = end.position - end.length
    start = central - end.offset
    if end.length < 0 or central < 0 or start < 0:
        raise refusal("ARC-CORRUPT", "its END record points outside the file", source.label)
    return source.read(central, end.length), start


def _read_size(entry: Entry) -> int:
    """Returns how many bytes are read of `entry`: class loaders cast the size to a signed number of 32 bits.

    They take -1 for all there are, and define nothing for other negative numbers.
    """
    size = entry.size & _MAGIC32
    return size if size < _SIGN and entry.name.endswith((".class", ".class/")) else entry.size


def _blocks(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yields `chunks` as the JVM gives them to its inflater, which notices no error behind the last one it needs."""
    block = size + 2 if size + 2 <= _MAGIC16 + 1 else 8192
    for chunk in chunks:
        for at in range(0, len(chunk), block):
            yield chunk[at : at + block]


def _inflate(chunks: Iterable[bytes], wanted: int) -> tuple[bytes, bool]:
    """Returns the first `wanted` bytes of a deflated stream, or fewer, and whether its end was reached.

    Raises `EntryError`.
    """
    if wanted == 0:
        return b"", False
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    parts: list[bytes] = []
    missing = wanted
    try:
        # The JVM gives its inflater one zero after the end.
        for chunk in itertools.chain(chunks, (b"\0",)):
            part = inflater.decompress(chunk, missing)
            parts.append(part)
            missing -= len(part)
            if missing == 0 or inflater.eof:
                break
    except zlib.error as problem:
        raise EntryError("ARC-CORRUPT", f"can't be inflated: {problem}") from None
    return b"".join(parts), inflater.eof


def _overlap(entries: list[Entry]) -> bool:
    """Returns whether compressed bytes of two entries overlap. Directories without bytes don't count."""
    taken = 0
    for entry in sorted(entries, key=lambda each: abs(each.offset)):
        if abs(entry.offset) < taken:
            return True
        taken = abs(entry.offset) + (_LOCAL.size if entry.offset >= 0 else 0) + entry.compressed
    return False


def _names(directory: bytes) -> Iterator[str]:
    """Yields the names in a central directory as far as they can be read."""
    at = 0
    while at + _CENTRAL.size <= len(directory):
        header = _CENTRAL.unpack_from(directory, at)
        at += _CENTRAL.size
        yield directory[at : at + header[10]].decode("utf-8", "backslashreplace")
        at += header[10] + header[11] + header[12]
