"""A visitor without a browser: requests, page sessions and uploads over the network."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets.sync.client import ClientConnection, connect

from tests.app.asking import unpack
from tests.browser.server import Server

PATIENCE = 60.0  # seconds for an answer
HTML = {"Accept": "text/html"}
JSON = {"Content-Type": "application/json"}
UPLOAD = re.compile(rb"open (upload-[\w-]+)")  # the key of the button that opens it


@dataclass(frozen=True)
class Answer:
    """A response; the headers' names are in lower case."""

    status: int
    content: bytes
    headers: dict[str, str]

    def json(self) -> dict[str, Any]:
        """The JSON of a reply; the text of any other response as its error."""
        kind = self.headers.get("content-type", "")
        return unpack(self.content)[0] if "octet-stream" in kind else {"error": self.content.decode()}


@dataclass
class Stranger:
    """A client at a network address, which sends `cookie` with each request; empty for none."""

    server: Server
    address: str = "127.0.0.1"
    cookie: str = ""
    asked: int = field(default=0, compare=False)

    @property
    def host(self) -> str:
        """The server's address for this client."""
        return "::1" if ":" in self.address else "127.0.0.1"

    def arrive(self) -> "Stranger":
        """Fetch the page, and keep its cookie."""
        self.cookie = self.send("GET", "/", **HTML).headers["set-cookie"].partition(";")[0]
        return self

    def send(self, method: str, path: str, content: bytes | str = b"", **headers: str) -> Answer:
        """The response to one request; underscores in the names of headers stand for hyphens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = ({"Cookie": self.cookie} if self.cookie else {}) | sent
        self.asked += 1
        with closing(HTTPConnection(self.host, self.server.port, PATIENCE, source_address=(self.address, 0))) as line:
            line.request(method, path, content, sent)
            answer = line.getresponse()
            return Answer(answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()})

    def ask(self, route: str, **fields: Any) -> dict[str, Any]:
        """The JSON of the answer of a route."""
        return self.send("POST", f"/api/{route}", json.dumps(fields), **JSON).json()

    def store(self, data: bytes, kind: str = "image/png") -> str:
        """Send a picture or recording; returns its name."""
        return str(self.send("POST", "/api/image", data, Content_Type=kind).json()["name"])

    @contextmanager
    def open(self, **headers: str) -> Iterator["Session"]:
        """A session of the page."""
        origin = f"http://{'[::1]' if self.host == '::1' else self.host}:{self.server.port}"
        sent = ({"Cookie": self.cookie} if self.cookie else {}) | headers
        with connect(
            f"{origin.replace('http', 'ws')}/_stcore/stream",
            max_size=None,
            max_queue=None,  # a session with more unread messages would answer no ping, and the server would end it
            ping_interval=None,
            additional_headers=sent,
            source_address=(self.address, 0),
        ) as line:
            yield Session(self, line)


@dataclass
class Session:
    """An open page."""

    visitor: Stranger
    line: ClientConnection
    session_id: str = ""

    def run(self, page: str = "", query: Mapping[str, str] | None = None, *widgets: WidgetState) -> list[ForwardMsg]:
        """All messages of one run of a page."""
        message = BackMsg()
        message.rerun_script.query_string = urlencode(query or {})
        message.rerun_script.page_name = page
        message.rerun_script.widget_states.widgets.extend(widgets)
        told = self._exchange(message, "script_finished")
        self.session_id = next((each.new_session.initialize.session_id for each in told), "") or self.session_id
        return told

    def upload(self, name: str, data: bytes) -> str:
        """Upload a checkpoint on the Models page; returns its name once it is open."""
        form = next(
            each.delta.new_element.file_uploader
            for each in self.run("models")
            if each.delta.new_element.HasField("file_uploader")
        )
        message = BackMsg()
        message.file_urls_request.file_names.append(name)
        message.file_urls_request.session_id = self.session_id
        (urls,) = self._exchange(message, "file_urls_response")[-1].file_urls_response.file_urls
        kind = 'multipart/form-data; boundary="end"'
        token = generate_xsrf_token_string()
        cookies = f"{self.visitor.cookie}; _streamlit_xsrf={token}"
        head = f'--end\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        body = head + data + b"\r\n--end--\r\n"
        sent = self.visitor.send("PUT", urls.upload_url, body, Content_Type=kind, Cookie=cookies, X_Xsrftoken=token)
        assert sent.status == 204, sent
        widget = WidgetState(id=form.id)
        widget.file_uploader_state_value.uploaded_file_info.add(
            file_id=urls.file_id, name=name, size=len(data), file_urls=urls
        )
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if found := UPLOAD.search(b"".join(each.SerializeToString() for each in self.run("models", {}, widget))):
                return found[1].decode()
            time.sleep(0.5)
        raise AssertionError("the upload was not opened")

    def _exchange(self, message: BackMsg, last: str) -> list[ForwardMsg]:
        self.line.send(message.SerializeToString())
        told: list[ForwardMsg] = []
        while not told or told[-1].WhichOneof("type") != last:
            told.append(ForwardMsg.FromString(self.line.recv(timeout=PATIENCE, decode=False)))
        return told
