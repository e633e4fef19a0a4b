"""`heliograph console`: queries in Cypher, one after the other, with highlighting, suggestions and a history."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cli.exits import Exit, Failure, usage
from cli.folders import private, state_root
from cli.graph_formats import text_of
from cli.query import (
    Place,
    chosen,
    connected,
    cut_short,
    failing,
    limits_of,
    parameters_of,
    query_named,
    value_of,
    write_list,
    write_query,
)  # fmt: skip
from cli.text import shown
from cypher.asking import Access, Cut, asked

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.output import Output

    from cypher.asking import Database

_HELP = """\
Queries end with a semicolon and may take several lines; they may only read the graph.
  :queries [GROUP]     lists the catalogue
  :show NAME           shows one of its queries
  :run NAME            asks it, with the parameters that are set
  :param NAME => VALUE sets a parameter, to JSON or else to text; queries use it as $NAME
  :params              shows what is set ($run is the run that is asked)
  :clear               forgets all parameters
  :quit                leaves, as Ctrl-D does
Tab suggests labels, types, properties and queries; Ctrl-C ends a query."""


class Settings(NamedTuple):
    """How the console asks: which run, how many rows at most, how long."""

    run: str | None
    rows: int
    seconds: float


class Console:
    """What the console does with a line; `interactive` answers are paged, and mistakes don't end it."""

    def __init__(self, place: Place, settings: Settings, *, interactive: bool) -> None:
        self._place, self._settings, self._interactive = place, settings, interactive
        self._driver: Database | None = None
        self.parameters: dict[str, Any] = {}
        self._commands: dict[str, Callable[[str], None]] = {
            ":help": self._help, ":queries": self._queries, ":show": self._show, ":run": self._run,
            ":param": self._set, ":params": self._list, ":clear": self._clear,
        }  # fmt: skip

    @property
    def commands(self) -> list[str]:
        """The words that begin with a colon."""
        return [*self._commands, ":quit"]

    def connect(self) -> None:
        """Connects, and chooses the run that is asked. Raises `Failure`."""
        with failing():
            driver = self._connected()
            if "run" not in self.parameters:
                self.parameters["run"] = chosen(driver, self._settings.run).name

    def close(self) -> None:
        """Ends the connection."""
        driver, self._driver = self._driver, None
        if driver is not None:
            with contextlib.suppress(Exception):
                driver.close()

    def do(self, text: str) -> bool:
        """Does what a command or a statement says; returns whether there is to be another one.

        Raises `Failure` unless the console is interactive.
        """
        text = text.strip()
        if text.lower() in (":quit", ":exit"):
            return False
        try:
            if text.startswith(":"):
                name, _, rest = text.partition(" ")
                command = self._commands.get(name)
                if command is None:
                    raise usage(f"there is no command {name}; `:help` shows those that there are")
                command(rest.strip().removesuffix(";"))
            elif text:
                self._ask(text, self.parameters, Access.GUARDED)
        except Failure as failure:
            if not self._interactive:
                raise
            self._say(str(failure))
        except KeyboardInterrupt:
            if not self._interactive:
                raise
            self.close()
            self._say("cancelled")
        return True

    def _say(self, text: str) -> None:
        sys.stdout.flush()
        sys.stderr.write("\n".join(map(shown, text.splitlines())) + "\n")

    def _connected(self) -> Database:
        if self._driver is None:
            self._driver = connected(self._place)
        return self._driver

    def _ask(self, text: str, parameters: dict[str, Any], access: Access) -> None:
        limits = limits_of(self._settings.rows, self._settings.seconds)
        began = time.monotonic()
        try:
            with failing(), asked(self._connected(), text, parameters, limits, access) as answer:
                rows = [[_cell(each) for each in row] for row in answer]
        except Failure as failure:
            if failure.code is Exit.UNAVAILABLE:
                self.close()
            raise
        if answer.cut is Cut.TIME:
            # The server may not have been waited for.
            self.close()
        self._print(list(map(shown, answer.columns)), rows)
        if answer.cut is not Cut.NO:
            note = cut_short(answer, limits).replace("--limit 0 for all", "see --limit")
            if not self._interactive and answer.cut is not Cut.ROWS:
                raise Failure(Exit.INCOMPLETE, note)
            self._say(note)
        if self._interactive:
            number = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
            sys.stdout.write(f"{number} in {time.monotonic() - began:.2f} s\n")

    def _print(self, columns: list[str], rows: list[list[Any]]) -> None:
        from cypher.console_language import table

        if not columns:
            return
        text = table(columns, rows) + "\n"
        if self._interactive and sys.stdout.isatty() and _is_long(text):
            import pydoc

            os.environ.setdefault("LESS", "-FSX")
            pydoc.pager(text)
        else:
            sys.stdout.write(text)
            sys.stdout.flush()

    def _help(self, _rest: str) -> None:
        sys.stdout.write(_HELP + "\n")

    def _queries(self, group: str) -> None:
        write_list(group or None, as_json=False)

    def _show(self, name: str) -> None:
        write_query(name, as_json=False)

    def _run(self, name: str) -> None:
        query = query_named(name)
        declared = {each.name for each in query.parameters}
        given = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in self.parameters.items()
            if name in declared
        }
        self._ask(query.text, parameters_of(query, given, self.parameters["run"]), Access.CATALOGUE)

    def _set(self, rest: str) -> None:
        name, arrow, value = rest.partition("=>")
        name = name.strip().removeprefix("$")
        if not arrow or not name:
            raise usage("a parameter is set with :param NAME => VALUE")
        value = value.strip()
        quoted = len(value) > 1 and value[0] == value[-1] == "'"
        self.parameters[name] = value[1:-1] if quoted else value_of(value)

    def _list(self, _rest: str) -> None:
        for name, value in sorted(self.parameters.items()):
            sys.stdout.write(f"{shown(name)} => {shown(json.dumps(value, ensure_ascii=False))}\n")

    def _clear(self, _rest: str) -> None:
        self.parameters = {name: value for name, value in self.parameters.items() if name == "run"}


def _cell(value: Any) -> Any:
    """Returns a cell of a table: a number as such, all else as text that is safe on a terminal."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    return shown(text_of(value))


def _is_long(text: str) -> bool:
    size = shutil.get_terminal_size()
    lines = text.splitlines()
    return len(lines) >= size.lines or max(map(len, lines)) > size.columns


def start(place: Place, settings: Settings) -> None:
    """Opens the console; without a terminal, does what standard input says, to the first mistake."""
    interactive = sys.stdin.isatty()
    console = Console(place, settings, interactive=interactive)
    try:
        console.connect()
        if interactive:
            with _own_interrupts():
                converse(console)
        else:
            follow(console, sys.stdin)
    finally:
        console.close()


def follow(console: Console, lines: Iterable[str]) -> None:
    """Does what lines say: commands, and statements of one or more lines."""
    from cypher.console_language import split

    waiting = ""
    for line in lines:
        if not waiting.strip() and line.lstrip().startswith(":"):
            if not console.do(line):
                return
            continue
        waiting += line
        if ";" in line:
            statements, waiting = split(waiting)
            for each in statements:
                console.do(each)
    if waiting.strip():
        console.do(waiting)


def converse(console: Console, source: Input | None = None, sink: Output | None = None) -> None:
    """Asks for commands and statements until somebody leaves."""
    session = _session(console, source, sink)
    sys.stdout.write(f"run {shown(str(console.parameters['run']))}; `:help` shows what there is\n")
    sys.stdout.flush()
    while True:
        try:
            text = session.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if not done(console, text):
            return


def done(console: Console, text: str) -> bool:
    """Does what was entered at once; returns whether there is to be more."""
    from cypher.console_language import split

    if text.lstrip().startswith(":"):
        return console.do(text)
    statements, rest = split(text)
    for each in (*statements, rest):
        console.do(each)
    return True


def _session(console: Console, source: Input | None, sink: Output | None) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.lexers import PygmentsLexer

    from cypher.console_language import Lexer

    return PromptSession(
        "heliograph> ", input=source, output=sink, multiline=True, key_bindings=_keys(),
        lexer=PygmentsLexer(Lexer), completer=_completer(console), complete_while_typing=False,
        history=FileHistory(str(history_file())),
        prompt_continuation=lambda width, _line, _wrapped: "… ".rjust(width),
    )  # fmt: skip


def _keys() -> KeyBindings:
    """Returns what Enter does: it ends a command, or a statement with its semicolon, and else begins a line."""
    from prompt_toolkit.key_binding import KeyBindings

    from cypher.console_language import split

    keys = KeyBindings()

    @keys.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        text = event.current_buffer.text
        if not text.strip() or text.lstrip().startswith(":") or not split(text)[1].strip():
            event.current_buffer.validate_and_handle()
        else:
            event.current_buffer.insert_text("\n")

    return keys


def _completer(console: Console) -> Any:
    from prompt_toolkit.completion import Completer, Completion

    from cypher.console_language import Words, suggested

    class Suggestions(Completer):
        def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
            words = Words(_query_names(), tuple(console.parameters), console.commands)
            begun, found = suggested(document.text_before_cursor, words)
            return (Completion(each, start_position=-len(begun)) for each in found)

    return Suggestions()


def _query_names() -> tuple[str, ...]:
    from cypher.catalogue import queries

    return tuple(each.name for each in queries())


def history_file() -> Path:
    """Returns the file of what was entered, which nobody else can read."""
    file = private(state_root()) / "console-history"
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
    except OSError as problem:
        raise Failure(Exit.NO_INPUT, f"{file} can't be used: {problem.strerror}") from None
    return file


@contextlib.contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keeps an interrupt from ending the process, as it does elsewhere: here it ends a query."""
    before = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)
