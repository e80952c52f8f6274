"""How long a person waits who has just typed `headlight`: until something is seen, and until the first heads are.

Each time it is a new process on files that were read before. A browser is open already, and comes as soon as the server
answers, as the one that `headlight` opens. Every clock starts with the process. `python -m tests.bench cold_start`
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
# When something was first painted, and the frame after heads and predictions were, as the wall clock has it.
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
    """Seconds from the start of the process until the outline is served, is seen, and the first heads are seen."""

    served: float
    seen: float
    heads: float


def lines() -> Iterator[str]:
    """A row for each start, then medians and the slowest."""
    yield "| start | the outline is served, s | something is seen, s | the first heads are seen, s |"
    yield "|---|---:|---:|---:|"
    starts: list[Start] = []
    with chromium.launched() as browser:
        for number in range(TURNS + 1):  # the first one reads the files
            with TemporaryDirectory() as folder, serve(Path(folder)) as server:
                start = measure(browser, server)
            if number:
                starts.append(start)
                yield _row(str(number), astuple(start))
    columns = list(zip(*map(astuple, starts), strict=True))
    yield _row("median", [median(column) for column in columns])
    yield _row("slowest", [max(column) for column in columns])


def measure(browser: Browser, server: Server) -> Start:
    """One start: the server answers already, and nobody has come yet."""
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
