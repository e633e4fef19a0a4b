"""The server's settings: what the user chose, and what keeps it to this machine.

Tried on Neo4j 5.26.30 and 2026.08.1: the allowlist of procedures holds for loaded ones only; what is built in
(`dbms.listConfig`, `dbms.killConnection` …) stays, so ad-hoc queries need a guard of their own. `LOAD CSV` is
closed by two settings: files by `allow_csv_import_from_file_urls`, everything else by the list of addresses that
Cypher must not reach, which is not in the manual. Community has no setting that keeps the Browser from loading
what its makers have elsewhere; the content security policy does that.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from cypher.browser.guide import on_connecting
from cypher.connection import Unavailable
from cypher.server.files import read_object, write_private

DEFAULT_VERSION = "5.26.30"
NEWEST_VERSION = "2026.08.1"
HTTP, BOLT = 7474, 7687

_VERSION = re.compile(r"5\.26\.\d{1,3}|20(?:2[6-9]|[3-9]\d)\.\d{2}\.\d{1,3}")
_SIZE = re.compile(r"[1-9]\d{0,5}[kmg]")
_DATABASE = re.compile(r"[a-z][a-z0-9.-]{1,61}[a-z0-9]")

# What the Browser and this project call. (All of them are built in, and so would run without being listed.)
PROCEDURES = (
    "db.awaitIndex", "db.awaitIndexes", "db.index.fulltext.queryNodes", "db.index.fulltext.queryRelationships",
    "db.info", "db.labels", "db.ping", "db.propertyKeys", "db.relationshipTypes", "db.schema.*",
    "dbms.clientConfig", "dbms.cluster.routing.getRoutingTable", "dbms.components", "dbms.info",
    "dbms.routing.getRoutingTable", "dbms.showCurrentUser",
)  # fmt: skip


class Settings(NamedTuple):
    """What is remembered between two starts. Sizes are written as Neo4j wants them: `512m`, `1g`."""

    version: str = DEFAULT_VERSION
    http: int = HTTP
    bolt: int = BOLT
    heap: str = "1g"
    page_cache: str = "512m"
    transaction_memory: str = "1g"
    database: str = "neo4j"


def read_settings(file: Path) -> Settings:
    """Returns the settings in `file`, the usual ones if there is none. Raises `Unavailable`."""
    document = read_object(file) or {}
    known = {name: document[name] for name in Settings._fields if name in document}
    if any(type(value) is not type(Settings._field_defaults[name]) for name, value in known.items()):
        raise Unavailable(f"{file} is damaged; remove it")
    return checked(Settings(**known))


def write_settings(file: Path, settings: Settings) -> None:
    """Keeps settings for the next start."""
    write_private(file, json.dumps(settings._asdict(), indent=1) + "\n")


def checked(settings: Settings) -> Settings:
    """Returns `settings` if they can be written into a configuration. Raises `Unavailable`."""
    if not _VERSION.fullmatch(settings.version):
        raise Unavailable(
            f"{settings.version!r} is no version of Neo4j that can be managed: name one of 5.26 or of 2026 and later, "
            f"such as {DEFAULT_VERSION} or {NEWEST_VERSION}"
        )
    for size in (settings.heap, settings.page_cache, settings.transaction_memory):
        if not _SIZE.fullmatch(size):
            raise Unavailable(f"{size!r} is no size; write it like 512m or 2g")
    for port in (settings.http, settings.bolt):
        if not 0 < port < 1 << 16:
            raise Unavailable(f"{port} is no port")
    checked_name(settings.database)
    return settings


def checked_name(database: str) -> str:
    """Returns the name of a database, if Neo4j takes it. Raises `Unavailable`.

    >>> checked_name("graph-2")
    'graph-2'
    """
    if not _DATABASE.fullmatch(database) or database.startswith("system"):
        raise Unavailable(
            f"{database!r} can't name a database: 3 to 63 of a–z, 0–9, dot and hyphen, a letter first, not system…"
        )
    return database


def is_calendar(version: str) -> bool:
    """Returns whether the version is numbered by year and month."""
    return not version.startswith("5.")


def needs_java(version: str) -> int:
    """Returns the oldest Java that runs a version."""
    return 21 if is_calendar(version) else 17


def main_class(version: str) -> str:
    """Returns the class that runs the server."""
    return (
        "org.neo4j.server.Neo4jCommunity" if is_calendar(version) else "org.neo4j.server.CommunityEntryPoint"
    )


def order(version: str) -> tuple[int, ...]:
    """Returns what versions are sorted by."""
    return tuple(map(int, version.split(".")))


def configuration(settings: Settings) -> str:
    """Returns `neo4j.conf`. Paths in it are relative to the server's home."""
    http, bolt = f"127.0.0.1:{settings.http}", f"127.0.0.1:{settings.bolt}"
    policy = (
        "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; "
        f"object-src 'none'; frame-ancestors 'none'; connect-src 'self' ws://{bolt} ws://localhost:{settings.bolt}"
    )
    lines = {
        # This machine only.
        "server.default_listen_address": "127.0.0.1",
        "server.default_advertised_address": "127.0.0.1",
        "server.bolt.listen_address": bolt,
        "server.bolt.advertised_address": bolt,
        "server.http.listen_address": http,
        "server.http.advertised_address": http,
        "server.https.enabled": "false",
        "server.http_enabled_modules": "BROWSER",
        "dbms.security.http_access_control_allow_origin": f"http://{http}",
        "dbms.security.http_static_content_security_policy_header": policy,
        "browser.remote_content_hostname_whitelist": "127.0.0.1,localhost",
        "browser.post_connect_cmd": on_connecting(f"http://{http}/browser"),
        # Nothing is reported.
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        "server.bolt.telemetry.enabled": "false",
        # Nobody gets in without the password, and no query gets out.
        "dbms.security.auth_enabled": "true",
        "server.directories.import": "import",
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
        "dbms.security.procedures.allowlist": ",".join(PROCEDURES),
        "dbms.security.procedures.unrestricted": "",
        # Bounds.
        "db.memory.transaction.max": settings.transaction_memory,
        "server.memory.pagecache.size": settings.page_cache,
        # What is in the log of transactions can be loaded again from a run: it gets little room and no history.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "64m",
        "db.tx_log.rotation.retention_policy": "keep_none",
        "initial.dbms.default_database": settings.database,
    }
    # Without this, the server waits five or ten seconds for nobody when it stops.
    quiet = "internal.dbms.bolt.netty_server_shutdown_quiet_period"
    lines.update({f"{quiet}_duration": "0s"} if is_calendar(settings.version) else {quiet: "0"})
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def java_options(heap: str) -> list[str]:
    """Returns the options with which Java runs the server and its tools."""
    return [
        f"-Xmx{heap}", "-XX:+UseG1GC", "-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError",
        "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/java.io=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
        "--enable-native-access=ALL-UNNAMED", "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dlog4j2.disable.jmx=true", "-Dfile.encoding=UTF-8",
    ]  # fmt: skip
