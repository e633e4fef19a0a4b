"""What tests of recordings share."""

from __future__ import annotations

import pytest

from tests.benchmarks import jdk as jdks


@pytest.fixture(scope="session")
def jdk() -> jdks.Jdk:
    """The JDK in whose frames recordings find the reflective calls of a program."""
    found = jdks.find()
    if found.feature != 17:
        pytest.skip("reflection has other frames in other JDKs")
    return found
