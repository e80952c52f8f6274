"""The HTML of a live page: nothing but its own scripts runs, and every choice of a link is checked."""

import base64
import re
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from headlight_app.contract.question import Variant
from headlight_app.contract.state import State
from headlight_app.inference.open_models import find_model
from headlight_app.live.document import InDocument, LiveModel, Place, Provenance, live_document
from headlight_app.live.page_data import live_page
from headlight_app.live.site import InSite, site_files
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


def live_model(name: str) -> LiveModel:
    provenance = Provenance(name, HOSTILE, "0" * 64, "float16", f"headlight live {name}", "Headlight", "2026-12-01")
    return LiveModel({"page": b"page", "model": b"model", "weights": name.encode()}, provenance)


def parsed(name: str, place: Place | None = None) -> tuple[Scripts, str]:
    """A document of a model with this name, and its HTML."""
    content = live_document(live_model(name), place or InDocument())
    found = Scripts()
    found.feed(content)
    return found, content


@pytest.mark.parametrize(("place", "own"), [(InDocument(), ""), (InSite("index", {}), " 'self'")])
def test_the_policy_knows_every_script_and_no_other(place: Place, own: str) -> None:
    found, _ = parsed("stories", place)
    hashes = [f"'sha256-{base64.b64encode(sha256(each.encode()).digest()).decode()}'" for each in found.running]
    assert len(hashes) == (1 if own else 2)
    policy = [part.strip() for part in found.policy.split(";")]
    (scripts,) = (part for part in policy if part.startswith("script-src"))
    assert {*hashes} <= {*scripts.split()} and scripts.endswith(f"'{own} 'wasm-unsafe-eval'")
    for forbidden in ("unsafe-eval' ", "script-src 'unsafe-inline", "http:", "https:", " *"):
        assert forbidden not in found.policy.replace("'wasm-unsafe-eval' ", "")
    connects = own or " 'none'"
    assert {"default-src 'none'", f"connect-src{connects}", f"style-src 'unsafe-inline'{own}"} <= {*policy}


@pytest.mark.parametrize("place", [InDocument(), InSite("index", {})])
def test_names_of_strangers_stay_text(place: Place) -> None:
    found, content = parsed(HOSTILE, place)
    assert len(found.running) == (2 if isinstance(place, InDocument) else 1)
    assert "alert(1)" not in "".join(found.running)
    assert "<script>alert" not in content


def test_the_parts_are_in_the_file() -> None:
    found, content = parsed("stories")
    assert base64.b64decode(found.data["part-weights"]) == b"stories" and len(found.data["part-worker"]) > 10_000
    assert not re.search(r"\{\{[a-z-]+\}\}", content)


def test_a_site_has_code_and_font_once_and_the_parts_of_each_model() -> None:
    files = site_files(
        [live_model(name) for name in ("stories", "sort", "org/Sort", "org-sort", HOSTILE, "index", "…", "_x")]
    )
    pages = {name: content.decode() for name, content in files.items() if name.endswith(".html")}
    plain = "script-script-alert-1-script"
    stems = ["stories", "sort", "org-sort", "org-sort-2", plain, "index-2", "model", "x"]
    assert [*pages] == ["index.html", *(f"{stem}.html" for stem in stems[1:])]
    shared = {"live.js", "live.css", "font.bin", "worker.bin"}
    parts = {stem: {f"{stem}.{part}.bin" for part in ("page", "model", "weights")} for stem in stems}
    assert {*files} == {*pages, *shared}.union(*parts.values())
    assert files["stories.weights.bin"] == b"stories" and files["org-sort.weights.bin"] == b"org/Sort"
    for stem, (page, content) in zip(stems, pages.items(), strict=True):
        addresses = re.findall(r'(?:href|src|data-address)="([^"]*)"', content)
        own = {each.partition("?")[0] for each in addresses if not each.startswith("data:")}
        assert own == {*pages, *shared, *parts[stem]}
        assert content.count(f'<a href="{page}" aria-current="page">') == 1
        assert "<script>alert" not in content


def test_the_address_of_a_file_changes_with_its_content() -> None:
    one, other = (live_model("a"), LiveModel({"weights": b"other"}, live_model("a").provenance))
    found = [re.findall(r"a\.weights\.bin\?\w+", site_files([each])["index.html"].decode()) for each in (one, other)]
    assert len(found[0]) == 1 and found[0] != found[1]


def test_a_site_of_one_model_offers_no_choice() -> None:
    assert b"live-models" not in site_files([live_model("a")])["index.html"]


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
