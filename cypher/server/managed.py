"""The managed server: a Neo4j of this user on this machine, in one folder.

    lock, settings.json, password, server.json    who works with it, what is remembered, who it is, what runs
    jars/VERSION/                                 the server's jars
    home/                                         the database: data, conf, logs

Neo4j Community serves one database besides its own: the one that `initial.dbms.default_database` names, which it
reads at each start. Tried on 5.26.30 and 2026.08.1: after an import into a database of another name, a change of that
setting and a restart, the new store is served and the old one stays as it was (changing the setting back serves it
again); the old one is then listed as of unknown state, and its folders can be deleted, while the server runs too.
The name of a deleted database stays listed and can be used again.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import json
import os
import secrets
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cypher.browser.jar import with_guide
from cypher.connection import USER, Unavailable, connect
from cypher.server import configuration, process
from cypher.server.admin import Imported, Tool, reason, server_environment
from cypher.server.assembly import Assembly
from cypher.server.configuration import Settings
from cypher.server.files import private_folder, read_object, read_private, size_of, write_private
from cypher.server.java import find_java
from cypher.server.process import Process
from cypher.server.progress import Tell, silently

# Seconds until the first answer, and for the server to end by itself.
STARTING, STOPPING = 180.0, 60.0
# Seconds for a server that runs and does not answer: it may be about to end.
SETTLING = 3.0
# Seconds that a database may need to be opened, once the server answers.
_OPENING = 30.0
_TAKEN = "Address already in use"


class Status(NamedTuple):
    """How the server is. Sizes are in bytes; `since` is a time in UTC; what isn't so is None."""

    running: bool
    answers: bool
    version: str
    java: str | None
    pid: int | None
    since: str | None
    uri: str | None
    browser: str | None
    database: str
    database_size: int
    memory: int | None
    folder: str


class _Running(NamedTuple):
    """What is written down of a server that was started."""

    process: Process
    version: str
    since: str
    java: str
    database: str


class Managed:
    """The server in `folder`; `jars` may lie elsewhere. Every method may raise `Unavailable`."""

    def __init__(self, folder: Path, jars: Path | None = None) -> None:
        self.folder = folder
        self.jars = jars or folder / "jars"
        self.home = folder / "home"
        self.log = self.home / "logs" / "console.log"

    # What it is.

    @property
    def settings(self) -> Settings:
        """What the next start uses, if it isn't told otherwise."""
        return configuration.read_settings(self.folder / "settings.json")

    @property
    def uri(self) -> str:
        """The address for drivers."""
        return f"bolt://127.0.0.1:{self.settings.bolt}"

    @property
    def browser_url(self) -> str:
        """The address of Neo4j Browser, with the connection filled in but for the password."""
        return f"http://127.0.0.1:{self.settings.http}/browser/?dbms=bolt://{USER}@127.0.0.1:{self.settings.bolt}"

    def password(self) -> str:
        """Returns the password of the user `neo4j`."""
        found = read_private(self.folder / "password")
        if not found or not found.strip():
            if self._has_run():
                raise Unavailable(
                    f"{self.folder / 'password'} is gone, and with it the only key to the database: remove that "
                    "(`heliograph graph remove`), and start again"
                )
            raise Unavailable("there is no managed server yet; `heliograph graph start` makes one")
        return found.strip()

    def assembly(self, version: str | None = None) -> Assembly:
        """Returns the jars of a version, of the remembered one if it isn't given."""
        version = version or self.settings.version
        return Assembly(self.jars / version, version)

    def is_running(self) -> bool:
        """Returns whether the server's process runs."""
        return self._running() is not None

    def status(self) -> Status:
        """Returns how the server is."""
        settings, running = self.settings, self._running()
        answers = running is not None and _listens(settings.bolt)
        return Status(
            running=running is not None,
            answers=answers,
            version=running.version if running else settings.version,
            java=running.java if running else None,
            pid=running.process.pid if running else None,
            since=running.since if running else None,
            uri=self.uri if running else None,
            browser=self.browser_url if running else None,
            database=settings.database,
            database_size=size_of(self.home / "data"),
            memory=process.memory(running.process.pid) if running else None,
            folder=str(self.folder),
        )

    # Its databases.

    @property
    def default_database(self) -> str:
        """The database that the server serves from its next start on."""
        return self.settings.database

    @default_database.setter
    def default_database(self, name: str) -> None:
        with self._locked(silently):
            self._remember(self.settings._replace(database=configuration.checked_name(name)))

    def databases(self) -> list[str]:
        """Returns the names of all stores on disk."""
        folder = self.home / "data" / "databases"
        if not folder.is_dir():
            return []
        return sorted(each.name for each in folder.iterdir() if each.is_dir() and each.name != "system")

    def import_offline(
        self, database: str, arguments: Sequence[str], folder: Path, tell: Tell = silently
    ) -> Imported:
        """Imports into a new database beside the others, while the server is stopped.

        `arguments` are those of `neo4j-admin database import full` without the name of the database, with files named
        from `folder`. If it fails, nothing of the new store is left. The server serves it after `default_database`
        names it, and a start.
        """
        configuration.checked_name(database)
        with self._locked(tell):
            self._must_be_stopped("import")
            if database in self.databases():
                raise Unavailable(f"there is a database {database} already")
            settings = self.settings
            self._must_fit(settings.version)
            tool = self._prepared(settings, tell)
            try:
                done = tool.import_full(database, arguments, folder, tell)
            except BaseException:
                self._delete_store(database)
                raise
            self._written_by(settings.version)
            return done

    def take_back(self, new: str, old: str) -> None:
        """Deletes `new`, which was to be served, and lets the next start serve `old`, while the server is stopped."""
        with self._locked(silently):
            self._must_be_stopped("return to another database")
            wanted = self.settings._replace(database=configuration.checked_name(old))
            try:
                self._remember(wanted)
            except Unavailable:
                # The disk may be full, of this store.
                self._delete_store(new)
                self._remember(wanted)
            self._delete_store(new)

    def delete_database(self, name: str) -> None:
        """Deletes a store that the server does not serve, now or after its next start."""
        configuration.checked_name(name)
        with self._locked(silently):
            running = self._running()
            if name == self.settings.database or (running and name == running.database):
                raise Unavailable(f"{name} is the database that is served; it can't be deleted")
            self._delete_store(name)

    def _has_run(self) -> bool:
        """Returns whether there is a database with users in it."""
        return (self.home / "data" / "databases" / "system").exists()

    def _delete_store(self, name: str) -> None:
        for kind in ("databases", "transactions"):
            shutil.rmtree(self.home / "data" / kind / name, ignore_errors=True)

    # Its life.

    def start(
        self,
        tell: Tell = silently,
        *,
        version: str | None = None,
        heap: str | None = None,
        page_cache: str | None = None,
        transaction_memory: str | None = None,
        verify: bool = False,
        seconds: float = STARTING,
    ) -> bool:
        """Starts the server and waits for its first answer; returns False if it ran already.

        What is given is remembered for the next start. `verify`: the jars are checked by their hashes, not only sizes.
        """
        given: dict[str, Any] = {
            "version": version, "heap": heap, "page_cache": page_cache, "transaction_memory": transaction_memory,
        }  # fmt: skip
        chosen = {name: value for name, value in given.items() if value is not None}
        with self._locked(tell):
            settings = self.settings
            wanted = configuration.checked(settings._replace(**chosen))
            if running := self._settled():
                if wanted != settings:
                    raise Unavailable(
                        f"Neo4j {running.version} is running; stop it before you start it differently"
                    )
                return False
            self._must_fit(wanted.version)
            tool = self._prepared(wanted, tell, verify=verify)
            for attempt in (1, 2):
                http, bolt = _free_ports(wanted)
                wanted = wanted._replace(http=http, bolt=bolt)
                self._remember(wanted)
                self._configure(wanted)
                try:
                    self._launch(tool, wanted, tell, seconds)
                except Unavailable as problem:
                    # Somebody else took a port since it was found free.
                    if attempt == 1 and _TAKEN in str(problem):
                        continue
                    raise
                break
        return True

    def stop(self, tell: Tell = silently) -> bool:
        """Stops the server; returns False if it didn't run."""
        with self._locked(tell):
            return self._stop(tell)

    def remove(self, tell: Tell = silently, *, everything: bool = False) -> None:
        """Stops the server and deletes its database, and the jars too if it is to be everything."""
        with self._locked(tell):
            self._stop(tell)
            tell("deleting", "")
            try:
                for folder in (self.home, self.jars) if everything else (self.home,):
                    if folder.is_symlink():
                        folder.unlink()
                    elif folder.exists():
                        shutil.rmtree(folder)
                for name in ("password", "settings.json", "server.json"):
                    (self.folder / name).unlink(missing_ok=True)
            except OSError as problem:
                raise Unavailable(f"{problem.filename} can't be deleted: {problem.strerror}") from None

    def _stop(self, tell: Tell) -> bool:
        running = self._running()
        if running is None:
            return False
        tell("stopping Neo4j", "")
        process.stop(running.process, STOPPING)
        (self.folder / "server.json").unlink(missing_ok=True)
        return True

    def _must_be_stopped(self, purpose: str) -> None:
        if running := self._running():
            raise Unavailable(f"Neo4j {running.version} is running; stop it before the {purpose}")

    def _written_by(self, version: str) -> None:
        write_private(self.home / "version", version + "\n")

    def _must_fit(self, version: str) -> None:
        """Refuses a version that is older than the one that wrote the database."""
        written = read_private(self.home / "version")
        if written and configuration.order(written.strip()) > configuration.order(version):
            raise Unavailable(
                f"the database was written by Neo4j {written.strip()}, which {version} can't read: start with "
                f"--neo4j {written.strip()}, or remove it first (`heliograph graph remove`)"
            )

    def _prepared(self, settings: Settings, tell: Tell, *, verify: bool = False) -> Tool:
        """Makes all that a version needs to run: its jars, its home, its password; returns its tool."""
        java = find_java(configuration.needs_java(settings.version), f"Neo4j {settings.version}")
        assembly = self.assembly(settings.version)
        private_folder(self.jars)
        assembly.complete(tell, fully=verify)
        private_folder(self.home)
        for name in ("conf", "data", "import", "logs", "run"):
            private_folder(self.home / name)
        self._configure(settings)
        # The class path is long; in a file it stays out of the list of processes.
        options = self.home / "run" / "java-options"
        jars = with_guide(assembly.class_path(), self.home / "run")
        class_path = os.pathsep.join(map(str, jars))
        write_private(options, "".join(f'"{_escaped(each)}"\n' for each in ("-cp", class_path)))
        tool = Tool((java, *configuration.java_options(settings.heap), f"@{options}"), self.home)
        if self._has_run():
            self.password()
        else:
            password = read_private(self.folder / "password") or secrets.token_hex(32) + "\n"
            write_private(self.folder / "password", password)
            tool.set_password(password.strip())
        return tool

    def _configure(self, settings: Settings) -> None:
        write_private(self.home / "conf" / "neo4j.conf", configuration.configuration(settings))

    def _remember(self, settings: Settings) -> None:
        private_folder(self.folder)
        configuration.write_settings(self.folder / "settings.json", settings)

    def _launch(self, tool: Tool, settings: Settings, tell: Tell, seconds: float) -> None:
        """Starts the process and waits for the first answer."""
        what = f"starting Neo4j {settings.version}"
        tell(what, "")
        home, folder = f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}"
        command = [*tool.java, configuration.main_class(settings.version), home, folder]
        (self.home / "logs" / "neo4j.log").unlink(missing_ok=True)
        try:
            child = process.launch(command, self.home / "run", self.log, server_environment())
        except OSError as problem:
            raise Unavailable(f"{tool.java[0]} can't be run: {problem.strerror}") from None
        try:
            since = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
            document = {
                "pid": child.pid, "birth": child.birth, "version": settings.version, "since": since,
                "java": tool.java[0], "database": settings.database,
            }  # fmt: skip
            write_private(self.folder / "server.json", json.dumps(document, indent=1) + "\n")
            self._wait(child, settings, tell, what, seconds)
        except BaseException:
            process.stop(child, 5)
            (self.folder / "server.json").unlink(missing_ok=True)
            raise

    def _wait(self, child: Process, settings: Settings, tell: Tell, what: str, seconds: float) -> None:
        """Returns after the first answer. Raises `Unavailable` if none comes."""
        began = time.monotonic()
        # Its own word that it holds the ports, so that the password is never sent to who else may listen there.
        while not self._has_started():
            passed = time.monotonic() - began
            if not process.is_alive(child):
                raise Unavailable(f"Neo4j {settings.version} ended while it started: {self._why()}")
            if passed > seconds:
                raise Unavailable(
                    f"Neo4j {settings.version} did not answer within {seconds:.0f} seconds; see {self.log.parent}"
                )
            tell(what, f"{passed:.0f} s")
            time.sleep(0.2)
        answered = time.monotonic()
        while True:
            try:
                connect(self.uri, USER, self.password()).close()
                break
            except Unavailable as problem:
                if not problem.passing or time.monotonic() > answered + _OPENING:
                    raise
                time.sleep(0.2)
        self._written_by(settings.version)

    def _has_started(self) -> bool:
        """Returns whether the server has written that it is ready."""
        try:
            text = (self.home / "logs" / "neo4j.log").read_text("utf-8", errors="replace")
        except OSError:
            return False
        return any(line.endswith(" Started.") for line in text.splitlines())

    def _why(self) -> str:
        """Returns the reason in the logs of a server that did not start, and where they are."""
        texts = []
        for name in ("console.log", "neo4j.log"):
            with contextlib.suppress(OSError):
                texts.append((self.home / "logs" / name).read_text("utf-8", errors="replace")[-100_000:])
        return f"{reason(chr(10).join(texts))} (see {self.log.parent})"

    def _running(self) -> _Running | None:
        """Returns what runs; None if nothing does, whatever was written down."""
        document = read_object(self.folder / "server.json")
        try:
            running = document and _Running(
                Process(int(document["pid"]), str(document["birth"])), str(document["version"]),
                str(document["since"]), str(document["java"]), str(document["database"]),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError):
            running = None
        return running if running and process.is_alive(running.process) else None

    def _settled(self) -> _Running | None:
        """Returns what runs; waits a little for one that doesn't answer and may be about to end."""
        began = time.monotonic()
        while (running := self._running()) and not _listens(self.settings.bolt):
            if time.monotonic() - began > SETTLING:
                break
            time.sleep(0.1)
        return running

    @contextlib.contextmanager
    def _locked(self, tell: Tell) -> Iterator[None]:
        """Keeps other commands from changing the server; the system ends the lock with the process."""
        private_folder(self.folder)
        lock = self.folder / "lock"
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise Unavailable(f"{lock} can't be used: {problem.strerror}") from None
        with os.fdopen(handle, "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                tell("another command is working with the server; waiting for it", "")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _escaped(text: str) -> str:
    """Returns text for between quotes in one of Java's files of options."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _free_ports(settings: Settings) -> tuple[int, int]:
    """Returns ports for HTTP and Bolt that nobody listens on: the remembered ones, the usual ones, or others."""
    http = _free_port(settings.http, configuration.HTTP, other_than=0)
    return http, _free_port(settings.bolt, configuration.BOLT, other_than=http)


def _free_port(*preferred: int, other_than: int) -> int:
    for port in (*preferred, 0, 0):
        free = _bound(port)
        if free is not None and free != other_than:
            return free
    raise Unavailable("there is no free port on 127.0.0.1")


def _bound(port: int) -> int | None:
    """Returns `port`, or a free one instead of 0, if a server could listen on it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError:
            return None
        number: int = probe.getsockname()[1]
        return number


def _listens(port: int) -> bool:
    """Returns whether something answers on the port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
