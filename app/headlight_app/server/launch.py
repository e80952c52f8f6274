"""The command `headlight` without a verb, which serves the page."""

from __future__ import annotations

import argparse
import gc
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from time import sleep
from urllib.parse import quote

from headlight.cli.terminal.interruptions import ended_at_once
from headlight.errors import HeadlightError
from headlight.origin import headlight_version
from headlight_app.access.addresses import ALL_INTERFACES, announcement, own_address, page_addresses
from headlight_app.access.origins import known_hosts
from headlight_app.access.settings import DEFAULT_UPLOAD_LIMIT, LOCAL_ENGINE, Settings, default_workers, settings
from headlight_app.engine.engine import engine
from headlight_app.engine.worker_environment import STATUS_TOKEN
from headlight_app.server.proxy_options import add_proxy_options

SCRIPT = Path(__file__).parent.parent / "frame" / "script" / "headlight_page.py"
SKELETON = Path(__file__).parent.parent / "frame" / "static" / "skeleton.html"
MODELS_VARIABLE = "HEADLIGHT_MODELS"
PORT = 8501
MAX_MEGABYTES = 1_000_000  # MB, for any option
MAX_WORKERS = 64
MAX_SENT = 32  # MB of one message to a page


def main(arguments: Sequence[str] | None = None, other_verbs: Callable[[], str] = str) -> int:
    """Serve the page until it is stopped. Returns the exit status: 0, or 2 with a sentence on standard error.

    `other_verbs` gives the text about the other verbs, printed below the help.
    """
    # If OpenMP threads wait for each other on busy cores, a 20 ms answer takes 200 ms.
    # Two questions run at a time, so half the cores for each gives steady times.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // 2)))
    # The event loop waits this long for each thread that runs a page; Python's default is 5 ms.
    sys.setswitchinterval(1e-3)
    options = _parser(other_verbs()).parse_args(arguments)
    problem = (
        _register_model_folders(options.models, options.engine)
        or _scenes_problem(options.scenes)
        or _port_problem(options.host, options.port)
    )
    if problem:
        print(f"headlight: {problem}", file=sys.stderr)
        return 2
    os.environ.update(_settings(options).to_environment())
    return _serve(options)


def _parser(other_verbs: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headlight",
        description="Opens a page that shows what every attention head of a transformer looks at.",
        epilog=other_verbs,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=_port, default=PORT, help=f"default: {PORT}")
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="do not open a browser")
    parser.add_argument(
        "--models",
        action="append",
        default=[],
        metavar="DIR",
        help=f"a folder of models, repeatable; also ${MODELS_VARIABLE}; with --engine a folder on all its machines",
    )
    parser.add_argument("--model", default="", metavar="NAME", help="the model that the browser opens first")
    parser.add_argument(
        "--shared", action="store_true", help="visitors cannot open paths of this machine; implied by other --host"
    )
    parser.add_argument(
        "--hub-cache",
        action=argparse.BooleanOptionalAction,
        help="offer the models in the Hugging Face cache (default: unless the server is shared)",
    )
    parser.add_argument(
        "--upload-limit",
        type=_megabytes,
        default=DEFAULT_UPLOAD_LIMIT,
        metavar="MB",
        help=f"largest upload; 0 for none (default: {DEFAULT_UPLOAD_LIMIT})",
    )
    parser.add_argument(
        "--memory-limit",
        type=_megabytes,
        default=0,
        metavar="MB",
        help="memory for the open models of a worker (default: a share of the free memory)",
    )
    parser.add_argument(
        "--workers",
        type=_workers,
        default=workers_here(),
        metavar="N",
        help="processes that answer keystrokes; one more does the long work (default here: %(default)s)",
    )
    parser.add_argument(
        "--engine",
        default=LOCAL_ENGINE,
        metavar="ray://HOST:PORT",
        help="a Ray cluster that answers instead of this machine, on its GPUs if it has any",
    )
    parser.add_argument(
        "--scenes", default="", metavar="FILE", help="a saved list of scenes, offered to the browsers of this machine"
    )
    add_proxy_options(parser)
    parser.add_argument("--version", action="version", version=f"headlight {headlight_version()}")
    return parser


def workers_here() -> int:
    """The default number of workers on this machine; detects a GPU without importing torch."""
    has_gpu = Path("/dev/nvidiactl").exists() or sys.platform == "darwin"
    return default_workers(os.cpu_count() or 1, has_gpu)


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; it must be a number from 1 to 65535")
    return int(text)


def _workers(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= MAX_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of workers; it must be from 1 to {MAX_WORKERS}")
    return int(text)


def _megabytes(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= MAX_MEGABYTES):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; use a whole number of MB up to {MAX_MEGABYTES:,}")
    return int(text)


def _settings(options: argparse.Namespace) -> Settings:
    shared = options.shared or not _is_loopback(options.host)
    cache = not shared if options.hub_cache is None else options.hub_cache
    return Settings(
        shared,
        cache,
        options.upload_limit,
        options.memory_limit,
        options.workers,
        (options.host, *options.allow_host),
        options.engine,
        str(Path(options.scenes).resolve()) if options.scenes else "",
        options.base_path,
    )


def _is_loopback(host: str) -> bool:
    """Whether a host name resolves only to loopback addresses."""
    found = {str(address[0]) for *_, address in socket.getaddrinfo(host, None)}
    return all(ip_address(address.partition("%")[0]).is_loopback for address in found)


def _register_model_folders(folders: Sequence[str], engine: str) -> str:
    """Set the variable of model folders. Returns an error sentence if a local folder is missing, else ""."""
    resolved = list(folders)
    if engine == LOCAL_ENGINE:
        for folder in folders:
            if not Path(folder).exists():
                return f"there is no folder {folder!r} to take models from."
        resolved = [str(Path(folder).resolve()) for folder in folders]
    os.environ[MODELS_VARIABLE] = os.pathsep.join([*resolved, *filter(None, [os.environ.get(MODELS_VARIABLE)])])
    return ""


def _scenes_problem(file: str) -> str:
    """An error sentence if the file is not a list of scenes, else ""."""
    if not file:
        return ""
    from headlight_app.room.scenes import read_scenes

    try:
        read_scenes(Path(file))
    except HeadlightError as error:
        return str(error)
    return ""


def _opened_address(options: argparse.Namespace) -> str:
    """The URL that the browser opens."""
    model = f"/?model={quote(options.model)}" if options.model else ""
    return page_addresses(options.host, options.port)[0] + model


def _port_problem(host: str, port: int) -> str:
    """An error sentence if the port cannot be used, else ""."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            if os.name != "nt":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if isinstance(error, socket.gaierror):
            return f"{host!r} is not an address of this machine. Leave --host out to listen on this machine only."
        return f"port {port} on {host} is not free ({error.strerror}). Choose another: headlight --port {port + 1}"
    return ""


def _serve(options: argparse.Namespace) -> int:
    """Serve the page until it is stopped."""
    try:
        engine().start()  # workers import torch while this process imports Streamlit and the page
    except HeadlightError as error:
        print(f"headlight: {error}", file=sys.stderr)
        return 2
    gc.disable()  # imports create no garbage, so collecting would waste time
    with ended_at_once():
        run = _import_page(options)
    gc.enable()
    try:
        run()
    except KeyboardInterrupt:
        print()
    return 0


def _import_page(options: argparse.Namespace) -> Callable[[], None]:
    """Import the page and print its address. Returns the function that serves it."""
    host, port = options.host, options.port
    import streamlit as st
    from starlette.middleware import Middleware

    from headlight_app.room.rooms import Rooms
    from headlight_app.server.connections.bodies import BodyLimiter, UploadLimiter
    from headlight_app.server.connections.http_protocol import use_limits
    from headlight_app.server.connections.sessions import QuietConnections
    from headlight_app.server.hosts import HostCheck
    from headlight_app.server.lifespan import lifespan, on_script_error
    from headlight_app.server.middleware import SecurityHeaders, SkeletonMiddleware, VisitorMiddleware
    from headlight_app.server.pace import Pace
    from headlight_app.server.paths import BasePath, PageAddresses
    from headlight_app.server.routes import routes
    from headlight_app.server.shared_files import SharedFiles
    from headlight_app.server.status import STATUS_PATH, StatusPage

    token = os.environ.get(STATUS_TOKEN) or secrets.token_urlsafe(32)
    print(announcement(host, port, with_code=sys.stdout.isatty()), flush=True)
    if settings().shared:
        print(f"its figures, for the operator only: {own_address(host, port)}{STATUS_PATH}?token={token}", flush=True)
    if options.browser:
        threading.Thread(target=open_browser_when_up, args=(host, port, _opened_address(options)), daemon=True).start()
    sys.argv = [str(SCRIPT)]  # Streamlit looks for its config in this folder
    config = {
        "server.address": host,
        "server.port": port,
        "server.baseUrlPath": "",  # BasePath has taken the prefix off
        "server.maxUploadSize": max(1, settings().upload_limit),
        "server.maxMessageSize": MAX_SENT,
        "logger.hideWelcomeMessage": True,
    }
    hosts = known_hosts(host, options.allow_host, trusts_forwarded=options.trust_forwarded)
    middleware = [
        Middleware(HostCheck, hosts),
        *([Middleware(BasePath, options.base_path)] if options.base_path else []),
        Middleware(SecurityHeaders, options.embed_in),
        Middleware(VisitorMiddleware, in_frames=bool(options.embed_in)),
        *([Middleware(Pace)] if settings().shared else []),
        Middleware(SharedFiles, compresses=settings().shared),
        Middleware(StatusPage, token),
        Middleware(PageAddresses, _page_paths),
        Middleware(SkeletonMiddleware, SKELETON.read_bytes(), _preloads),
        Middleware(UploadLimiter),
        Middleware(BodyLimiter),
        Middleware(QuietConnections),
    ]
    _prepare_pages()
    use_limits()
    rooms = Rooms()
    app = st.App(
        SCRIPT,
        routes=routes(rooms),
        middleware=middleware,
        lifespan=partial(lifespan, rooms=rooms),
        on_script_error=on_script_error,
    )
    return partial(app.run, config=config)


def _preloads() -> bytes:
    """HTML that makes the browser preload the script of the page."""
    from headlight_app.ui.modules import preload

    return preload().encode()


def _page_paths() -> Iterable[str]:
    """The paths of all pages."""
    from headlight_app.frame.main import TITLES

    return TITLES


def _prepare_pages() -> None:
    """Import the pages before the first visitor arrives, and make Streamlit ignore invalid widget states."""
    from headlight_app.contract.prepare import prepare_types
    from headlight_app.state.widget_states import ignore_misfits

    import_module("headlight_app.frame.main")
    prepare_types()
    ignore_misfits()


def open_browser_when_up(host: str, port: int, address: str) -> None:
    """Open the browser once the server answers; give up after half a minute."""
    _, reached_at = ALL_INTERFACES.get(host, (None, host))
    for _ in range(150):
        try:
            socket.create_connection((reached_at, port), timeout=1).close()
        except OSError:
            sleep(0.2)
        else:
            webbrowser.open(address)
            return
