"""The compose file: what the specification allows, what S15 asks for, and the same hardening as the managed server."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cypher.server.configuration import Settings, configuration

FILE = Path(__file__).parents[2] / "docker" / "compose.yaml"

if importlib.util.find_spec("check_jsonschema") is None and not os.environ.get("CI"):
    pytest.skip("needs check-jsonschema", allow_module_level=True)


def document() -> dict[str, Any]:
    yaml = importlib.import_module("ruamel.yaml")  # comes with check-jsonschema
    found: dict[str, Any] = yaml.YAML(typ="safe", pure=True).load(FILE.read_text("utf-8"))
    return found


@pytest.fixture
def service() -> dict[str, Any]:
    [service] = document()["services"].values()
    return dict(service)


def problems(file: Path) -> str:
    """Returns what the schema of the specification says against the file."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr if done.returncode else ""


def test_it_keeps_to_the_specification() -> None:
    assert problems(FILE) == ""


def test_the_schema_notices_a_mistake(tmp_path: Path) -> None:
    spoilt = tmp_path / "compose.yaml"
    spoilt.write_text(FILE.read_text("utf-8").replace("read_only: true", "readonly: true"))
    assert "readonly" in problems(spoilt)


def test_s15_nobody_is_root_and_nothing_is_written(service: dict[str, Any]) -> None:
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"])
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "network_mode", "pid", "devices"} & set(service)
    assert all(not each.startswith((".", "/", "~")) for each in service["volumes"])
    # What the image's entry point and the server write to.
    written = [each.split(":")[0] for each in service["tmpfs"]] + [
        each.split(":")[1] for each in service["volumes"]
    ]
    assert sorted(written) == ["/data", "/logs", "/run", "/tmp", "/var/lib/neo4j/conf"]  # noqa: S108


def test_s15_it_is_published_on_this_machine_only(service: dict[str, Any]) -> None:
    assert sorted(service["ports"]) == ["127.0.0.1:7474:7474", "127.0.0.1:7687:7687"]


def test_s15_there_is_no_default_password(service: dict[str, Any]) -> None:
    assert re.fullmatch(r"neo4j/\$\{NEO4J_PASSWORD:\?[^}]+\}", service["environment"]["NEO4J_AUTH"])


def test_the_image_is_the_one_that_is_managed(service: dict[str, Any]) -> None:
    series = ".".join(Settings().version.split(".")[:2])
    assert service["image"] == f"neo4j:{series}-community"


def test_it_is_hardened_like_the_managed_server(service: dict[str, Any]) -> None:
    given = {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_"): str(value)
        for name, value in service["environment"].items()
    }
    lines = configuration(Settings()).splitlines()
    managed = dict(line.split("=", 1) for line in lines)
    # Addresses: inside the container everything listens, and Docker publishes on this machine only.
    apart = {name for name in managed if name.endswith(("listen_address", "advertised_address"))}
    # What is so without being said, what only shortens a stop, and our guide, which the image doesn't have.
    apart |= {
        "browser.post_connect_cmd",
        "dbms.security.auth_enabled",
        "dbms.security.procedures.unrestricted",
        "initial.dbms.default_database",
    }
    apart |= {name for name in managed if "quiet_period" in name}
    for name in managed.keys() - apart:
        expected = managed[name].replace("http://127.0.0.1", "http://localhost")
        assert sorted(re.split("[ ,]", given[name])) == sorted(re.split("[ ,]", expected)), name


@pytest.mark.skipif(shutil.which("docker") is None, reason="needs Docker")
def test_docker_reads_it_and_wants_a_password() -> None:
    command = ["docker", "compose", "-f", str(FILE), "config", "--quiet"]
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("needs Docker's compose")
    environment = {name: value for name, value in os.environ.items() if name != "NEO4J_PASSWORD"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "NEO4J_PASSWORD" in done.stderr
    environment["NEO4J_PASSWORD"] = "of-this-test"  # noqa: S105
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
