"""Agents start where their manifest says, and see the classes that the JVM loads."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from cli.run import Run
from tests.cli.conftest import Heliograph

JAVA, JAVAC = shutil.which("java"), shutil.which("javac")
SOURCE = """package demo;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

public class Agent implements ClassFileTransformer {
    public static void premain(String options, Instrumentation instrumentation) {
        System.out.println("demo.Agent.premain");
        instrumentation.addTransformer(new Agent());
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
        if (name.equals("demo/Main")) {
            System.out.println("demo.Agent.transform");
        }
        return null;
    }

    static void unused() {}
}
"""
MAIN = "package demo; public class Main { public static void main(String[] arguments) {} }"


@pytest.mark.slow
@pytest.mark.skipif(JAVA is None or JAVAC is None, reason="needs a JDK")
def test_an_agent_starts_and_transforms_as_on_a_jvm(tmp_path: Path, heliograph: Heliograph) -> None:
    for name, source in (("Agent", SOURCE), ("Main", MAIN)):
        (tmp_path / f"{name}.java").write_text(source)
        command = [str(JAVAC), "-d", str(tmp_path / name), str(tmp_path / f"{name}.java")]
        subprocess.run(command, check=True)
    jar = tmp_path / "agent.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nPremain-Class: demo.Agent\n\n")
        archive.write(tmp_path / "Agent" / "demo" / "Agent.class", "demo/Agent.class")
    command = [str(JAVA), f"-javaagent:{jar}", "-cp", str(tmp_path / "Main"), "demo.Main"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ran.stdout.split() == ["demo.Agent.premain", "demo.Agent.transform"]
    done = heliograph("analyze", jar, "--out", tmp_path / "run")
    assert done.code == 0, done.errors
    run = Run(tmp_path / "run")
    reached = run.result.reached[run.names.is_application(run.result.reached)]
    found = {run.names.method(each).qualified for each in reached.tolist()}
    assert found == {"demo.Agent.premain", "demo.Agent.<init>", "demo.Agent.transform"}
