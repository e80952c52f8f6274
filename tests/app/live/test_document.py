"""The HTML of a live page: nothing but its own scripts runs, and every choice of a link is checked."""

import base64
import re
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from headlight_app.contract.question import Variant
from headlight_app.contract.state import State
from headlight_app.inference.open_models import find_model
from headlight_app.live.document import Provenance, live_document
from headlight_app.live.model_file import ModelFile
from headlight_app.live.page_data import live_page
from headlight_app.live.theme import theme_styles

HOSTILE = "</script><script>alert(1)</script><!--"


class Scripts(HTMLParser):
    """The scripts of a document, and its policy."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = ""
        self.running = list[str]()
        self.data = dict[str, str]()
        self._open: dict[str, str | None] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "meta" and found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""
        self._open = found if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._open is None:
            return
        name = self._open.get("data-testid") or ""
        if self._open.get("type"):
            self.data[name] = data
        else:
            self.running.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._open = None


def parsed(name: str) -> tuple[Scripts, str]:
    """A document of a model with this name, and its HTML."""
    provenance = Provenance(name, HOSTILE, "0" * 64, "float16", f"headlight live {name}", "Headlight", "2026-12-01")
    content = live_document({"html": HOSTILE, "data": {}}, ModelFile("bW9kZWw=", "d2VpZ2h0cw==", ()), provenance)
    found = Scripts()
    found.feed(content)
    return found, content


def test_the_policy_knows_every_script_and_no_other() -> None:
    found, _ = parsed("stories")
    hashes = [f"'sha256-{base64.b64encode(sha256(each.encode()).digest()).decode()}'" for each in found.running]
    assert len(hashes) == 2
    assert f"script-src {' '.join(hashes)} 'wasm-unsafe-eval';" in found.policy
    for forbidden in ("unsafe-eval' ", "script-src 'unsafe-inline", "http:", "https:", " *"):
        assert forbidden not in found.policy.replace("'wasm-unsafe-eval' ", "")
    assert {"default-src 'none'", "connect-src 'none'"} <= {part.strip() for part in found.policy.split(";")}


def test_names_of_strangers_stay_text() -> None:
    found, content = parsed(HOSTILE)
    assert len(found.running) == 2 and "alert(1)" not in "".join(found.running)
    assert "<script>alert" not in content
    assert '"html":"\\u003c/script>' in found.data["part-page"]


def test_the_worker_and_the_model_are_in_the_file() -> None:
    found, content = parsed("stories")
    assert found.data["part-weights"] == "d2VpZ2h0cw==" and len(found.data["part-worker"]) > 10_000
    assert not re.search(r"\{\{[a-z-]+\}\}", content)


def test_a_page_has_the_app_s_colours() -> None:
    styles = theme_styles()
    light, dark = styles.split("@media")
    assert "--st-background-color: #fdfcfa" in light and "--st-background-color: #10151f" in dark


@pytest.mark.usefixtures("unchecked_shapes")
def test_a_link_may_say_what_a_state_may() -> None:
    page = live_page(find_model("stories-causal"), ("rope", "none"))
    rules = page["rules"]
    assert {*rules["state"]} == {*State.__struct_fields__} - {"variant"}
    assert {*rules["variant"]} == {*Variant.__struct_fields__}
    assert rules["state"]["presenter"]["pattern"] == "^(|1)$"
    assert "heads" in rules["state"]["tab"]["enum"] and "weights" in rules["state"]["quantity"]["enum"]
    assert "lines" in rules["state"]["plot"]["enum"]


@pytest.mark.usefixtures("unchecked_shapes")
def test_a_page_offers_the_encodings_that_it_can_compute_and_no_link_elsewhere() -> None:
    page = live_page(find_model("stories-causal"), ("rope", "none"))
    fields = {field["field"]: field for field in page["data"]["variants"]["fields"]}
    assert [name for name, _ in fields["positional_encoding"]["options"]] == ["", "none"]
    assert {term["chapter"] for term in page["data"]["terms"].values()} == {""}
    assert not page["data"]["reads_pair"] and not page["data"]["first_tasks"]
    assert ">Explore<" in page["html"] and ".instrument" in page["css"]


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(("model", "mode"), [("stories-causal", "continue"), ("masked", "fill"), ("mood", "")])
def test_a_model_that_writes_has_a_page_to_generate(model: str, mode: str) -> None:
    page = live_page(find_model(model), ("rope", "none"))
    if not mode:
        assert page["generate"] is None and f">{model}<" in page["html"]
        return
    data = page["generate"]["data"]
    assert (data["mode"], data["generated"], data["settings"]["model"]) == (mode, (), model)
    assert data["state"]["text"] == data["examples"][0]["text"] and not data["reads_chat"]
    assert ">Generate<" in page["generate"]["html"] and ".generate" in page["generate"]["css"]
