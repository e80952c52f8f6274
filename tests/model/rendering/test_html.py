"""A trace as HTML: self-contained, and text never becomes markup."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import EditError, Trace, fill_mask, run
from headlight.rendering.html import MAX_POOLED_CELLS, SCRIPT, HtmlView, javascript_literal
from headlight.rendering.plots import PLOTS
from tests.model import toys
from tests.sampling import examples

HEAD_PANEL = Path(__file__).parents[3] / "app/headlight_app/ui/frontend/heads/head_panel.ts"
TEXT = "the cat sat on the mat"
SNIPPETS = (
    "</script>",
    "<b>",
    "<!--",
    "]]>",
    "&lt;",
    "\u2028",
    "\ud800",
    "😀",
    "שלום",
    "\u202e",
    "${x}",
    "`",
    "\\",
    '"',
    "\0",
)
hostile = st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=4), max_size=6).map("".join)


class Elements(HTMLParser):
    """Collects the elements that a parser sees and the text of the script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.script = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not {"src", "href"} & {name for name, _ in attributes}

    def handle_data(self, data: str) -> None:
        self.script += data if self.tags and self.tags[-1] == "script" else ""


def script_data(view: HtmlView) -> tuple[dict[str, Any], bytes]:
    """The metadata and the numbers in the script."""
    script = Elements(view._repr_html_()).script
    meta, numbers = (
        re.search(r"^const META = (.*);$", script, re.M),
        re.search(r'^const NUMBERS = "(.*)";$', script, re.M),
    )
    assert meta and numbers
    return json.loads(meta[1]), zlib.decompress(base64.b64decode(numbers[1]))


def test_every_weight_is_there_as_float32() -> None:
    trace = run(toys.decoder(), toys.causal(), TEXT)
    meta, numbers = script_data(trace.show(1, 2))
    count = len(trace.text.ids)
    cells = 2 * 4 * count * count
    codes = np.frombuffer(numbers, np.uint8, cells).reshape(2, 4, count, count)
    assert (codes[..., *np.triu_indices(count, 1)] == 0).all(), "the mask forbids later keys"
    exact = np.frombuffer(numbers, "<f4", cells, -(-cells // 4) * 4).reshape(2, 4, count, count)
    np.testing.assert_array_equal(np.nan_to_num(exact), trace.attention())
    assert [token["text"] for token in meta["tokens"]] == list(trace.text.token_texts)
    assert meta["state"] == {"layer": 1, "head": 2, "edits": []}
    (grid,) = meta["attention_groups"]
    assert grid["name"] == "decoder.self" and grid["exact"] and len(grid["metrics"]["previous"]) == 8


def test_without_a_choice_it_begins_with_the_strongest_local_head() -> None:
    trace = run(toys.decoder(), toys.causal(), TEXT)
    meta, _ = script_data(trace.show())
    previous = np.array(meta["attention_groups"][0]["metrics"]["previous"]).reshape(2, 4)
    choice = meta["state"]
    assert previous[choice["layer"], choice["head"]] == previous.max()
    assert script_data(trace.show(layer=1))[0]["state"] == {"layer": 1, "head": 0, "edits": []}


def test_an_encoder_decoder_shows_three_kinds_of_attention() -> None:
    trace = run(toys.both(), toys.masked(), "the dog", source=TEXT)
    meta, _ = script_data(trace.show())
    assert [(grid["name"], grid["layers"]) for grid in meta["attention_groups"]] == [
        ("decoder.self", 2), ("decoder.cross", 2), ("encoder.self", 3),
    ]  # fmt: skip
    assert meta["attention_groups"][1]["columns"] == len(meta["source_tokens"])


def test_so_does_one_that_reads_an_image() -> None:
    model = toys.captioner()
    meta, _ = script_data(run(model, toys.masked(), "the dog", source=toys.source(model, "")).show())
    assert [token["text"] for token in meta["source_tokens"]] == ["0,0", "0,1", "0,2", "1,0", "1,1", "1,2"]
    assert [(grid["name"], grid["columns"]) for grid in meta["attention_groups"]] == [
        ("decoder.cross", 6), ("decoder.self", len(meta["tokens"])), ("encoder.self", 6),
    ]  # fmt: skip
    assert meta["patches"]["side"] == "source" and meta["patches"]["image"]["height"] == 12
    assert {row["reads"] for row in meta["metrics"]} == {"text", "image"}


def test_a_long_text_is_pooled_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headlight.rendering.html.MAX_POOLED_CELLS", 8 * 16)
    monkeypatch.setattr("headlight.rendering.html.MAX_EXACT_CELLS", 8)
    trace = run(toys.decoder(), toys.causal(), TEXT)
    meta, numbers = script_data(trace.show())
    assert meta["attention_groups"][0]["pooled_shape"] == [4, 4] and len(numbers) == 8 * 16
    assert f"{len(trace.text.ids)} tokens" in meta["notes"][0] and "largest weight of its block" in meta["notes"][0]
    assert MAX_POOLED_CELLS >= 144 * 128**2, "12 x 12 heads of 128 tokens are not pooled"


def test_a_trace_without_masks_is_drawn_and_one_without_weights_says_what_to_keep() -> None:
    script_data(run(toys.decoder(), toys.causal(), TEXT, keep=("*.weights",)).show())
    with pytest.raises(EditError, match=r"holds no 'decoder.0.self.weights'"):
        run(toys.decoder(), toys.causal(), TEXT, keep=("logits",)).show()
    with pytest.raises(EditError, match="no layers"):
        run(toys.decoder(layers=0), toys.causal(), TEXT).show()


def test_a_step_of_generation_is_a_trace_and_shows_its_heads() -> None:
    step = fill_mask(toys.encoder(), toys.masked(), "the [MASK] sat")
    assert isinstance(step, Trace)
    meta, _ = script_data(step.show(1, 2))
    assert meta["state"] == {"layer": 1, "head": 2, "edits": []} and meta["tokens"][2]["text"] == "[MASK]"


def test_edits_are_there_with_the_heads_that_they_switch_off() -> None:
    edit = "decoder.1.self.weights[3]=set:0"
    meta, _ = script_data(run(toys.decoder(), toys.causal(), TEXT, [edit]).show())
    assert meta["state"]["edits"] == [edit]
    assert meta["attention_groups"][0]["ablations"] == {edit: [[1, 3]]}
    assert meta["operations"] and "edit_sentences" in meta["hook_points"]["weights"], "needed to describe edits"


def test_the_repr_of_a_view_is_short() -> None:
    assert len(repr(run(toys.decoder(), toys.causal(), TEXT).show())) < 100


def test_several_views_on_one_page_do_not_collide() -> None:
    view = run(toys.decoder(), toys.causal(), TEXT).show()
    names = [re.findall(r'id="(headlight-\w+)"', view._repr_html_()) for _ in range(3)]
    assert len({name for found in names for name in found}) == 3
    script = Elements(view._repr_html_()).script
    assert script.startswith("(() => {") and script.endswith("})();"), "the script has its own scope"


@examples(60)
@given(text=hostile.filter(str.strip))
def test_text_is_never_markup(text: str) -> None:
    tokens = toys.causal().encode(text).ids
    if not tokens or len(tokens) > 24:
        return
    view = run(toys.decoder(), toys.causal(), text).show()
    html = view._repr_html_()
    assert Elements(html).tags == ["div", "p", "script"]
    meta, _ = script_data(view)
    assert [token["text"] for token in meta["tokens"]] == list(toys.causal().encode(text).token_texts)
    html.encode("utf-8")


@given(st.recursive(hostile, lambda inner: st.lists(inner) | st.dictionaries(hostile, inner), max_leaves=5))
def test_a_literal_reads_back_as_the_value_and_holds_no_markup(value: Any) -> None:
    written = javascript_literal(value)
    assert not set("<>&\u2028\u2029") & set(written)
    assert written.isascii()
    assert json.loads(written) == value


def test_a_saved_file_is_a_page_that_fetches_nothing(tmp_path: Path) -> None:
    file = tmp_path / "heads.html"
    run(toys.decoder(), toys.causal(), TEXT).show().save(file)
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert Elements(page).tags == ["html", "meta", "meta", "title", "style", "body", "div", "p", "script"]
    assert not re.search(r"https?://(?!www\.w3\.org/)|@import|\bimport\s*\(|\bfetch\s*\(", page)


def test_the_script_stands_in_html_as_it_is() -> None:
    script = SCRIPT.read_text(encoding="ascii")
    assert script.isascii()
    assert "</script" not in script and "<!--" not in script
    assert not re.search(r"^\s*(?:import|export)\b", script, re.M), "it is one script, not a module"


def test_every_plot_has_what_draws_it_and_the_usual_one_of_an_image_comes_first() -> None:
    drawn = re.findall(r"^  (\w+): [A-Z_]+,$", HEAD_PANEL.read_text(encoding="utf-8"), re.MULTILINE)
    assert drawn == list(PLOTS) and PLOTS[drawn[0]].reads == "image"
