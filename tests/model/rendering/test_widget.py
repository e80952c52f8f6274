"""widget(): choices and requests are synchronized both ways, and invalid ones get a message."""

import json
import re
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

from headlight import Checkpoint, DataError, EditError, TextError, run, widget
from headlight.rendering.attention_widget import MAX_LIVE_CELLS, AttentionWidget, ModelWidget
from tests.model import toys
from tests.model.toys import TEXT

EDIT = "decoder.1.self.weights[3]=set:0"


@pytest.fixture
def heads() -> ModelWidget:
    return widget(Checkpoint(toys.decoder(), toys.causal(), ""), TEXT)


def drawn(shown: AttentionWidget) -> tuple[dict[str, Any], bytes]:
    """The metadata and the numbers that the browser draws."""
    end = 4 + int.from_bytes(shown._view[:4], "little")
    return json.loads(shown._view[4:end]), shown._view[end + -end % 4 :]


def chosen(shown: AttentionWidget) -> tuple[Any, ...]:
    return shown.attention, shown.layer, shown.head, shown.heads, shown.pinned


def weights_of(shown: AttentionWidget) -> np.ndarray:
    """The float32 weights that the browser draws, of the first attention."""
    meta, numbers = drawn(shown)
    group = meta["attention_groups"][0]
    shape = tuple(group[name] for name in ("layers", "heads", "rows", "columns"))
    cells = int(np.prod(shape))
    return np.nan_to_num(np.frombuffer(numbers, "<f4", cells, -(-cells // 4) * 4).reshape(shape))


def test_it_begins_as_the_trace_is_shown(heads: ModelWidget) -> None:
    state = heads.trace.show().meta["state"]
    assert (heads.layer, heads.head) == (state["layer"], state["head"])
    assert (heads.text, heads.source, heads.edits, heads.query, heads.attention) == (TEXT, None, (), -1, "decoder.self")
    np.testing.assert_array_equal(weights_of(heads), heads.trace.attention())


def test_text_and_edits_set_in_python_are_run(heads: ModelWidget) -> None:
    heads.query, heads.pinned = 5, (1, 5)
    heads.text, heads.edits = "the dog", (EDIT,)
    expected = run(toys.decoder(), toys.causal(), "the dog", [EDIT])
    np.testing.assert_array_equal(heads.trace.attention(), expected.attention())
    np.testing.assert_array_equal(weights_of(heads), expected.attention())
    assert drawn(heads)[0]["state"]["edits"] == [EDIT]
    count = len(expected.text.ids)
    assert heads.query == (5 if count > 5 else -1) and heads.pinned == tuple(place for place in (1, 5) if place < count)


def test_the_chosen_head_is_one_of_several_or_alone(heads: ModelWidget) -> None:
    heads.heads = ("0.1", "1.3")
    assert chosen(heads) == ("decoder.self", 1, 3, ("0.1", "1.3"), ())
    heads.layer = 0
    assert chosen(heads) == ("decoder.self", 0, 3, (), ())
    heads.set_state({"layer": 0, "head": 1, "heads": ["1.2", "0.1"]})
    assert chosen(heads) == ("decoder.self", 0, 1, ("1.2", "0.1"), ())


def test_predictions_at_the_query_are_there_before_and_after_the_edits(heads: ModelWidget) -> None:
    before = heads.trace
    heads.edits, heads.query = (EDIT,), 2
    meta, _ = drawn(heads)
    (prediction,) = meta["predictions"]
    assert meta["changed"] and prediction["position"] == 2 and len(prediction["candidates"]) == 10
    for candidate in prediction["candidates"]:
        number = candidate["id"]
        assert candidate["before"] == before.probabilities(2)[number] != candidate["after"]
        assert candidate["after"] == heads.trace.probabilities(2)[number]
        assert candidate["text"] == toys.causal().token_text(number)
    heads.edits = ()
    assert not drawn(heads)[0]["changed"]


def test_what_the_browser_asks_is_run_and_answered(heads: ModelWidget) -> None:
    heads.set_state({"text": "the dog", "edits": [EDIT], "layer": 1, "head": 3, "heads": ["1.3", "0.2"], "_asked": 7})
    assert (heads.text, heads.edits, heads.layer, heads.heads) == ("the dog", (EDIT,), 1, ("1.3", "0.2"))
    assert heads.trace.interventions == (EDIT,) and heads.trace.text.text == "the dog"
    assert (heads.error, heads._answered) == ("", 7)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("layer", 2, "The layer must be from 0 to 1, not 2."),
        ("head", -1, "The head must be from 0 to 3, not -1."),
        ("query", 99, "The query must be from -1 to "),
        ("heads", ["third"], "'third' is not a head; head 3 of layer 2 is '2.3'."),
        ("heads", ["0.4"], "The head must be from 0 to 3, not 4."),
        ("attention", "decoder.cross", "'decoder.cross' is not an attention of this model; there is decoder.self."),
        ("text", "", "The text is empty; type a sentence."),
        ("source", "the cat", "it takes no source"),
        ("edits", ["nonsense"], "'nonsense' is not an edit"),
        ("edits", ["decoder.9.self.weights=set:0"], "this model has no value decoder.9.self.weights"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_a_sentence_and_changes_nothing(
    heads: ModelWidget, name: str, value: Any, sentence: str
) -> None:
    before, view = getattr(heads, name), heads._view
    with pytest.raises(TraitError, match=re.escape(sentence)):
        setattr(heads, name, value)
    assert (getattr(heads, name), heads.error) == (before, "")
    heads.set_state({name: value, "_asked": 1})
    assert sentence in heads.error
    assert (getattr(heads, name), heads._view, heads._answered) == (before, view, 1)
    heads.edits = (EDIT,)
    assert heads.error == "", "a value set in Python clears the error"


def test_a_wrong_beginning_raises_as_run_and_show_do() -> None:
    checkpoint = Checkpoint(toys.decoder(), toys.causal(), "")
    with pytest.raises(TextError, match="empty"):
        widget(checkpoint, "")
    with pytest.raises(EditError, match="not an edit"):
        widget(checkpoint, TEXT, edits=["nonsense"])
    with pytest.raises(DataError, match="give its checkpoint"):
        widget(toys.decoder(), TEXT)
    with pytest.raises(DataError, match="give the checkpoint"):
        widget(np.ones((1, 1)), ["a"], edits=[EDIT])  # type: ignore[call-overload]
    with pytest.raises(DataError, match="3 tokens, but the attention has 1 queries"):
        widget(np.ones((1, 1)), list("abc"))


def test_a_trace_and_the_attention_of_any_library_are_shown() -> None:
    trace = toys.traced(toys.decoder(), EDIT)
    shown = widget(trace)
    np.testing.assert_array_equal(weights_of(shown), trace.attention())
    assert not hasattr(shown, "edits") and drawn(shown)[0]["state"]["edits"] == [EDIT]
    others = widget(np.tril(np.ones((2, 3, 4, 4))) / np.arange(1, 5)[:, None], list("abcd"))
    others.layer, others.head = 1, 2
    assert others.show().meta["state"] | {"layer": 1, "head": 2} == others.show().meta["state"]


def test_another_attention_of_an_encoder_decoder_has_its_own_heads() -> None:
    shown = widget(Checkpoint(toys.both(), toys.masked(), ""), "the dog", source=TEXT)
    shown.attention, shown.layer = "encoder.self", 2
    last = len(toys.masked().encode(TEXT).ids) - 1
    shown.set_state({"pinned": [0, last]})
    assert chosen(shown)[-1] == (0, last)
    shown.set_state({"attention": "decoder.cross", "layer": 1, "pinned": [0, last]})
    assert shown.error == "" and chosen(shown) == ("decoder.cross", 1, shown.head, (), ())
    shown.attention, shown.layer = "encoder.self", 2
    shown.attention = "decoder.cross"
    assert shown.layer == 1, "decoder.cross has two layers"
    shown.source = "the cat"
    assert shown.trace.source is not None and shown.trace.source.text == "the cat"


def test_an_image_is_no_text_that_could_be_typed() -> None:
    model = toys.captioner()
    shown = widget(Checkpoint(model, toys.masked(), ""), "the dog", source=toys.source(model, ""))
    assert (shown.text, shown.source) == ("the dog", None)
    shown.text = "the cat"
    assert shown.trace.text.text == "the cat" and shown.trace.source is not None


def test_a_long_text_follows_every_letter_without_float32(monkeypatch: pytest.MonkeyPatch, heads: ModelWidget) -> None:
    assert MAX_LIVE_CELLS >= 48 * 36**2, "enough for 36 tokens and 48 heads"
    monkeypatch.setattr("headlight.rendering.attention_widget.MAX_LIVE_CELLS", 10)
    heads.text = "the dog sat"
    meta, numbers = drawn(heads)
    assert not meta["attention_groups"][0]["exact"] and len(numbers) == 8 * len(heads.trace.text.ids) ** 2
    assert heads.show().meta["attention_groups"][0]["exact"], "an exported file is exact"


def test_a_notebook_gets_the_view_and_the_widget_that_hides_it(
    monkeypatch: pytest.MonkeyPatch, heads: ModelWidget
) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr(
        "headlight.rendering.attention_widget.publish_display_data", lambda data, metadata=None: shown.append(data)
    )
    heads.layer, heads.head = 1, 2
    heads._ipython_display_()
    view, live = shown
    assert (
        f'data-headlight-widget="{heads._name}"' in view["text/html"] and '"layer": 1, "head": 2' in view["text/html"]
    )
    assert "application/vnd.jupyter.widget-view+json" in live
