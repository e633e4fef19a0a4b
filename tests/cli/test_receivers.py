"""`heliograph recall` on receivers that reflective calls would have stored where they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import compiled, run_command
from tests.cli.test_recall import FOR_NAME, INVOKE, INVOKER, answer, written

PROGRAM = """package demo;

public class Main {
    static Holder holder = new Child();
    static Other other = new Other();
    static Item given = new Item(), rare = new Rare();

    public static void main(String[] arguments) throws Exception {
        Class<?> type = Class.forName("demo.Child");
        type.getMethod(arguments[0]).invoke(holder, new Item());
        type.getField(arguments[0]).set(holder, new Item());
        Class.forName(arguments[0]).getMethod(arguments[1]);
        Object literal = Item.class;
        new Bag().put("polluted");
        own();
        shared();
        inherited();
        byResult();
        direct();
        inBag();
        twice();
        inLocalBag();
        inKeptBag();
        ofAnother();
        nothing();
        ofArray();
        ofCall();
        holder.addReached(null);
    }

    static void own() { holder.own.go(); }
    static void shared() { Holder.shared.go(); }
    static void inherited() { holder.inherited.go(); }
    static void byResult() { Item found = holder.result(); found.go(); }
    static void direct() { holder.direct.go(); }
    static void inBag() { Item first = (Item) holder.spare.get(), taken = (Item) holder.bag.get(); taken.go(); }
    static void inLocalBag() {
        Bag local = holder.spare;
        for (int turn = 0; turn < 2; turn++) local = turn == 0 ? holder.bag : local;
        Item taken = (Item) local.get();
        taken.go();
    }
    static void inKeptBag() { Item taken = (Item) holder.kept.get(); taken.go(); }
    static void twice() { given.late(); holder.twice.late(); }
    static void ofAnother() { other.own.late(); }
    static void nothing() { Item none = null; none.late(); }
    static void ofArray() { Item[] none = new Item[1]; none[0].late(); }
    static void ofCall() { Item found = (Item) anything(); found.late(); }
    static Object anything() { return "anything"; }
}

class Item { void go() {} void late() {} }
class Rare extends Item { void late() {} }
class Other { Item own; }
class Bag {
    private Object[] items = new Object[1];
    void put(Object item) { items[0] = item; }
    Object get() { return items[0]; }
}
class Holder {
    Item own, inherited, hidden, twice;
    static Item shared;
    public Item direct;
    Bag bag = new Bag(), idle = new Bag(), spare = new Bag(), kept = new Bag();
    void setOwn(Item item) { own = item; }
    void setHidden(Item item) { hidden = item; }
    void setTwice(Item item) { twice = item; }
    static void setShared(Item item) { shared = item; }
    void add(Item item) { if (bag != null) bag.put(item); }
    void clear(Item item) { bag.get(); idle.put(item); use(bag, item); bag.put(null); bag.put("text"); }
    void addSpare(Item item) { spare.put(item); }
    void addReached(Item item) { bag.put(item); }
    void keep(Item item) { kept = new Bag(); }
    void use(Bag bag, Item item) {}
    Item result() { return hidden; }
}
class Child extends Holder {
    void setInherited(Item item) { inherited = item; }
}
"""
MAIN = "demo.Main.main([Ljava/lang/String;)V"
LINES = {line.strip(): number for number, line in enumerate(PROGRAM.splitlines(), 1)}
INVOKED = f"{MAIN}:{LINES['type.getMethod(arguments[0]).invoke(holder, new Item());']}"
SET = f"{MAIN}:{LINES['type.getField(arguments[0]).set(holder, new Item());']}"
NAMED = f"{MAIN}:{LINES['Class.forName(arguments[0]).getMethod(arguments[1]);']}"
FIELD_SET, GET_METHOD = "java.lang.reflect.Field.set", "java.lang.Class.getMethod"
SETTERS = (
    *("demo.Holder.setOwn", "demo.Holder.setHidden", "demo.Holder.setTwice", "demo.Holder.setShared"),
    *("demo.Holder.add", "demo.Holder.clear", "demo.Child.setInherited"),
    *("demo.Holder.addSpare", "demo.Holder.keep"),
)
OBSERVED = [
    *(("reflective", INVOKED, INVOKE, f"{each}(Ldemo/Item;)V") for each in SETTERS),
    *(("call", INVOKER, f"{each}(Ldemo/Item;)V") for each in SETTERS),
    ("reflective", SET, FIELD_SET, "demo.Holder.direct"),
    ("reflective", SET, FIELD_SET, "demo.Holder.bag"),
    ("call", MAIN, "demo.Holder.addReached(Ldemo/Item;)V"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str) -> Path:
    classes = compiled(tmp_path_factory.mktemp("program"), jdk, javac, Main=PROGRAM)
    place = tmp_path_factory.mktemp("receivers") / "run"
    done = run_command("analyze", classes, "--main", "demo.Main", "--jdk", jdk, "--out", place, "--quiet")
    assert done.code == 0, done.errors
    return place


def cause(
    run: Path, folder: Path, caller: str, callee: str, observed: Sequence[tuple[str, ...]]
) -> tuple[str, ...]:
    """Returns cause, detail and root of the call of a method of the program, without parameters, by another."""
    row = ("call", f"demo.Main.{caller}()V", f"demo.{callee}()V")
    missing = answer(run, written(folder, *observed, row))["missing"]
    return next(
        (each["cause"], each["detail"], each["root"])
        for each in missing
        if (each["caller"], each["callee"]) == row[1:]
    )


@pytest.mark.parametrize(
    ("caller", "setter", "does"),
    [
        ("own", "demo.Holder.setOwn", "stores to demo.Holder.own"),
        ("shared", "demo.Holder.setShared", "stores to demo.Holder.shared"),
        ("inherited", "demo.Child.setInherited", "stores to demo.Holder.inherited"),
        ("byResult", "demo.Holder.setHidden", "stores to demo.Holder.hidden"),
        ("inBag", "demo.Holder.add", "adds to demo.Holder.bag"),
        ("inKeptBag", "demo.Holder.keep", "stores to demo.Holder.kept"),
    ],
)
def test_a_receiver_follows_from_the_call_that_would_have_stored_it(
    run: Path, tmp_path: Path, caller: str, setter: str, does: str
) -> None:
    method = f"{setter}(Ldemo/Item;)V"
    expected = "follows", f"{method} {does}", f"{INVOKED} → {method}"
    assert cause(run, tmp_path, caller, "Item.go", OBSERVED) == expected


def test_a_receiver_may_come_from_several_fields(run: Path, tmp_path: Path) -> None:
    found, told, _ = cause(run, tmp_path, "inLocalBag", "Item.go", OBSERVED)
    assert found == "follows"
    assert set(told.split("; ")) == {
        "demo.Holder.add(Ldemo/Item;)V adds to demo.Holder.bag",
        "demo.Holder.addSpare(Ldemo/Item;)V adds to demo.Holder.spare",
    }


def test_a_receiver_follows_from_the_field_that_would_have_been_set(run: Path, tmp_path: Path) -> None:
    place = SET.replace("([Ljava/lang/String;)V", "")
    expected = "follows", f"set at {place} stores to demo.Holder.direct", f"{SET} → demo.Holder.direct"
    assert cause(run, tmp_path, "direct", "Item.go", OBSERVED) == expected


def test_what_wasnt_observed_to_store_is_no_cause(run: Path, tmp_path: Path) -> None:
    others = [each for each in OBSERVED if "setOwn" not in each[-1]]
    assert cause(run, tmp_path, "own", "Item.go", others) == ("no-receiver", "no receiver at all", "")


def test_what_reads_a_field_is_no_cause(run: Path, tmp_path: Path) -> None:
    read = [("reflective", SET, "java.lang.reflect.Field.get", "demo.Holder.direct")]
    assert cause(run, tmp_path, "direct", "Item.go", read) == ("no-receiver", "no receiver at all", "")


def test_what_stores_is_told_where_it_follows_from_nothing(run: Path, tmp_path: Path) -> None:
    method = "demo.Holder.setOwn(Ldemo/Item;)V"
    observed = [("call", method, "java.lang.Object.toString()Ljava/lang/String;")]
    expected = "no-receiver", f"no receiver at all; {method} stores to demo.Holder.own", ""
    assert cause(run, tmp_path, "own", "Item.go", observed) == expected


@pytest.mark.parametrize("caller", ["ofAnother", "nothing", "ofArray", "ofCall"])
def test_what_stores_elsewhere_is_no_cause(run: Path, tmp_path: Path, caller: str) -> None:
    assert cause(run, tmp_path, caller, "Item.late", OBSERVED) == ("no-receiver", "no receiver at all", "")


def test_a_receiver_that_is_there_is_no_gap(run: Path, tmp_path: Path) -> None:
    expected = "no-receiver", "1 other targets", ""
    assert cause(run, tmp_path, "twice", "Rare.late", OBSERVED) == expected


def test_a_class_that_the_run_has_need_not_be_found_by_name(run: Path, tmp_path: Path) -> None:
    lookups = [
        ("reflective", NAMED, FOR_NAME, "demo.Holder"),
        ("reflective", INVOKED, GET_METHOD, OBSERVED[0][-1]),
    ]
    roots = {
        (each["kind"], each["callee"]): each["root"]
        for each in answer(run, written(tmp_path, *OBSERVED, *lookups))["missing"]
    }
    assert {roots[row[2:]] for row in lookups} == {""}
    assert roots[INVOKE, OBSERVED[0][-1]] == f"{INVOKED} → {OBSERVED[0][-1]}"
    assert roots[FIELD_SET, "demo.Holder.direct"] == ""


def test_a_class_that_doesnt_come_to_a_call_has_to_be_found_by_name(run: Path, tmp_path: Path) -> None:
    rows = [
        ("reflective", NAMED, FOR_NAME, "demo.Item"),
        ("reflective", NAMED, GET_METHOD, "demo.Item.late()V"),
    ]
    found = answer(run, written(tmp_path, *rows))["missing"]
    assert [(each["kind"], each["root"]) for each in found] == [
        (FOR_NAME, ""),
        (GET_METHOD, f"{NAMED} → demo.Item"),
    ]
