"""`heliograph browse`: Neo4j Browser, connected to the managed server."""

from __future__ import annotations

import os
import sys
import webbrowser

from cli.exits import Exit, Failure
from cli.present import write_line
from cli.server import failing, managed
from cypher.asking import loaded_runs
from cypher.connection import USER, connect


def open_browser(*, only_print: bool) -> None:
    """Opens the Browser's address, or prints it; says where the password is, which is in no address."""
    server = managed()
    with failing():
        if not server.is_running():
            raise Failure(
                Exit.UNAVAILABLE, "the server is not running: start it with `heliograph graph start`"
            )
        address = server.browser_url
        with connect(server.uri, USER, server.password()) as driver:
            empty = not loaded_runs(driver)
    if empty:
        sys.stderr.write("heliograph: the graph is empty yet; `heliograph graph load` brings a run there\n")
    opened = not only_print and _has_display() and webbrowser.open(address)
    write_line(f"{'opened' if opened else 'browser':<10}{address}")
    write_line(f"user      {USER}, with the password in {server.folder / 'password'}")


def _has_display() -> bool:
    """Returns whether a window can be opened; without one, some systems would run a browser in the terminal."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
