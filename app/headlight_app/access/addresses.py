"""The addresses of the page, for browsers on this machine and on others."""

from __future__ import annotations

import io
import socket
from ipaddress import IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

import psutil
import segno

from headlight_app.access.settings import settings

LOCAL_NAMES = ("127.0.0.1", "localhost")
# A server on all interfaces has the address of each; this machine uses the loopback address.
ALL_INTERFACES = {"0.0.0.0": (socket.AF_INET, "127.0.0.1"), "::": (socket.AF_INET6, "::1")}
OUTSIDE = ("203.0.113.1", 9)  # an address reserved for documentation; nothing is sent to it


def page_addresses(host: str, port: int) -> tuple[str, ...]:
    """The URLs of a page served at `host`, the one to hand out first."""
    hosts = _interface_addresses(ALL_INTERFACES[host][0]) if host in ALL_INTERFACES else (host,)
    return tuple(_url(each, port) for each in hosts) or (_url("localhost", port),)


def own_address(host: str, port: int) -> str:
    """The URL of a page served at `host` for a browser on this machine."""
    return _url(ALL_INTERFACES[host][1] if host in ALL_INTERFACES else host, port)


def room_address(visited: str, host: str, port: int) -> str:
    """The site at which other machines reach the visited page, without a slash at its end; empty if none can."""
    if not is_local(_split(visited).hostname or "localhost"):
        return page_site(visited)
    first, *_ = page_addresses(host, port)
    return "" if is_local(urlsplit(first).hostname or "") else first


def page_site(visited: str) -> str:
    """The address of the folder of a page, without a slash at its end; all pages are in one folder."""
    seen = _split(visited)
    return f"{seen.scheme}://{seen.netloc}{page_folder(visited)}"


def page_folder(visited: str) -> str:
    """The path of that folder: empty, or the prefix below which the browser sees this server, such as "/lab"."""
    return _split(visited).path.rpartition("/")[0]


def shared_address(visited: str) -> str:
    """The site at which others reach the visited page; empty if none can or the server is not shared."""
    import streamlit as st  # imported here, because the command starts the workers first

    host, *_ = (*settings().hosts, "localhost")
    return room_address(visited, host, st.get_option("server.port")) if settings().shared else ""


def current_room_address() -> str:
    """The same for the current page run."""
    import streamlit as st

    return shared_address(st.context.url or "")


def is_local(host: str) -> bool:
    """Whether a host name or IP address always means the machine itself."""
    try:
        return host in LOCAL_NAMES or ip_address(host).is_loopback
    except ValueError:
        return False


def is_this_machine(address: str) -> bool:
    """Whether a request from this network address comes from the machine that the server runs on."""
    return is_local(address) or any(
        each.address == address for addresses in psutil.net_if_addrs().values() for each in addresses
    )


def announcement(host: str, port: int, with_code: bool) -> str:
    """The lines for the terminal: the addresses of the page and, if others can reach it, a QR code of the first."""
    first, *others = page_addresses(host, port)
    lines = [f"Headlight is at {first} - stop it with Ctrl+C", *(f"and at {other}" for other in others)]
    if with_code and room_address("", host, port):
        lines.append(_terminal_code(first))
    return "\n".join(lines)


def code_picture(address: str) -> str:
    """The QR code of an address as SVG, dark on white in every theme."""
    written = io.BytesIO()
    segno.make(address, micro=False).save(written, kind="svg", light="#fff", xmldecl=False, omitsize=True)
    return written.getvalue().decode()


def _terminal_code(address: str) -> str:
    """A QR code in half-block characters, two rows per line, for light text on a dark background."""
    rows = [[*row] for row in segno.make(address, micro=False).matrix_iter(border=2)]
    rows += [[0] * len(rows[0])] * (len(rows) % 2)
    blocks = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return "\n".join("".join(blocks[above, below] for above, below in zip(*pair, strict=True)) for pair in pairs)


def _url(host: str, port: int) -> str:
    """The URL of a host and port, with the path of this server; an IPv6 address is put in brackets."""
    name = "localhost" if host == "127.0.0.1" else host
    host = f"[{name}]" if ":" in name else name
    return f"http://{host}:{port}{settings().base_path}"


def _split(address: str) -> SplitResult:
    """The parts of an address that comes from a browser, all empty if it is malformed."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _interface_addresses(family: socket.AddressFamily) -> tuple[str, ...]:
    """The addresses of this machine that others can use, the one of the default route first."""
    states = psutil.net_if_stats()
    found = [
        each.address
        for name, addresses in psutil.net_if_addrs().items()
        if name in states and states[name].isup
        for each in addresses
        if each.family == family and "%" not in each.address
    ]
    typed = [each for each in found if not (ip_address(each).is_loopback or ip_address(each).is_link_local)]
    route = _default_route_address()
    return tuple(sorted(typed, key=lambda each: each != route))


def _default_route_address() -> str:
    """The IPv4 address from which this machine reaches others; empty without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(OUTSIDE)
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def network_address(host: str) -> str:
    """The address by which limits count: an IPv6 client's /64 network, since a household has 2^64 addresses.

    An IPv4 address that is written as an IPv6 one, as a server on `::` gets it, is itself. Whoever has an IPv4 address
    has 2^16 such networks of their own (6to4), which are one.
    """
    if ":" not in host:
        return host
    try:
        address = IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.is_loopback:
        return str(address)  # this machine alone (`is_this_machine`)
    return str(address.ipv4_mapped or IPv6Network((address, 48 if address.sixtofour else 64), strict=False))
