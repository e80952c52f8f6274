"""An hour of visitors who come, type, switch heads and leave: does the memory of server and workers stay constant?

Each minute new visitors come, with new cookies, texts and heads; half of them use another model, one sends slow
requests, one calls every route, and one uploads a checkpoint in a browser. `python -m tests.bench soak [--minutes 60]
[--visitors 6] [--settled 10]`
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Error, expect

from headlight.checkpoints import save
from headlight_app.server.routes import http_requests
from tests.app.asking import body, unpack
from tests.bench.classroom import MODEL, STORY, Attacker, Session
from tests.bench.measure import Times, at_once
from tests.bench.memory import MEGABYTE, descendants, memory
from tests.browser import chromium
from tests.browser.server import Server, serve
from tests.browser.visitor import Visitor
from tests.model import toys
from tests.zips import files_of, zipped

MODELS = (MODEL, "stories-masked")
MINUTE, ATTACK_SECONDS = 60.0, 5.0
PATIENCE = 60_000.0  # milliseconds that a browser waits for a page
# Fields that routes require besides a question; a route without its other fields answers with an error sentence.
ASKED: Mapping[str, dict[str, object]] = {
    **{name: {"attention": "decoder.1.self"} for name in ("walkthrough", "step_code")},
    "query_key_weights": {"query": 3, "key": 1},
    "analysis": {"analysis": "logit_attribution"},
    "long_analysis": {"analysis": "token_rankings"},
    "analysis_step": {"analysis": "head_ablation"},
    "compare": {"sides": [{"model": MODEL, "text": STORY}, {"model": MODELS[1], "text": STORY}]},
}


def lines(minutes: int, visitors: int, settled: int) -> Iterator[str]:
    """A row for each minute, then the last minute's memory as a share of the memory at minute `settled`."""
    yield "| minute | server MB | each worker, MB | letters | median ms | p95 ms |"
    yield "|---:|---:|---:|---:|---:|---:|"
    totals: list[int] = []
    wrong: list[str] = []
    with TemporaryDirectory() as folder, serve(Path(folder)) as server:
        save(Path(folder, "tiny"), toys.decoder(context_length=64), toys.causal())
        archive = zipped(files_of(Path(folder, "tiny")))
        for minute in range(1, minutes + 1):
            sessions = _minute(server, minute, visitors, archive, wrong)
            own, *workers = (memory(pid).pss for pid in (server.pid, *descendants(server.pid)))
            totals.append(own + sum(workers))
            letters = [seconds for session in sessions for seconds in session.keys]
            times = Times.of(letters or [0.0])
            each = " + ".join(str(taken // MEGABYTE) for taken in workers)
            yield (
                f"| {minute} | {own // MEGABYTE} | {each} | {len(letters)} | {times.middle:.0f} | {times.slow:.0f} |"
            )
            wrong += [sentence for session in sessions for sentence in session.wrong]
    if len(totals) > settled:
        yield f"\nThe last minute's memory is {totals[-1] / totals[settled - 1]:.3f} of minute {settled}'s."
    yield f"\n{len(wrong)} errors or mix-ups{': ' + '; '.join(wrong[:5]) if wrong else ''}"


def _minute(server: Server, minute: int, visitors: int, archive: bytes, wrong: list[str]) -> list[Session]:
    """Run one minute of new visitors; errors of the last two are added to `wrong`."""
    sessions = [
        Session(server, minute * visitors + number, MINUTE - ATTACK_SECONDS, model=MODELS[number % len(MODELS)])
        for number in range(visitors)
    ]
    lives: list[Callable[[], None]] = [
        *(session.live for session in sessions),
        Attacker(server, ATTACK_SECONDS).live,
        partial(_ask_every_route, server, minute, wrong),
        partial(_bring, server, archive, wrong),
    ]
    until = time.monotonic() + MINUTE
    at_once(lives)
    time.sleep(max(0.0, until - time.monotonic()))
    return sessions


def _ask_every_route(server: Server, minute: int, wrong: list[str]) -> None:
    """A visitor who calls every route once, with this minute's text."""
    question = {"model": MODEL, "text": f"{minute} {STORY}"}
    details = {"path": "decoder.1.self.weights", "layer": 1, "head": 2, "neuron": 3, "threshold": 0.01, "format": "csv"}
    headers = server.new_visitor()
    for kind in http_requests():
        name, taken = kind.route, {key: value for key, value in details.items() if key in kind.__struct_fields__}
        about = question if "question" in kind.__struct_fields__ else {}
        content = json.dumps(body(name, **about, **taken, **ASKED.get(name, {})))
        try:
            said = str(unpack(server.post(name, content, headers))[0].get("error", ""))
        except (OSError, ValueError) as error:
            said = f"went wrong: {error}"
        if "went wrong" in said:
            wrong.append(f"{name}: {said}"[:200])


def _bring(server: Server, archive: bytes, wrong: list[str]) -> None:
    """A visitor who uploads a checkpoint in a browser, opens it, sees its predictions, and leaves."""
    try:
        with chromium.launched() as browser:
            visitor = Visitor(browser.new_page(), server.url)
            visitor.page.set_default_timeout(PATIENCE)
            page = visitor.open(path="/models")
            chooser = page.get_by_test_id("stFileUploader").locator("input[type=file]")
            chooser.set_input_files({"name": "tiny.zip", "mimeType": "application/zip", "buffer": archive})
            mine = page.locator("[class*=st-key-card]").filter(has=page.get_by_role("heading", name="tiny", exact=True))
            mine.get_by_role("button", name="Open").click()
            expect(page).to_have_url(re.compile("model=upload-tiny-"), timeout=PATIENCE)
            expect(page.get_by_test_id("predictions")).to_contain_text("%", timeout=PATIENCE)
    except (Error, AssertionError, chromium.MissingBrowser) as error:  # reported below the table; the others continue
        wrong.append(f"an upload: {error}"[:200])


def main(arguments: Sequence[str]) -> None:
    """`python -m tests.bench soak [--minutes N] [--visitors N]`."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench soak", description=__doc__)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--visitors", type=int, default=6)
    parser.add_argument("--settled", type=int, default=10, help="the minute to compare the last one with")
    options = parser.parse_args(arguments)
    for line in lines(options.minutes, options.visitors, options.settled):
        print(line, flush=True)
