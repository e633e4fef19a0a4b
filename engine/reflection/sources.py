"""Where values come from that no analysis of the program can know, as a table.

A call of such a method ends the chain of an explanation, although the method's body is analysed: what it
returns is decided outside the program, or by operations on strings that are not followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cypher.program import STRING_CONCAT

# What the JVM calls `main` with, or an unknown caller an entry; the kinds of source that calls are of follow.
ARGUMENT = "argument"
PROPERTY, ENVIRONMENT, FILE, STREAM, SOCKET, RESOURCE, DATABASE, REQUEST, NATIVE, COMPUTED, NAME = (
    "system property", "environment", "file", "stream", "socket", "resource", "database", "request", "native code",
    "computed string", "name of a program element",
)  # fmt: skip


class Source(NamedTuple):
    """Calls of `name` in `owner` return values of this kind; argument `key` (-1: none) says which one."""

    kind: str
    owner: str
    name: str
    key: int = -1


def _each(kind: str, owner: str, names: str, key: int = -1) -> Iterator[Source]:
    return (Source(kind, owner, name, key) for name in names.split())


_STRINGS = (
    "substring concat replace replaceAll replaceFirst trim strip stripLeading stripTrailing toLowerCase toUpperCase "
    "split join format formatted valueOf copyValueOf repeat indent translateEscapes stripIndent subSequence"
)
SOURCES: tuple[Source, ...] = (
    *_each(PROPERTY, "java/lang/System", "getProperty", 0),
    *_each(PROPERTY, "sun/security/action/GetPropertyAction", "privilegedGetProperty run", 0),
    *_each(PROPERTY, "java/lang/System", "getProperties"),
    *_each(PROPERTY, "jdk/internal/misc/VM", "getSavedProperty", 0),
    *_each(ENVIRONMENT, "java/lang/System", "getenv", 0),
    *_each(ENVIRONMENT, "java/lang/ProcessEnvironment", "getenv", 0),
    *_each(RESOURCE, "java/util/Properties", "getProperty", 1),
    *_each(RESOURCE, "java/util/ResourceBundle", "getString getObject getStringArray", 1),
    *_each(RESOURCE, "java/util/jar/Attributes", "getValue", 1),
    *_each(RESOURCE, "java/util/prefs/Preferences", "get", 1),
    *_each(FILE, "java/nio/file/Files", "readString readAllLines readAllBytes lines list walk readSymbolicLink"),
    *_each(FILE, "java/io/File", "list listFiles getName getPath getAbsolutePath getCanonicalPath toString"),
    *_each(FILE, "java/io/RandomAccessFile", "readLine readUTF"),
    *_each(FILE, "java/util/zip/ZipEntry", "getName"),
    *_each(STREAM, "java/io/BufferedReader", "readLine lines"),
    *_each(STREAM, "java/io/LineNumberReader", "readLine"),
    *_each(STREAM, "java/io/DataInputStream", "readLine readUTF"),
    *_each(STREAM, "java/io/DataInput", "readLine readUTF"),
    *_each(STREAM, "java/io/ObjectInputStream", "readObject readUnshared readUTF readLine"),
    *_each(STREAM, "java/io/ObjectInput", "readObject readUTF readLine"),
    *_each(STREAM, "java/io/Console", "readLine readPassword"),
    *_each(STREAM, "java/io/StreamTokenizer", "toString"),
    *_each(STREAM, "java/util/Scanner", "next nextLine findInLine findWithinHorizon"),
    *_each(SOCKET, "java/net/URL", "getPath getFile getQuery getHost toString toExternalForm getContent"),
    *_each(SOCKET, "java/net/URLConnection", "getHeaderField getContentType getContent"),
    *_each(SOCKET, "java/net/InetAddress", "getHostName getCanonicalHostName getHostAddress"),
    *_each(DATABASE, "java/sql/ResultSet", "getString getObject"),
    *(
        source
        for package in ("javax", "jakarta")
        for owner in ("ServletRequest", "http/HttpServletRequest", "ServletContext", "ServletConfig")
        for source in _each(
            REQUEST, f"{package}/servlet/{owner}", "getParameter getHeader getInitParameter getQueryString", 1
        )
    ),
    *_each(COMPUTED, "java/lang/String", _STRINGS),
    *_each(COMPUTED, "java/lang/String", "<init>"),
    *_each(COMPUTED, "java/lang/StringBuilder", "toString substring subSequence"),
    *_each(COMPUTED, "java/lang/StringBuffer", "toString substring subSequence"),
    *_each(COMPUTED, "java/util/StringJoiner", "toString"),
    *_each(COMPUTED, "java/io/StringWriter", "toString"),
    *_each(COMPUTED, "java/io/CharArrayWriter", "toString"),
    *_each(COMPUTED, "java/io/ByteArrayOutputStream", "toString"),
    *_each(COMPUTED, "java/util/StringTokenizer", "nextToken nextElement"),
    *_each(COMPUTED, "java/util/regex/Matcher", "group replaceAll replaceFirst"),
    *_each(COMPUTED, "java/text/MessageFormat", "format"),
    *_each(COMPUTED, "java/text/Format", "format"),
    *_each(COMPUTED, "java/net/URLDecoder", "decode"),
    *(
        source
        for owner in ("Integer", "Long", "Short", "Byte", "Character", "Boolean", "Float", "Double")
        for source in _each(COMPUTED, f"java/lang/{owner}", "toString toHexString toOctalString")
    ),
    *_each(NAME, "java/lang/Class", "getName getSimpleName getTypeName getCanonicalName getPackageName toString"),
    *_each(NAME, "java/lang/Package", "getName"),
    *_each(NAME, "java/lang/Thread", "getName"),
    *_each(NAME, "java/lang/StackTraceElement", "getClassName getMethodName getModuleName getFileName toString"),
    *_each(NAME, "java/lang/StackWalker$StackFrame", "getClassName getMethodName getFileName"),
    *(
        source
        for owner in ("Method", "Field", "Constructor", "Member")
        for source in _each(NAME, f"java/lang/reflect/{owner}", "getName toString toGenericString")
    ),
)  # fmt: skip
# What instructions that concatenate strings return.
CONCATENATION = Source(COMPUTED, STRING_CONCAT, "makeConcatWithConstants")


def sources_by_method() -> dict[tuple[str, str], Source]:
    """Returns the table by (owner, name)."""
    return {(each.owner, each.name): each for each in SOURCES}
