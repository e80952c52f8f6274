"""Waiting time after the command `headlight`: until the first paint, and until the first heads.

Each start is a new process with warm file caches. A browser is already open and loads the page as soon as the server
answers, like the browser that `headlight` opens. Every clock starts with the process.
`python -m tests.bench cold_start`
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

import psutil
from playwright.sync_api import Browser

from tests.bench.typing import DEEP_FIND
from tests.browser import chromium
from tests.browser.server import Server, serve

TURNS = 10
PATIENCE = 120_000  # milliseconds
SKELETON = b"headlight-skeleton"
# Wall-clock times of the first paint, and of the frame after heads and predictions were painted.
WATCH = f"""() => {{
  ({DEEP_FIND})();
  window.times = {{}};
  new PerformanceObserver((list) => {{
    for (const paint of list.getEntries()) window.times[paint.name] = performance.timeOrigin + paint.startTime;
  }}).observe({{ type: "paint", buffered: true }});
  const look = () => {{
    const painted = window.deepFind("instrument")?.dataset.painted;
    if (painted) window.times.heads = performance.timeOrigin + performance.now();
    else requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
}}"""


@dataclass(frozen=True)
class Start:
    """Seconds from the process start until the outline is served and painted, and the first heads are painted."""

    served: float
    seen: float
    heads: float


def lines() -> Iterator[str]:
    """A row for each start, then the medians and the maxima."""
    yield "| start | the outline is served, s | something is seen, s | the first heads are seen, s |"
    yield "|---|---:|---:|---:|"
    starts: list[Start] = []
    with chromium.launched() as browser:
        for number in range(TURNS + 1):  # the first start warms the file caches
            with TemporaryDirectory() as folder, serve(Path(folder)) as server:
                start = measure(browser, server)
            if number:
                starts.append(start)
                yield _row(str(number), astuple(start))
    columns = list(zip(*map(astuple, starts), strict=True))
    yield _row("median", [median(column) for column in columns])
    yield _row("slowest", [max(column) for column in columns])


def measure(browser: Browser, server: Server) -> Start:
    """Open the page on a server that already answers and has had no visitor."""
    began = psutil.Process(server.pid).create_time()
    with urlopen(Request(server.url, headers={"Accept": "text/html"}), timeout=60) as answer:
        assert SKELETON in answer.read()
    served = time.time()
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script(f"({WATCH})()")
    page.goto(server.url, wait_until="commit")
    page.wait_for_function("window.times.heads && window.times['first-paint']", timeout=PATIENCE)
    seen, heads = page.evaluate("[window.times['first-paint'], window.times.heads]")
    page.close()
    return Start(served - began, seen / 1e3 - began, heads / 1e3 - began)


def _row(name: str, seconds: Iterable[float]) -> str:
    return f"| {name} | " + " | ".join(f"{each:.2f}" for each in seconds) + " |"
