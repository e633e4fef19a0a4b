"""Published jars of many kinds are read whole, every method linked; what is reported of them is true and no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from cypher.program import JDK
from cypher.schema import Diagnostic, Invoke
from loader.archives import Archive, open_inputs
from loader.link import LinkedProgram, link
from loader.translate import translate
from loader.unit import Unit
from tests.benchmarks.workloads import Unavailable, fetch_jars, jar_name
from tests.loader.library import library
from tests.loader.reading import calls

pytestmark = pytest.mark.slow

# The release that multi-release jars are read for, whatever the JDK.
RELEASE = 17
_BATCH = 2000


class Whole(NamedTuple):
    """A jar with what it needs and the JDK, after the facts of all its methods were asked for."""

    archive: Archive
    unit: Unit
    program: LinkedProgram
    diagnostics: Sequence[Diagnostic]
    jdk: int

    @property
    def codes(self) -> set[str]:
        """The codes of all diagnostics."""
        return {each.code for each in self.diagnostics}

    @property
    def names(self) -> list[str]:
        """The names of its types."""
        return [self.program.name_of_type(each) for each in self.types]

    @property
    def types(self) -> list[int]:
        """The types that the jar defines."""
        return [self.program.type_named(each.removesuffix(".class")) for each in _entries(self.archive)]

    def versions(self) -> set[int]:
        """Returns the versions of its class files."""
        return set(self.unit.class_version.tolist())


def jars(coordinates: str) -> tuple[str, list[str]]:
    """Returns the jar of an artifact, and the jars that it needs."""
    try:
        found = fetch_jars((coordinates,))
    except Unavailable as missing:
        pytest.skip(str(missing))
    (own,) = (each for each in found if each.name == jar_name(coordinates))
    return str(own), [str(each) for each in found if each != own]


def _entries(archive: Archive) -> list[str]:
    return [each for each in archive.class_names() if not each.endswith("module-info.class")]


def whole(coordinates: str) -> Whole:
    """Returns a jar read whole. Asserts what holds for every sound jar."""
    own, needed = jars(coordinates)
    version, jdk = library()
    inputs = open_inputs([own], needed, release=RELEASE)
    translated = [translate(each.classes(), each.label, services=each.services()) for each in inputs.archives]
    roles = ((each.role, each.label) for each in inputs.archives)
    program = link([*jdk, *((unit, *role) for unit, role in zip(translated, roles, strict=True))])
    archive, unit = inputs.archives[0], translated[0]
    found = [*inputs.diagnostics, *(each for one in inputs.archives for each in one.diagnostics)]
    found += [each for one in translated for each in one.diagnostics]
    types = [program.type_named(each.removesuffix(".class")) for each in _entries(archive)]
    assert -1 not in types
    assert len(types) == len(unit.class_type)
    assert 2 not in unit.method_code, "a method body was given up"
    _assert_calls_resolve(program, [each for type_ in types for each in program.methods_of(type_)])
    found += program.diagnostics
    assert [each for each in found if each.severity == "error"] == []
    return Whole(archive, unit, program, found, version)


def _assert_calls_resolve(program: LinkedProgram, methods: Sequence[int]) -> None:
    """Asserts that calls resolve, unless a supertype is missing, or the JDK in use lacks what another one has."""
    for at in range(0, len(methods), _BATCH):
        batch = np.array(methods[at : at + _BATCH], np.int32)
        rows = program.facts_of(batch, np.zeros(len(batch), np.int32), 0)[Invoke]
        for type_ in set(rows.declared[rows.callee < 0].tolist()):
            above = any(program.is_missing(each) for each in program.supertypes_of(type_))
            assert above or program.flags_of_type(type_) & JDK, program.name_of_type(type_)


def test_tiny() -> None:
    found = whole("com.google.guava:failureaccess:1.0.2")
    assert found.codes == set()
    access = "com/google/common/util/concurrent/internal/InternalFuture"
    assert sorted(found.names) == [f"{access}FailureAccess", f"{access}s"]
    named = "tryInternalFastPathGetFailure"
    caller = f"{access}s.{named}(L{access}FailureAccess;)Ljava/lang/Throwable;"
    assert [kind for kind, _ in calls(found.program, caller)] == ["VIRTUAL"]


def test_java_1_1() -> None:
    found = whole("gnu-regexp:gnu-regexp:1.1.4")
    assert found.codes == set()
    assert found.versions() == {45}
    match, token = "(Lgnu/regexp/CharIndexed;Lgnu/regexp/REMatch;)Z", "gnu/regexp/REToken"
    clone = ("VIRTUAL", "gnu/regexp/REMatch.clone()Ljava/lang/Object;")
    assert calls(found.program, f"{token}LookAhead.match{match}") == [
        clone, clone, ("VIRTUAL", f"{token}.match{match}"), ("VIRTUAL", f"{token}.next{match}"),
        ("VIRTUAL", "gnu/regexp/REMatch.assignFrom(Lgnu/regexp/REMatch;)V"), ("VIRTUAL", f"{token}.next{match}"),
    ]  # fmt: skip


def test_obfuscated() -> None:
    found = whole("com.amap.api:location:6.5.1")
    # It is for Android, whose library isn't there.
    assert found.codes == {"HIE-PHANTOM"}
    (missing,) = found.diagnostics
    assert "android.os.Parcelable" in missing.text
    short = [each for each in found.names if len(each.rpartition("/")[2].partition("$")[0]) <= 2]
    assert len(short) > 0.8 * len(found.names)


def test_desugared() -> None:
    found = whole("net.sourceforge.streamsupport:streamsupport:1.7.4")
    assert found.codes == set()
    assert len(found.unit.bootstrap_kind) == 0
    assert sum("$$Lambda$" in each for each in found.names) > 200
    assert calls(found.program, "java8/util/Spliterators$OfInt$$Lambda$1.accept(I)V") == [
        ("STATIC", "java/lang/Integer.valueOf(I)Ljava/lang/Integer;"),
        ("VIRTUAL", "java8/util/function/Consumer.accept(Ljava/lang/Object;)V"),
    ]  # fmt: skip


def test_shaded() -> None:
    found = whole("io.grpc:grpc-netty-shaded:1.64.0")
    # Of what Netty may use, most isn't there.
    assert found.codes == {"HIE-PHANTOM"}
    (missing,) = found.diagnostics
    assert all(each.startswith("io/grpc/netty/shaded/io/") for each in found.names)
    assert " io.netty." not in missing.text
    assert " io.grpc." not in missing.text


def test_signed() -> None:
    found = whole("org.bouncycastle:bcprov-jdk18on:1.78.1")
    assert found.codes == {"ARC-RELEASE", "ARC-SIGNED"}
    assert "META-INF/BC2048KE.SF" in found.archive.resources()
    assert not any(each.startswith("META-INF") for each in found.names)
    assert found.versions() == {52, 53, 55, 59}


def test_instrumented() -> None:
    found = whole("com.jcabi:jcabi-aspects:0.24.1")
    assert found.codes == set()
    logger = "com/jcabi/aspects/aj/MethodLogger"
    assert calls(found.program, f"{logger}.<clinit>") == [
        ("STATIC", f"{logger}.ajc$preClinit"), ("STATIC", f"{logger}.ajc$postClinit"),
    ]  # fmt: skip


def test_features_of_jdk_21() -> None:
    found = whole("io.trino:trino-spi:440")
    # An older JDK lacks MatchException and methods that are called, and its JVM would run none of this.
    assert found.codes == (set() if found.jdk >= 21 else {"CLS-NEWER", "HIE-PHANTOM"})
    assert found.versions() == {65}
    # What a record and a switch over types link to is known.
    reference = "io/trino/spi/eventlistener/RowFilterReferenceInfo"
    ((kind, callee),) = calls(found.program, f"{reference}.toString()Ljava/lang/String;")
    assert kind == "STATIC"
    assert callee.startswith(f"{reference}$$ObjectMethods")
    switch = "io/trino/spi/block/LazyBlock$LazyData.addListenersRecursive(Lio/trino/spi/block/Block;Ljava/util/List;)V"
    called = [callee for _, callee in calls(found.program, switch)]
    assert switch in called
    assert not any("Linked@" in each for each in called)


@pytest.mark.parametrize(
    ("release", "version", "ignored"), [(8, 52, 8), (11, 55, 4), (17, 61, 2), (21, 65, 0)]
)
def test_multi_release(release: int, version: int, ignored: int) -> None:
    own, needed = jars("com.fasterxml.jackson.core:jackson-core:2.17.2")
    assert needed == []
    inputs = open_inputs([own], [], release=release)
    (archive,) = inputs.archives
    name = "com/fasterxml/jackson/core/io/doubleparser/FastDoubleSwar.class"
    content = archive.read(name)
    assert content is not None
    assert int.from_bytes(content[6:8], "big") == version
    unit = translate(archive.classes(), archive.label)
    assert version in unit.class_version
    assert [each.text.split()[0] for each in inputs.diagnostics] == ([str(ignored)] if ignored else [])
    assert archive.diagnostics + unit.diagnostics == []
