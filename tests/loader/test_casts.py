"""Casts that all ways from a reflective call lead to."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from loader.translate import translate
from loader.unit import Unit
from tests.fixture_assembler import assemble
from tests.loader.rawclass import rows, text, type_name

# Behind the head of each method stands what its calls return: `A B` if it is cast to both, `A, -` for two calls, of
# which the second has no cast.
SOURCE = """
import java.lang.reflect.*;
import java.util.function.Supplier;
@SuppressWarnings({"unchecked", "deprecation"})
class Casts {
    interface A {}
    interface B {}
    static class Both implements A, B {}
    static boolean yes;
    static Object kept;
    static Class<?> c;
    static void risk() {}
    static <T> T given(T each) { return each; }

    static A straight() throws Exception { // A
        return (A) c.newInstance();
    }
    static void byConstructor(Constructor<?> made, Method called, Field read) throws Exception { // A, B, Both
        A a = (A) made.newInstance();
        B b = (B) called.invoke(null);
        Both both = (Both) read.get(null);
    }
    static void notReflective(Supplier<Object> supplier) throws Exception { //
        A a = (A) supplier.get();
        B b = (B) Class.forName("x").getField("y").getType().getEnclosingMethod().getDefaultValue();
    }
    static Object never() throws Exception { // -
        return c.newInstance();
    }
    static Object lost() throws Exception { // -
        c.newInstance();
        return (A) kept;
    }
    static Object onBothBranches() throws Exception { // A
        Object o = c.newInstance();
        return yes ? given((A) o) : (A) o;
    }
    static Object differentBranches() throws Exception { // -
        Object o = c.newInstance();
        return yes ? given((A) o) : (B) o;
    }
    static Object onOneBranch() throws Exception { // -
        Object o = c.newInstance();
        return yes ? (A) o : o;
    }
    static A afterTest() throws Exception { // -
        Object o = c.newInstance();
        return o instanceof A ? (A) o : null;
    }
    static A refusedByHand() throws Exception { // A
        Object o = c.newInstance();
        if (!(o instanceof A)) throw new IllegalStateException();
        return (A) o;
    }
    static A inHandlersSight() throws Exception { // -
        Object o = c.newInstance();
        try {
            risk();
        } catch (RuntimeException problem) {
            return null;
        }
        return (A) o;
    }
    static A handlerGoesOnToTheCast() throws Exception { // A
        Object o = c.newInstance();
        try {
            risk();
        } catch (RuntimeException problem) {
            risk();
        }
        return (A) o;
    }
    static A handlerThatReturns() { // A
        try {
            return (A) c.newInstance();
        } catch (Exception problem) {
            return null;
        }
    }
    static A handlerThatReturnsAfterRisk() { // -
        try {
            Object o = c.newInstance();
            risk();
            return (A) o;
        } catch (Exception problem) {
            return null;
        }
    }
    static A divisionInHandlersSight(int by) throws Exception { // -
        Object o = c.newInstance();
        try {
            int each = 1 / by;
        } catch (ArithmeticException problem) {
            return null;
        }
        return (A) o;
    }
    static A handlerThatRethrows() { // A
        try {
            Object o = c.newInstance();
            risk();
            return (A) o;
        } catch (Exception problem) {
            throw new RuntimeException(problem);
        }
    }
    static A atLast() throws Exception { // A
        try {
            Object o = c.newInstance();
            risk();
            return (A) o;
        } finally {
            risk();
        }
    }
    static A locked() throws Exception { // A
        synchronized (c) {
            Object o = c.newInstance();
            risk();
            return (A) o;
        }
    }
    static A afterALock() throws Exception { // A
        Object o;
        synchronized (c) {
            o = c.newInstance();
        }
        return (A) o;
    }
    static A failureExpected() throws Exception { // -
        try {
            return (A) c.newInstance();
        } catch (ClassCastException problem) {
            return null;
        }
    }
    static A failureExpectedAndReported() throws Exception { // A
        try {
            return (A) c.newInstance();
        } catch (ClassCastException problem) {
            throw new IllegalStateException(problem);
        }
    }
    static int number() throws Exception { // -
        Object o = c.newInstance();
        if (yes) return 1;
        A a = (A) o;
        return 2;
    }
    static A inTheFifthSlot(int[] numbers, int first, int second, int third) throws Exception { // A
        Object o = c.newInstance();
        numbers[first] = 1;
        return (A) o;
    }
    static A otherFailureExpected() throws Exception { // A
        try {
            return (A) c.newInstance();
        } catch (ArithmeticException problem) {
            return null;
        }
    }
    static A secondTry() throws Exception { // B, A
        Object o;
        try {
            return (A) (B) c.newInstance();
        } catch (IllegalStateException problem) {
            o = c.newInstance();
        }
        return (A) o;
    }
    static A anotherVariable() throws Exception { // -
        Object o = c.newInstance(), other = kept;
        risk();
        return (A) other;
    }
    static A throughVariables() throws Exception { // A
        Object o = c.newInstance(), other = o;
        o = kept;
        return (A) other;
    }
    static A assignedBefore() throws Exception { // A
        Object o = kept;
        if (yes) o = c.newInstance();
        return (A) o;
    }
    static A assignedAfter() throws Exception { // -
        Object o = c.newInstance();
        if (yes) o = kept;
        return (A) o;
    }
    static A eitherOfTwo() throws Exception { // A, A
        return (A) (yes ? c.newInstance() : c.newInstance());
    }
    static void perRound() throws Exception { // A
        for (int i = 0; i < 3; i++) {
            Object o = c.newInstance();
            A a = (A) o;
        }
    }
    static A lastOfRounds() throws Exception { // -
        Object o = null;
        for (int i = 0; i < 3; i++) o = c.newInstance();
        return (A) o;
    }
    static A roundsBetween() throws Exception { // A
        Object o = c.newInstance();
        for (int i = 0; i < 3; i++) risk();
        return (A) o;
    }
    static void castInRounds() throws Exception { // A
        Object o = c.newInstance();
        do {
            A a = (A) o;
        } while (yes);
    }
    static void castInRoundsIfAny() throws Exception { // -
        Object o = c.newInstance();
        while (yes) {
            A a = (A) o;
        }
    }
    static A forEver() throws Exception { // -
        Object o = c.newInstance();
        if (yes) for (;;) risk();
        return (A) o;
    }
    static A forEverButForAThrow() throws Exception { // -
        Object o = c.newInstance();
        if (yes) for (;;) if (kept == o) throw new IllegalStateException();
        return (A) o;
    }
    static void forEverWithCast() throws Exception { // A
        Object o = c.newInstance();
        for (;;) {
            risk();
            A a = (A) o;
        }
    }
    static void intersection() throws Exception { // A B
        Object o = c.newInstance();
        A a = (A) o;
        B b = (B) o;
    }
    static B castOfACast() throws Exception { // A B
        return (B) (A) c.newInstance();
    }
    static Object[] arrays(Method m) throws Exception { // [[I, [LCasts$A;
        int[][] numbers = (int[][]) m.invoke(null);
        return (A[]) m.invoke(null);
    }
    static <T> T make(Class<T> type) throws Exception { // -
        return type.newInstance();
    }
    static <T extends A> T makeBounded(Class<T> type) throws Exception { // A
        return type.newInstance();
    }
    static void castByCompiler() throws Exception { // Both
        Both both = Both.class.getDeclaredConstructor().newInstance();
    }
    static void leaked() throws Exception { // A
        Object o = c.newInstance();
        kept = o;
        A a = (A) o;
    }
    static A byKind(int kind) throws Exception { // A
        Object o = c.newInstance();
        switch (kind) {
            case 1: return (A) o;
            case 2: throw new IllegalStateException();
            default: long other = 1L << kind; return other > 7 ? given((A) o) : (A) o;
        }
    }
}
"""

needs_javac = pytest.mark.skipif(shutil.which("javac") is None, reason="needs javac on the path")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[set[str]]]:
    return casts_in(compile_source(tmp_path_factory.mktemp("casts")))


def compile_source(directory: Path) -> bytes:
    """Returns the class that SOURCE compiles to."""
    (directory / "Casts.java").write_text(SOURCE)
    options = ["-g:none", "--release", "11", "-nowarn", "-d", str(directory)]
    subprocess.run(["javac", *options, str(directory / "Casts.java")], check=True, timeout=300)
    return (directory / "Casts.class").read_bytes()


def casts_in(content: bytes) -> dict[str, list[set[str]]]:
    """Returns, by method of the class Casts, the types of each call whose result may be cast."""
    return casts(translate([("Casts.class", content)], "casts"))


def casts(unit: Unit) -> dict[str, list[set[str]]]:
    """Returns, by method, the types of each call whose result may be cast."""
    assert unit.diagnostics == []
    found = {}
    for method, signature in enumerate(unit.method_signature.tolist()):
        types: dict[int, set[str]] = {
            ordinal: set()
            for ordinal, (_, _, ref, _, _) in enumerate(rows(unit, "invoke", method))
            if (type_name(unit, unit.method_ref_type[ref]), member(unit, ref)) in FOLLOWED
        }
        for ordinal, type_ref in rows(unit, "result_cast", method):
            types[ordinal].add(type_name(unit, type_ref).removeprefix("Casts$"))
        found[text(unit, unit.signature_name[signature])] = list(types.values())
    return found


FOLLOWED = {
    ("java/lang/Class", "newInstance"), ("java/lang/reflect/Constructor", "newInstance"),
    ("java/lang/reflect/Field", "get"), ("java/lang/reflect/Method", "invoke"),
}  # fmt: skip


def member(unit: Unit, ref: int) -> str:
    """Returns the name in a method_ref."""
    return text(unit, unit.signature_name[unit.method_ref_signature[ref]])


def expectations() -> Iterator[tuple[str, list[set[str]]]]:
    """Yields the methods of SOURCE with the types of their calls."""
    for line in SOURCE.splitlines():
        head, mark, expected = line.partition(" { //")
        if mark:
            calls = [set(each.split()) - {"-"} for each in expected.split(",")] if expected.strip() else []
            yield head.partition("(")[0].split()[-1], calls


@needs_javac
@pytest.mark.parametrize(("name", "expected"), list(expectations()))
def test_casts_on_all_ways(compiled: dict[str, list[set[str]]], name: str, expected: list[set[str]]) -> None:
    assert compiled[name] == expected


def assembled(body: str) -> list[set[str]]:
    """Returns the types of each call in a method with `body`; NEW stands for a call that makes an object."""
    call = "aload 0\n invokevirtual java/lang/Class.newInstance ()Ljava/lang/Object;"
    source = (
        "class T extends java/lang/Object\nmethod static m (Ljava/lang/Class;)Ljava/lang/Object;\n"
        + body.replace("NEW", call)
    )
    return casts(translate([("T.class", assemble(source, "T.jasm")["T"])], "T"))["m"]


@pytest.mark.parametrize(
    "moves",
    [
        "dup\n checkcast A\n pop",
        "aload 0\n dup_x1\n pop\n checkcast A",
        "aload 0\n aload 0\n dup2_x1\n pop2\n swap\n pop\n aload 0\n swap\n dup_x2\n pop2\n pop\n checkcast A",
        "astore 1\n aload 0\n aload 0\n aload 0\n aload 1\n dup2_x2\n pop2\n pop2\n checkcast A",
        "aload 0\n aload 0\n dup2_x1\n pop2\n checkcast A",
        "lconst_0\n dup2_x1\n pop2\n checkcast A",
        "aload 0\n lconst_0\n dup2_x2\n pop2\n pop\n checkcast A\n pop2\n aload 0",
        "astore 300\n lconst_0\n lstore 301\n iinc 400 1\n aload 300\n checkcast A",
        "aload 0\n getfield T.wide J\n pop2\n checkcast A",
        "iconst_1\n anewarray A\n iconst_0\n aload 0\n aastore\n checkcast A",
        "aload 0\n lconst_0\n invokestatic T.f (Ljava/lang/Class;J)D\n pop2\n checkcast A",
        "lconst_0\n lstore 301\n lload 301\n pop2\n checkcast A",
        "iconst_0\n istore 301\n iload 301\n pop\n checkcast A",
        "iinc 400 1\n checkcast A",
        "iconst_2\n iconst_2\n multianewarray [[LA; 2\n pop\n checkcast A",
        "lconst_0\n lstore 301\n checkcast A",
        "astore 300\n aload 0\n astore 44\n aload 300\n checkcast A",
        "astore 300\n aload 0\n astore 172\n aload 300\n checkcast A",
        "aload 0\n invokevirtual java/lang/Object.hashCode ()I\n pop\n checkcast A",
        "aload 0\n invokeinterface java/lang/Runnable.run ()V\n checkcast A",
        "lconst_0\n putstatic T.wide J\n checkcast A",
        "getstatic T.wide J\n pop2\n checkcast A",
        "getstatic T.kept LA;\n pop\n checkcast A",
        "aload 0\n lconst_0\n putfield T.wide J\n checkcast A",
        "aload 0\n aload 0\n putfield T.kept LA;\n checkcast A",
        "astore 3\n aload 0\n astore 4\n aload 3\n checkcast A",
        "astore 258\n aload 0\n astore 1\n aload 0\n astore 257\n aload 258\n checkcast A",
    ],
)
def test_moves_on_the_stack_are_followed(moves: str) -> None:
    assert assembled(f"NEW\n {moves}\n areturn") == [{"A"}]


def test_what_is_beside_the_result_is_something_else() -> None:
    for moves in (
        "aload 0",
        "astore 300\n aload 0",
        "aload 0\n swap\n dup_x1\n pop",
        "lconst_0\n pop2\n pop\n aload 0",
    ):
        assert assembled(f"NEW\n {moves}\n checkcast A\n areturn") == [set()]


def test_subroutines_go_back_to_all_their_callers() -> None:
    called = "sub: astore 2\n ret 2\n"
    assert assembled("NEW\n jsr sub\n checkcast A\n areturn\n" + called) == [{"A"}]
    assert assembled("NEW\n astore 1\n jsr sub\n aload 1\n checkcast A\n areturn\n" + called) == [{"A"}]
    within = "sub: astore 2\n aload 1\n checkcast A\n pop\n ret 2\n"
    assert assembled("NEW\n astore 1\n jsr sub\n aload 1\n areturn\n" + within) == [{"A"}]
    other = "aload 0\n ifnull there\n NEW\n astore 1\n jsr sub\n aload 1\n checkcast A\n areturn\n"
    there = "there: aconst_null\n astore 1\n jsr sub\n aconst_null\n areturn\n"
    assert assembled(other + there + called) == [set()]


def test_subroutines_may_keep_their_address_in_any_slot() -> None:
    body = "NEW\n jsr sub\n checkcast A\n areturn\nsub: astore 300\n ret 300\n"
    assert assembled(body) == [{"A"}]


def test_constants_may_have_any_index() -> None:
    many = "".join(f"getstatic T.f{number} I\n pop\n" for number in range(300))
    moves = "lconst_0\n putstatic T.wide J\n aload 0\n invokestatic T.f (Ljava/lang/Class;)V\n"
    assert assembled(f"{many} NEW\n {moves} checkcast A\n areturn") == [{"A"}]


def test_calls_that_the_program_links_itself_take_and_put() -> None:
    call = "aload 0\n invokevirtual java/lang/Class.newInstance ()Ljava/lang/Object;"
    head = "class T extends java/lang/Object\nversion 55\nbootstrap linker T.link ()V\n"
    dynamic = "lconst_0\n invokedynamic run (J)D linker\n pop2\n checkcast A\n areturn"
    method = f"method static m (Ljava/lang/Class;)Ljava/lang/Object;\n{call}\n{dynamic}\n"
    assert casts(translate([("T.class", assemble(head + method, "T.jasm")["T"])], "T"))["m"] == [{"A"}]


def test_loops_around_subroutines_may_never_end() -> None:
    body = "NEW\n astore 1\n back: jsr sub\n aload 0\n ifnull back\n aload 1\n checkcast A\n areturn\n"
    assert assembled(body + "sub: astore 2\n ret 2\n") == [set()]


def test_a_way_too_long_to_follow_has_no_cast() -> None:
    for length, expected in ((100, {"A"}), (30_000, set())):
        assert assembled("NEW\n" + "nop\n" * length + "checkcast A\n areturn") == [expected]
    # What is near is seen, however long the method goes on.
    assert assembled("NEW\n checkcast A\n" + "nop\n" * 30_000 + "areturn") == [{"A"}]


def test_work_for_a_method_has_an_end() -> None:
    once = "NEW\n checkcast A\n pop\n"
    assert assembled(once * 7 + "nop\n" * 30_000 + "aload 0\n areturn") == [{"A"}] * 5 + [set()] * 2
    types = [f"T{number}" for number in range(9)]
    casts_of_all = "".join(f"checkcast {each}\n" for each in types)
    assert assembled("NEW\n" + casts_of_all + "areturn") == [set(types[:8])]
    for copies, expected in ((15, {"A"}), (16, set())):
        assert assembled("NEW\n" + "dup\n" * copies + "checkcast A\n areturn") == [expected]


def test_a_handler_has_the_exception_on_its_stack() -> None:
    body = "NEW\n from: invokestatic T.f ()V\n to: checkcast A\n areturn\n"
    handler = "handler: checkcast A\n areturn\n catch any from to handler"
    assert assembled(body + handler) == [set()]


def test_results_of_other_kinds_are_nothing_to_cast() -> None:
    call = "aload 0\n invokevirtual java/lang/Class.newInstance ()I\n pop\n aload 0\n checkcast A\n areturn"
    assert assembled(call) == [set()]
