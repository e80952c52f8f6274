"""Drives an installed Firefox by WebDriver BiDi, as far as a live page needs it."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from websockets.sync.client import ClientConnection, connect

COMMANDS = ("firefox-esr", "firefox")
PREFERENCES = {
    "network.proxy.type": 1,  # everything else than a file goes to a port that nobody serves: no network
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
}
EVENTS = ["log.entryAdded", "network.beforeRequestSent"]
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
ELEMENTS = """const all = (selector) => [document, ...[...document.querySelectorAll("*")]
    .flatMap((each) => each.shadowRoot ?? [])].flatMap((root) => [...root.querySelectorAll(selector)]);
const get = (id) => all(`[data-testid="${id}"]`)[0];"""
CENTRE = """(() => {{ {elements}
    const element = get({name}); element.scrollIntoView({{ block: "center" }});
    const box = element.getBoundingClientRect();
    return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)].join();
}})()"""
CHOOSE = """(() => {{ {elements}
    const choice = get({name}); choice.value = {value};
    for (const kind of ["input", "change"]) choice.dispatchEvent(new Event(kind, {{ bubbles: true }}));
}})()"""
END = "\ue010"
PATIENCE = 180.0  # seconds


class Firefox:
    """One window. `asked` has the addresses of its requests but files, `errors` what its console and its policy say."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.sent = socket, 0
        self.asked, self.errors = list[str](), list[str]()
        self.tell("session.new", capabilities={})
        self.context = self.tell("browsingContext.getTree")["contexts"][0]["context"]
        self.tell("session.subscribe", events=EVENTS)

    def tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command and returns its result; what the window reports meanwhile is kept."""
        self.sent += 1
        self.socket.send(json.dumps({"id": self.sent, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv(PATIENCE))).get("id") != self.sent:
            self._keep(answer.get("method"), answer.get("params"))
        assert answer["type"] == "success", answer
        return dict(answer["result"])

    def _keep(self, event: str, told: dict[str, Any]) -> None:
        if event == "network.beforeRequestSent":
            self.asked.append(told["request"]["url"])
        elif event == "log.entryAdded" and told["level"] == "error":
            self.errors.append(str(told["text"]))

    def on_screen(self, width: int, height: int) -> None:
        self.tell("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def open(self, url: str) -> None:
        self.tell("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def read(self, expression: str) -> Any:
        """The value of an expression, in which `get(id)` and `all(selector)` find elements."""
        source = f"JSON.stringify((() => {{ {ELEMENTS} return {expression}; }})() ?? null)"
        return json.loads(self._evaluate(source)["value"])

    def _evaluate(self, source: str) -> dict[str, Any]:
        target = {"context": self.context}
        answer = self.tell("script.evaluate", expression=source, target=target, awaitPromise=False)
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return dict(answer["result"])

    def wait(self, expression: str) -> None:
        """Waits until an expression is true."""
        end = monotonic() + PATIENCE
        while not self.read(expression):
            assert monotonic() < end, f"{expression}; errors: {self.errors}"
            sleep(0.02)

    def click(self, name: str) -> None:
        """Presses the mouse in the middle of the element that a test id names."""
        place = self._evaluate(CENTRE.format(elements=ELEMENTS, name=json.dumps(name)))["value"]
        x, y = (int(each) for each in place.split(","))
        buttons = [{"type": f"pointer{to}", "button": 0} for to in ("Down", "Up")]
        self._act("pointer", [{"type": "pointerMove", "x": x, "y": y}, *buttons])

    def type(self, text: str, milliseconds: int) -> None:
        """Presses one key after another in the focused element."""
        pause: dict[str, Any] = {"type": "pause", "duration": milliseconds}
        keys = ([{"type": kind, "value": key} for kind in ("keyDown", "keyUp")] for key in text)
        self._act("key", [action for key in keys for action in (*key, pause)])

    def _act(self, kind: str, actions: list[dict[str, Any]]) -> None:
        source = {"type": kind, "id": kind, "actions": actions}
        self.tell("input.performActions", context=self.context, actions=[source])

    def choose(self, name: str, value: str) -> None:
        self._evaluate(CHOOSE.format(elements=ELEMENTS, name=json.dumps(name), value=json.dumps(value)))


def find() -> str | None:
    """The path of an installed Firefox, or None."""
    return next((path for command in COMMANDS if (path := shutil.which(command))), None)


@contextmanager
def launched(path: str) -> Iterator[Firefox]:
    """A headless Firefox with a profile of its own until the block ends."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
        (Path(folder) / "user.js").write_text("".join(lines), encoding="utf-8")
        command = [path, "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port=0", "about:blank"]
        log = Path(folder) / "log"
        with log.open("w") as file:
            running = subprocess.Popen(command, stdout=file, stderr=file, env=os.environ | {"HOME": folder})
        try:
            with connect(f"{_address(running, log)}/session", max_size=None, proxy=None) as socket:
                yield Firefox(socket)
        finally:
            running.terminate()
            running.wait(PATIENCE)


def _address(running: "subprocess.Popen[bytes]", log: Path) -> str:
    end = monotonic() + PATIENCE
    while (found := LISTENING.search(log.read_text(errors="replace"))) is None:
        assert running.poll() is None and monotonic() < end, log.read_text(errors="replace")
        sleep(0.1)
    return found[1]
