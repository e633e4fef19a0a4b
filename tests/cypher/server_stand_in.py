"""Stand-ins for Maven and Java: they show what they were asked, and fail as they are told."""

from __future__ import annotations

import sys
from pathlib import Path

# Lists the files in REPOSITORY as the class path.
MAVEN = """#!{python}
import os, pathlib, sys
options = dict(each[2:].split("=", 1) for each in sys.argv if each.startswith("-D"))
if os.environ.get("MAVEN_FAILS"):
    print("[ERROR] " + os.environ["MAVEN_FAILS"])
    sys.exit(1)
files = sorted(pathlib.Path(os.environ["REPOSITORY"]).rglob("*.jar"))
for file in files:
    print(f"Downloaded from central: https://example.org/{{file.name}} (1.5 MB at 3 MB/s)")
pathlib.Path(options["mdep.outputFile"]).write_text(":".join(map(str, files)) + "\\n")
"""

# Says that it is Java VERSION; runs as the tool or as the server.
JAVA = """#!{python}
import os, pathlib, signal, sys, time
if "-version" in sys.argv:
    sys.exit(print("    java.specification.version = " + os.environ.get("JAVA_IS", "{version}")))
kept = pathlib.Path(os.environ["KEPT"])
with kept.open("a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
if "org.neo4j.cli.AdminTool" in sys.argv:
    secret = [each[1:] for each in sys.argv if each.startswith("@") and "secret" in each]
    if secret:
        kept.with_name("secret").write_text(pathlib.Path(secret[0]).read_text())
    sys.exit(0)
if os.environ.get("SERVER_DIES"):
    sys.exit("Exception in thread main java.lang.RuntimeException: outer\\n\\tat a.b(C.java)\\n"
             "Caused by: java.io.IOException: " + os.environ["SERVER_DIES"])
if os.environ.get("SERVER_IS_STUBBORN"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(600)
"""


def put(folder: Path, name: str, text: str, version: str = "17") -> Path:
    """Writes a program into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(text.format(python=sys.executable, version=version))
    program.chmod(0o755)
    return program
