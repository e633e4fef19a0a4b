"""What generic declarations name resolves calls; what a type variable stands for leaves them open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Heliograph

PROGRAM = """\
package demo;
import java.lang.reflect.*;
import java.util.List;
public class Main {
    public static class Item { public Item() { } }
    public static abstract class Store<T> {
        Object make() throws Exception {
            ParameterizedType type = (ParameterizedType) getClass().getGenericSuperclass();
            return ((Class<?>) type.getActualTypeArguments()[0]).newInstance();
        }
    }
    public static class Items extends Store<Item> { }
    public static class Any<T> extends Store<T> { }
    static <T extends Item> List<T> several(List<Item> items) { return null; }
    public static void main(String[] arguments) throws Exception {
        new Items().make();
        Method several = Main.class.getDeclaredMethod("several", List.class);
        ParameterizedType returned = (ParameterizedType) several.getGenericReturnType();
        Type variable = returned.getActualTypeArguments()[0];
        ((Class<?>) ((TypeVariable<?>) variable).getBounds()[0]).newInstance();
        Type parameter = several.getAnnotatedParameterTypes()[0].getType();
        ((Class<?>) ((ParameterizedType) parameter).getActualTypeArguments()[0]).newInstance();
        Type unknown = Class.forName(arguments[0]).getGenericSuperclass();
        ((Class<?>) ((ParameterizedType) unknown).getActualTypeArguments()[0]).newInstance();
    }
}
"""


@pytest.fixture(scope="module")
def run(run_of: Callable[..., Path]) -> Path:
    return run_of(PROGRAM)


def test_calls_are_resolved_by_the_arguments_of_generic_types(run: Path, heliograph: Heliograph) -> None:
    made = {
        each["line"]: (each["status"], each["targets"])
        for each in json.loads(heliograph("sites", "--run", run, "--format", "json").output)
        if "newInstance" in each["api"]
    }
    assert made == {
        9: ("resolved", ["demo.Main$Item.<init>()V"]),
        20: ("unresolved", []),
        22: ("unresolved", []),
        24: ("unresolved", []),
    }


def test_a_class_is_said_to_be_the_argument_of_a_type(run: Path, heliograph: Heliograph) -> None:
    told = heliograph("explain", "--run", run, "demo.Main$Store.make:9").output
    assert "the class object of demo.Main$Item that ParameterizedType.getActualTypeArguments returns" in told
