"""The command line: `main` is the entry point, `app` the commands."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli import interrupt
from cli.commands import analysis, browse, graph, query, reading, recall, report, specification, storage
from cli.exits import Exit, Failure
from cli.text import shown


class Commands(TyperGroup):
    """Ends with the exit code of a failure, after one sentence."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with interrupt.outlasting():
                return super().invoke(ctx)
        except Failure as failure:
            _tell(failure)
            raise SystemExit(failure.code) from None
        except KeyboardInterrupt:
            sys.stderr.write(interrupt.INTERRUPTED)
            raise SystemExit(Exit.INTERRUPTED) from None
        except MemoryError:
            sys.stderr.write("heliograph: there is not enough memory\n")
            raise SystemExit(Exit.INCOMPLETE) from None
        except BrokenPipeError:
            # Whoever read the output has enough of it.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(Exit.DONE) from None


def _tell(failure: Failure) -> None:
    if failure.diagnostics:
        from cli.diagnostics import tell

        tell(failure.diagnostics, notes=False)
    sys.stderr.write(f"heliograph: {chr(10).join(map(shown, str(failure).splitlines()))}\n")


app = typer.Typer(
    name="heliograph",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
analysis.register(app)
reading.register(app)
specification.register(app)
recall.register(app)
report.register(app)
storage.register(app)
graph.register(app)
query.register(app)
browse.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from cli.version import version

        sys.stdout.write(f"heliograph {version()}\n")
        raise typer.Exit


@app.callback(epilog="Example: heliograph analyze app.jar --main com.acme.Main")
def _heliograph(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Computes what each reflective call of a Java program may reach, and shows why."""


def main() -> None:
    """Runs the command line; ends the process with an exit code."""
    interrupt.end_soon_after_interrupt()
    try:
        app()
    except Exception:  # noqa: BLE001  # whatever it is, nobody handled it
        traceback.print_exc()
        sys.stderr.write(
            "heliograph: this is an error in heliograph itself; please report it with the lines above\n"
        )
        sys.exit(Exit.BUG)


if __name__ == "__main__":
    main()
