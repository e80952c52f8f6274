"""Which names a browser may use for this server, and from which pages it may send requests."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple

DEFAULT_PORTS = {"http": 80, "https": 443}
AUTHORITY = re.compile(r"(\[[0-9a-f:.]+(?:%[\w.~-]+)?\]|[a-z0-9_.-]+)(?::([0-9]{0,5}))?", re.ASCII)


class Authority(NamedTuple):
    """A host name or IP address, with a port or without."""

    name: str
    port: int | None = None

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


def parse_authority(text: str) -> Authority | None:
    """NAME, NAME:PORT or [ADDRESS]:PORT in lower case, without a dot at the end of the name; None if malformed."""
    found = AUTHORITY.fullmatch(text.lower())
    if found is None or int(found[2] or 1) not in range(1, 1 << 16):
        return None
    name = found[1].strip("[]").removesuffix(".")
    address = _address(name)
    if not name or found[1].startswith("[") != (":" in address):
        return None
    return Authority(address or name, int(found[2]) if found[2] else None)


def parse_origin(text: str) -> tuple[str, Authority] | None:
    """The scheme and host of an Origin header; None unless it is http or https."""
    scheme, _, rest = text.partition("://")
    found = parse_authority(rest)
    return (scheme, found) if found and scheme in DEFAULT_PORTS else None


@dataclass(frozen=True)
class Hosts:
    """The names by which browsers may reach this server.

    `names` are accepted as Host, with any port. `named` are the names of `--allow-host`: besides its Host, the server
    accepts them as Origin. `trusts_forwarded`: a proxy says in headers which host and scheme the browser has asked for.
    """

    names: frozenset[str]
    named: frozenset[Authority] = frozenset()
    trusts_forwarded: bool = False

    def knows(self, host: str) -> bool:
        """Whether a Host header is one of this server's names or an IP address."""
        found = parse_authority(host)
        return found is not None and (found.name in self.names or bool(_address(found.name)))

    def accepts(self, origin: str, host: str) -> bool:
        """Whether a page at `origin` may send requests to `host`: it is the same, or the operator named it.

        A name without a port stands for all of its ports only if Host is another name. Otherwise a program at another
        port of this server's name could ask.
        """
        sender, asked = parse_origin(origin), parse_authority(host)
        if sender is None or asked is None:
            return False
        scheme, named = sender
        page, own = (host._replace(port=host.port or DEFAULT_PORTS[scheme]) for host in (named, asked))
        if page == own or page in self.named:
            return True
        return page.name != asked.name and Authority(page.name) in self.named


def known_hosts(listening: str, allowed: Iterable[str], *, trusts_forwarded: bool = False) -> Hosts:
    """The names of this machine, the address it listens on, and what the operator allowed."""
    named = frozenset(filter(None, map(parse_authority, allowed)))
    machine = socket.gethostname().lower()
    names = {"localhost", machine, f"{machine}.local", listening.lower(), *(host.name for host in named)}
    return Hosts(frozenset(names), named, trusts_forwarded)


def _address(name: str) -> str:
    """An IP address in its shortest form; empty if the name is none."""
    try:
        return str(ip_address(name))
    except ValueError:
        return ""
