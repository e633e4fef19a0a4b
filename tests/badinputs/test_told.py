"""What people are told of bad inputs stays short."""

import pytest

from cli.diagnostics import tell
from cypher.schema import Diagnostic
from tests.test_security import linted


@pytest.mark.parametrize("severity", ["error", "warning", "note"])
@pytest.mark.parametrize(
    ("archives", "last"), [(20, "x"), (21, "and 1 more archives"), (5000, "and 4,980 more archives")]
)
def test_a26_a_code_that_many_archives_have(
    severity: str, archives: int, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [
        Diagnostic("ARC-CRC", severity, "x", archive=f"{number % archives:04}.jar")
        for number in range(2 * archives)
    ]
    tell([*found, Diagnostic("ARC-NAME", severity, "y", archive="z.jar")], notes=True)
    lines = capsys.readouterr().err.splitlines()
    told = [f"{severity} ARC-CRC: {number:04}.jar: x (and 1 more)" for number in range(20)]
    rest = [f"{severity} ARC-CRC: {last}"] if archives > 20 else []
    assert lines == [*told, *rest, f"{severity} ARC-NAME: z.jar: y"]


@pytest.mark.parametrize("module", ["joblib", "cloudpickle"])
def test_s3_modules_that_read_pickles_are_banned(module: str) -> None:
    assert "TID251" in linted(f"import {module}\n")
