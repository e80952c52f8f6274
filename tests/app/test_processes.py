"""The imports of each process: the serving process loads no model and reads no untrusted file."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARIES = ("torch", "tokenizers", "safetensors", "sentencepiece", "PIL.Image")  # for opening untrusted files
SLOW = ("pandas", "pyarrow")  # their import would delay the first visitor
SERVE = """
import json, sys

import headlight_app.command, headlight_app.frame.main, headlight_app.server.launch
import headlight_app.server.lifespan, headlight_app.server.routes
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headlight_app.engine.engine import engine
from headlight_app.room.rooms import Rooms
from tests.app.pages import alone, open_app, unfolded


def imported():
    return [name for name in %r if name in sys.modules]


def first_page():
    page = open_app(model="next")
    found["imported_for_the_first_page"] = imported()
    return page


if __name__ == "__main__":
    found = {"imported_at_first": imported()}
    def ask(route, **fields):
        question = {"model": "next", "text": "the cat sat"}
        reply = client.post("/api/" + route, json={"question": question, **fields}).content
        return json.loads(reply[4 : 4 + int.from_bytes(reply[:4], "little")])

    client = TestClient(Starlette(routes=headlight_app.server.routes.routes(Rooms())))
    engine().start()
    found["tokens"] = [token["text"] for token in ask("trace")["tokens"]]
    frame = unfolded(first_page(), "numbers", "source_code")
    found["charts"] = len(frame.get("plotly_chart"))
    pages = [*(alone(name, model="next") for name in ("compare", "generate", "positions", "models")), frame]
    frame.run()
    found["first_job_of_a_worker"] = ask("long_analysis", analysis="token_rankings")
    found["problems"] = [str(problem.value) for page in pages for problem in (*page.exception, *page.error)]
    found["imported_at_last"] = imported()
    engine().close()
    print(json.dumps(found))
"""


def test_the_process_that_serves_people_opens_no_model_and_a_worker_answers(toys: Path) -> None:
    environment = os.environ | {"HEADLIGHT_MODELS": str(toys), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SERVE % (LIBRARIES + SLOW,)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found["imported_at_first"] and not found["imported_for_the_first_page"]
    assert set(found["imported_at_last"]) <= set(SLOW)
    assert "error" not in found["first_job_of_a_worker"], (
        "the worker starts after Streamlit has replaced __main__ by a page"
    )
    assert found["tokens"][-1] == " sat" and found["charts"] == 2 and not found["problems"]
