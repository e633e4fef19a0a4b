"""What a process listens on and is connected to, as Linux tells it."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import NamedTuple

_LISTENING = "0A"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Socket(NamedTuple):
    """A socket of a process."""

    protocol: str
    listening: bool
    local: Address
    port: int
    remote: Address


def sockets(pid: int) -> list[Socket]:
    """Returns the network sockets of the process."""
    mine = set()
    for each in Path("/proc", str(pid), "fd").iterdir():
        try:
            mine.add(str(each.readlink()))
        except OSError:  # closed meanwhile
            continue
    found = []
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path("/proc/net", protocol).read_text().splitlines()[1:]:
            fields = line.split()
            if f"socket:[{fields[9]}]" in mine:
                local, port = fields[1].split(":")
                remote = fields[2].split(":")[0]
                listening = fields[3] == _LISTENING or protocol.startswith("udp")
                found.append(Socket(protocol, listening, _address(local), int(port, 16), _address(remote)))
    return found


def _address(text: str) -> Address:
    """Returns an address that is written as words of four bytes in the machine's order."""
    words = (text[place : place + 8] for place in range(0, len(text), 8))
    packed = b"".join(int(word, 16).to_bytes(4, "little") for word in words)
    address = ipaddress.ip_address(packed)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
