"""Names as people read them, and text from archives made safe for terminals and spreadsheets."""

from __future__ import annotations

import fnmatch
import re
import unicodedata

_PRIMITIVES = {
    "B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short",
    "V": "void", "Z": "boolean",
}  # fmt: skip
# Control and format characters (the latter hold those that turn the direction of text), surrogates, line and
# paragraph separators.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_PLAIN = re.compile(r"[\x20-\x7e]*")
_DESCRIPTOR = re.compile(r"\[*+(?:L[^;]+;|[BCDFIJSZV])")


def shown(text: str) -> str:
    r"""Returns `text` with what could control a terminal or turn the direction of text as visible escapes.

    >>> shown("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_escape(each) if unicodedata.category(each) in _UNSAFE else each for each in text)


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quoted(text: str, width: int = 60) -> str:
    """Returns a string constant in quotes, shortened and escaped.

    >>> quoted("abc")
    '"abc"'
    """
    cut = text if len(text) <= width else text[: width - 1] + "…"
    return '"' + shown(cut) + '"'


def spreadsheet_cell(text: str) -> str:
    """Returns `text` so that a spreadsheet takes it for text, not for a formula.

    >>> spreadsheet_cell("=1+1"), spreadsheet_cell("a.b")
    ("'=1+1", 'a.b')
    """
    safe = shown(text)
    return "'" + safe if safe[:1] in ("=", "+", "-", "@") else safe


def pattern_of(wanted: str) -> re.Pattern[str]:
    """Returns the expression of names written with `*` for any text and `?` for any character.

    >>> bool(pattern_of("a.*.m([I*").match("a.B.m([I)V"))
    True
    """
    # Unlike `.*`, what this makes of several stars takes time in proportion to the name.
    return re.compile(fnmatch.translate(wanted.replace("[", "[[]")))


def class_name(internal: str) -> str:
    """Returns the name of a type in Java's notation, `$` of nested classes kept.

    >>> class_name("java/lang/String"), class_name("[[I")
    ('java.lang.String', 'int[][]')
    """
    if not internal.startswith("["):
        return internal.replace("/", ".")
    element = internal.lstrip("[")
    name = _PRIMITIVES.get(element) or element.removeprefix("L").removesuffix(";").replace("/", ".")
    return name + "[]" * (len(internal) - len(element))


def short_name(qualified: str) -> str:
    """Returns a method by its class and name.

    >>> short_name("java.lang.Class.forName")
    'Class.forName'
    """
    return ".".join(qualified.rsplit(".", 2)[-2:])


def parameter_descriptors(descriptor: str) -> list[str]:
    """Returns the descriptors of the parameters.

    >>> parameter_descriptors("(I[JLjava/lang/String;)V")
    ['I', '[J', 'Ljava/lang/String;']
    """
    found = []
    place, end = 1, descriptor.rfind(")")
    # (and no further than where it is no descriptor: to look for the next one could take very long)
    while match := _DESCRIPTOR.match(descriptor, place, end):
        found.append(match[0])
        place = match.end()
    return found


def return_descriptor(descriptor: str) -> str:
    """Returns the descriptor of what a method returns.

    >>> return_descriptor("(I)V")
    'V'
    """
    return descriptor[descriptor.rfind(")") + 1 :]


def type_of_descriptor(descriptor: str) -> str:
    """Returns a descriptor's type in Java's notation.

    >>> type_of_descriptor("[Ljava/lang/String;")
    'java.lang.String[]'
    """
    return class_name(descriptor if descriptor.startswith("[") else "[" + descriptor).removesuffix(
        "" if descriptor.startswith("[") else "[]"
    )


def bytes_text(count: int) -> str:
    """Returns a size for people.

    >>> bytes_text(1_500_000_000)
    '1.5 GB'
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def bytes_of(text: str) -> int:
    """Returns the number of bytes that a size such as `4g`, `512MB` or `1000` says. Raises ValueError.

    >>> bytes_of("2g"), bytes_of("512MB")
    (2147483648, 536870912)
    """
    found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([kmgt]?)i?b?\s*", text, re.IGNORECASE)
    if not found:
        raise ValueError(text)
    return int(float(found[1]) * 1024 ** ("kmgt".find(found[2].lower()) + 1 if found[2] else 0))
