"""Archives as units: what is declared, what is referred to, what is refused."""

import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from loader.manifest import Manifest
from loader.translate import translate
from loader.unit import CLASS, METHOD_HANDLE, METHOD_TYPE, NUMBER, RELATIONS, STRING, Unit
from tests.loader.rawclass import ABSTRACT, STATIC, RawClass, callee, codes, rows, text, type_name, unit_of

RETURN = b"\xb1"

needs_javac = pytest.mark.skipif(shutil.which("javac") is None, reason="needs javac on the path")

SOURCE = """
import java.util.function.Supplier;
public class Example extends Thread implements Runnable, java.io.Serializable {
    static final String NAME = "the name";
    static final int NUMBER = 7;
    Object kept;
    static void variable(Object... given) {}
    class Inner {
        Object outer() { return kept; }
    }
    Supplier<String> lambda(String captured) {
        return () -> captured + kept;
    }
    void literal() throws Exception {
        Class.forName("Example").getMethod("variable", Object[].class).invoke(null, new Object[] {"a", 1});
    }
    String loop(String[] all) {
        String longest = "";
        for (String each : all) {
            try {
                if (each.length() > longest.length()) longest = each;
            } catch (NullPointerException problem) {
                longest = problem.getMessage();
            } finally {
                kept = longest;
            }
        }
        return longest;
    }
    native void foreign();
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Unit:
    directory = tmp_path_factory.mktemp("example")
    (directory / "Example.java").write_text(SOURCE)
    options = ["-g:lines,source", "--release", "17", "-Xlint:none", "-d", str(directory)]
    subprocess.run(["javac", *options, str(directory / "Example.java")], check=True, timeout=300)
    files = sorted(Path(directory).glob("*.class"))
    return translate([(each.name, each.read_bytes()) for each in files], "example")


def method(unit: Unit, name: str) -> int:
    """Returns the row of the only method with this name."""
    names = [text(unit, unit.signature_name[each]) for each in unit.method_signature]
    assert names.count(name) == 1
    return names.index(name)


def calls(unit: Unit, name: str) -> list[str]:
    """Returns what a method calls."""
    return [callee(unit, row[2]) for row in rows(unit, "invoke", method(unit, name))]


@needs_javac
def test_classes_and_hierarchy(compiled: Unit) -> None:
    assert [type_name(compiled, each) for each in compiled.class_type] == ["Example$Inner", "Example"]
    assert [type_name(compiled, each) for each in compiled.class_super] == [
        "java/lang/Object",
        "java/lang/Thread",
    ]
    assert compiled.class_interfaces_at.tolist() == [0, 0, 2]
    interfaces = [type_name(compiled, each) for each in compiled.class_interfaces]
    assert interfaces == ["java/lang/Runnable", "java/io/Serializable"]
    assert compiled.class_version.tolist() == [61, 61]
    assert [text(compiled, each) for each in compiled.class_source] == ["Example.java"] * 2
    assert [text(compiled, each) for each in compiled.class_entry] == ["Example$Inner.class", "Example.class"]
    assert [type_name(compiled, each) if each >= 0 else None for each in compiled.class_host] == [
        "Example",
        None,
    ]
    for column in (compiled.class_declaring, compiled.class_enclosing):
        assert [type_name(compiled, each) if each >= 0 else None for each in column] == ["Example", None]
    assert compiled.class_members_at.tolist() == [0, 0, 1]
    assert compiled.class_members.tolist() == [compiled.class_type[0]]
    assert compiled.class_flags[1] & 1


@needs_javac
def test_members(compiled: Unit) -> None:
    start, end = compiled.class_fields_at[1:3]
    names = [text(compiled, each) for each in compiled.field_name[start:end]]
    assert names == ["NAME", "NUMBER", "kept"]
    assert [text(compiled, each) for each in compiled.field_descriptor[start:end]] == [
        "Ljava/lang/String;", "I", "Ljava/lang/Object;",
    ]  # fmt: skip
    constants = compiled.field_constant[start:end]
    assert text(compiled, constants[0]) == "the name"
    assert constants[1:].tolist() == [-1, -1]
    declared = {text(compiled, each) for each in np.flatnonzero(compiled.text_member)}
    assert declared >= {"kept", "lambda", "foreign", "outer", "<init>"}
    assert not declared & {"getMethod", "forName", "the name", "Example"}
    foreign = method(compiled, "foreign")
    assert (compiled.method_code[foreign], compiled.method_parameters[foreign]) == (0, 1)
    assert compiled.method_variables[foreign] == 3


@needs_javac
def test_each_text_and_reference_is_there_once(compiled: Unit) -> None:
    texts = [text(compiled, each) for each in range(len(compiled.text_member))]
    assert len(set(texts)) == len(texts)
    for columns in (
        (compiled.type_text,),
        (compiled.signature_name, compiled.signature_descriptor),
        (compiled.method_ref_type, compiled.method_ref_signature, compiled.method_ref_interface),
        (compiled.field_ref_type, compiled.field_ref_name, compiled.field_ref_descriptor),
    ):
        listed = list(zip(*(column.tolist() for column in columns), strict=True))
        assert len(set(listed)) == len(listed)


@needs_javac
def test_lambdas_have_their_bootstrap_method(compiled: Unit) -> None:
    ((_, bootstrap, signature, _, _),) = rows(compiled, "dynamic", method(compiled, "lambda"))
    assert text(compiled, compiled.signature_name[signature]) == "get"
    row = compiled.class_bootstraps_at[1] + bootstrap
    assert compiled.bootstrap_kind[row] == 6
    assert (
        callee(compiled, compiled.bootstrap_method[row]) == "java/lang/invoke/LambdaMetafactory.metafactory"
    )
    start, end = compiled.bootstrap_arguments_at[row : row + 2]
    assert compiled.bootstrap_argument_kind[start:end].tolist() == [METHOD_TYPE, METHOD_HANDLE, METHOD_TYPE]
    refs = compiled.bootstrap_argument_ref[start:end]
    assert text(compiled, refs[0]) == "()Ljava/lang/Object;"
    assert callee(compiled, compiled.handle_ref[refs[1]]) == "Example.lambda$lambda$0"
    assert len(rows(compiled, "dynamic_argument", method(compiled, "lambda"))) == 2


@needs_javac
def test_calls_and_arrays_of_arguments(compiled: Unit) -> None:
    assert calls(compiled, "literal") == [
        "java/lang/Class.forName", "java/lang/Class.getMethod", "java/lang/Integer.valueOf",
        "java/lang/reflect/Method.invoke",
    ]  # fmt: skip
    literal = method(compiled, "literal")
    exact = [
        (ordinal, position, length, index)
        for ordinal, position, length, index, _ in rows(compiled, "exact_argument", literal)
    ]
    assert exact == [(1, 2, 1, 0), (3, 2, 2, 0), (3, 2, 2, 1)]
    constants = rows(compiled, "constant", literal)
    assert {(kind, text(compiled, ref)) for _, kind, ref, _ in constants if kind == STRING} == {
        (STRING, "Example"), (STRING, "variable"), (STRING, "a"),
    }  # fmt: skip
    assert [type_name(compiled, ref) for _, kind, ref, _ in constants if kind == CLASS] == [
        "[Ljava/lang/Object;"
    ]


@needs_javac
def test_lines(compiled: Unit) -> None:
    loop = method(compiled, "loop")
    start, end = compiled.method_lines_at[loop : loop + 2]
    offsets = compiled.line_offset[start:end]
    assert (np.diff(offsets) > 0).all()
    source = SOURCE.splitlines()
    assert 'longest = ""' in source[compiled.line_number[start] - 1]
    for offset, _, ref, _, _ in rows(compiled, "invoke", loop):
        line = compiled.line_number[start + np.searchsorted(offsets, offset, "right") - 1]
        assert callee(compiled, ref).split(".")[1] in source[line - 1]


@needs_javac
def test_ids_and_offsets_are_in_range(compiled: Unit) -> None:
    methods = len(compiled.method_flags)
    sizes = {
        "type_ref": len(compiled.type_text),
        "field_ref": len(compiled.field_ref_type),
        "method_ref": len(compiled.method_ref_type),
        "signature": len(compiled.signature_name),
    }
    for name, names in RELATIONS.items():
        at = compiled.body_at[name]
        assert (len(at), at[0]) == (methods + 1, 0)
        owner = np.repeat(np.arange(methods), np.diff(at))
        assert tuple(compiled.body[name]) == names
        for column, values in compiled.body[name].items():
            assert values.dtype == np.int32
            assert len(values) == at[-1]
            assert (values < sizes.get(column, 1 << 30)).all()
            if column in {"source", "target", "base", "variable", "result", "thrown"}:
                assert (values < compiled.method_variables[owner]).all()
                optional = column == "result" or name in {"static_load", "static_store", "exact_argument"}
                assert (values >= (-1 if optional else 0)).all()


def test_the_wrong_name_is_read_and_reported() -> None:
    unit = translate([("a/Other.class", RawClass(name="a/T").encoded())], "x")
    assert codes(unit) == ["CLS-WRONG-NAME"]
    assert (unit.diagnostics[0].archive, unit.diagnostics[0].entry) == ("x", "a/Other.class")
    assert [type_name(unit, each) for each in unit.class_type] == ["a/T"]


def test_a_class_under_its_own_name_comes_before_one_under_another() -> None:
    first, second = RawClass(), RawClass(major=50)
    unit = translate([("x/T.class", first.encoded()), ("T.class", second.encoded())], "x")
    assert unit.class_version.tolist() == [50]
    assert codes(unit) == ["CLS-WRONG-NAME"]


def test_names_are_kept_exactly() -> None:
    for name in ("a`b", "x') DETACH DELETE n //", "\u202eabc", "\U0001f600", "a b", "\udc00"):
        raw = RawClass()
        encoded = "".join(name).encode("utf-16-be", "surrogatepass")
        units = [encoded[at : at + 2] for at in range(0, len(encoded), 2)]
        modified = "".join(chr(int.from_bytes(unit, "big")) for unit in units).encode(
            "utf-8", "surrogatepass"
        )
        raw.fields.append(struct.pack(">HHHH", 0, raw.pool.utf8(modified), raw.pool.utf8("I"), 0))
        unit = unit_of(raw)
        assert [text(unit, each) for each in unit.field_name] == [name]


def test_an_entry_name_beyond_ascii() -> None:
    raw = RawClass(name="\u00e4")
    unit = translate([("\u00e4.class", raw.encoded())], "x")
    assert (codes(unit), text(unit, unit.class_entry[0])) == ([], "\u00e4.class")


def test_module_declarations_are_no_classes() -> None:
    module = RawClass(name="module-info", flags=0x8000)
    assert len(translate([("module-info.class", module.encoded())], "x").class_type) == 0
    odd = module.method(RETURN)
    assert codes(translate([("module-info.class", odd.encoded())], "x")) == ["CLS-MODULE"]


MODULE = """
module a.module {
    requires java.logging;
    exports shown;
    exports some.parts to java.logging;
    opens open.wide;
    opens half.open to java.logging;
    uses java.util.function.Supplier;
    provides java.util.function.Supplier with shown.Supplying;
}
"""


@needs_javac
def test_packages_are_exported_and_opened_by_module_and_manifest(tmp_path: Path) -> None:
    (tmp_path / "module-info.java").write_text(MODULE)
    for package in ("shown", "some.parts", "open.wide", "half.open"):
        folder = tmp_path / package.replace(".", "/")
        folder.mkdir(parents=True)
        get = "implements java.util.function.Supplier<String> { public String get() { return null; } }"
        (folder / "Supplying.java").write_text(f"package {package}; public class Supplying {get}")
    sources = [str(each) for each in tmp_path.rglob("*.java")]
    subprocess.run(["javac", "-d", str(tmp_path / "out"), *sources], check=True)
    declared = (tmp_path / "out" / "module-info.class").read_bytes()
    started = Manifest({"add-opens": "java.base/java.lang  java.base/sun.nio.ch", "Add-Exports": "x/y odd"})
    unit = translate([("module-info.class", declared)], "x", manifest=started)
    packages = [text(unit, each) for each in unit.package_name]
    assert list(zip(packages, unit.package_opened.tolist(), strict=True)) == [
        ("y", 0), ("java/lang", 1), ("sun/nio/ch", 1), ("shown", 0), ("open/wide", 1),
    ]  # fmt: skip
    assert [type_name(unit, each) for each in unit.service_provider] == ["shown/Supplying"]


def test_an_initialiser_of_an_old_class_is_static() -> None:
    old = unit_of(RawClass(major=50).method(RETURN, name="<clinit>", flags=0))
    new = unit_of(RawClass(major=51).method(RETURN, name="<clinit>", flags=0))
    assert [old.method_flags.tolist(), new.method_flags.tolist()] == [[STATIC], [0]]
    assert [old.method_parameters.tolist(), new.method_parameters.tolist()] == [[0], [1]]


def test_constants_among_bootstrap_arguments() -> None:
    raw = RawClass()
    pool = raw.pool
    handle = pool.handle(6, pool.method("b/C", "link", "()V"))
    arguments = [pool.integer(-5), pool.long(1), pool.string("s"), pool.type("a/B")]
    table = struct.pack(">HHH4H", 1, handle, 4, *arguments)
    unit = unit_of(RawClass(pool=pool, attributes=[("BootstrapMethods", table)]))
    assert unit.bootstrap_argument_kind.tolist() == [NUMBER, NUMBER, STRING, CLASS]
    assert unit.bootstrap_argument_ref[:2].tolist() == [-5, -1]


def test_odd_bootstrap_methods() -> None:
    raw = RawClass()
    field = raw.pool.handle(1, raw.pool.field("b/C", "f", "I"))
    raw.attributes.append(("BootstrapMethods", struct.pack(">HHH", 1, field, 0)))
    unit = unit_of(raw)
    assert (codes(unit), unit.bootstrap_method.tolist()) == (["CLS-INDY"], [-1])
    cut = RawClass(attributes=[("BootstrapMethods", struct.pack(">HH", 1, 1))])
    assert codes(unit_of(cut)) == ["CLS-INDY"]


def test_dynamic_constants_that_need_each_other() -> None:
    raw = RawClass()
    pool = raw.pool
    handle = pool.handle(6, pool.method("b/C", "link", "()V"))
    first, second = pool.dynamic(17, 0, "x", "I"), pool.dynamic(17, 1, "x", "I")
    table = struct.pack(">HHHHHHH", 2, handle, 1, second, handle, 1, first)
    raw.attributes.append(("BootstrapMethods", table))
    assert codes(unit_of(raw)) == ["CLS-CP-CYCLE"]


def test_c07_a_method_handle_that_names_itself() -> None:
    raw = RawClass()
    index = raw.pool.size
    raw.pool.put(struct.pack(">BBH", 15, 6, index))
    assert codes(unit_of(raw.method(b"\x12" + bytes([index]) + b"\x57\xb1"))) == ["CLS-CP-CYCLE"]


@pytest.mark.parametrize("is_argument", [False, True])
def test_c07_a_bootstrap_method_of_a_method_handle_that_names_itself(is_argument: bool) -> None:
    raw = RawClass()
    handle, circular = raw.pool.handle(6, raw.pool.method("b/C", "link", "()V")), raw.pool.size
    raw.pool.put(struct.pack(">BBH", 15, 6, circular))
    listed = (handle, 1, circular) if is_argument else (circular, 1, handle)
    raw.attributes.append(("BootstrapMethods", struct.pack(">HHHH", 1, *listed)))
    unit = unit_of(raw)
    assert (codes(unit), unit.bootstrap_method.tolist()) == (["CLS-CP-CYCLE"], [-1])


def test_progress_counts_class_files() -> None:
    seen: list[int] = []
    classes = [(f"T{number}.class", RawClass(name=f"T{number}").encoded()) for number in range(150)]
    translate(classes, "x", seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 150


def test_no_classes_are_a_unit_too() -> None:
    unit = translate([], "x")
    assert len(unit.class_type) == 0
    assert all(at.tolist() == [0] for at in unit.body_at.values())


def test_interfaces_without_bodies() -> None:
    raw = RawClass(flags=0x601)
    raw.methods.append(raw.member(ABSTRACT | 1, "m", "(La;J)La;"))
    unit = unit_of(raw)
    assert (unit.method_code.tolist(), unit.method_parameters.tolist()) == ([0], [3])


def test_many_bodies_keep_their_order() -> None:
    raw = RawClass()
    for number in range(5000):
        raw.method(
            b"\x11" + struct.pack(">h", number) + b"\x57" + b"\x2a\xb0" * (number % 2) + RETURN,
            "(La;)La;",
            name=f"m{number}",
        )
    unit = unit_of(raw)
    assert [len(rows(unit, "assign", method)) for method in range(5000)] == [
        number % 2 for number in range(5000)
    ]
