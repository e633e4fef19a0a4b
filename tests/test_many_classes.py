"""Programs with more classes than calls are followed, or list the members of: what is found of them, and what is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.bounded import LISTED_IN_ALL
from engine.kernel.paths import MOST_CALLS
from engine.reflection.modes import MODES
from tests.cli.conftest import run_command
from tests.executed import executed, needs_jdk, reached

NUMBER = max(MOST_CALLS, LISTED_IN_ALL) + 10
LINE = "\n"


def method(name: str, text: str) -> str:
    """Returns a method that prints a text."""
    return f'public void {name}() {{ System.out.println("{text}"); }}'


ENUMS = f"""
import java.util.EnumSet;

class Main {{
    public static void main(String[] arguments) {{
        {LINE.join(f"E{each}.valueOf(arguments[0]).go();" for each in range(NUMBER))}
        {LINE.join(f"for (S{each} one : EnumSet.of(S{each}.A)) {{ one.go(); }}" for each in range(NUMBER))}
    }}
}}
{LINE.join(f"enum E{each} {{ A {{ {method('go', f'E{each}')} }}; abstract void go(); }}" for each in range(NUMBER))}
{LINE.join(f"enum S{each} {{ A {{ {method('go', f'S{each}')} }}; abstract void go(); }}" for each in range(NUMBER))}
"""
LISTED = f"""
class Main {{
    static void call(Object receiver) throws Exception {{
        receiver.getClass().getDeclaredMethods()[0].invoke(receiver);
        receiver.getClass().getSuperclass().getMethod("up").invoke(receiver);
    }}

    public static void main(String[] arguments) throws Exception {{
        {LINE.join(f"call(new C{each}());" for each in range(NUMBER))}
    }}
}}
{LINE.join(f"class C{each} extends B{each} {{ {method('go', f'C{each}.go')} }}" for each in range(NUMBER))}
{LINE.join(f"class B{each} {{ {method('up', f'B{each}.up')} }}" for each in range(NUMBER))}
"""

pytestmark = needs_jdk


@pytest.fixture(scope="module")
def enums(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    return executed(tmp_path_factory.mktemp("enums"), ENUMS, "A")


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    return executed(tmp_path_factory.mktemp("listed"), LISTED)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "sound"])
def test_each_enum_is_asked_for_its_constants(
    enums: tuple[Path, list[str]], tmp_path: Path, mode: str
) -> None:
    classes, told = enums
    found = reached(classes, tmp_path / "run", "--mode", mode)
    assert len(told) == 2 * NUMBER
    assert [each for each in told if f"{each}$1.go()V" not in found] == []
    assert [each for each in told if f"{each}.values()[L{each};" not in found] == []


def test_a_call_that_lists_members_of_many_classes_is_open(
    listed: tuple[Path, list[str]], tmp_path: Path
) -> None:
    classes, told = listed
    found = reached(classes, tmp_path / "run")
    assert not [each for each in told if f"{each}()V" in found]
    sites = json.loads(run_command("sites", "--run", tmp_path / "run", "--format", "json").output)
    (lists,) = (each for each in sites if each["api"].endswith("getDeclaredMethods"))
    assert (lists["status"], lists["causes"]) == ("unresolved", ["many-classes"])


def test_without_bounded_lists_all_are_listed_and_asked_for_superclasses(
    listed: tuple[Path, list[str]], tmp_path: Path
) -> None:
    classes, told = listed
    found = reached(classes, tmp_path / "run", "--without", "bounded-lists")
    assert len(told) == 2 * NUMBER
    assert [each for each in told if f"{each}()V" not in found] == []
