"""The answers of a live page equal those of the app: without and with edits, masks, encodings and views."""

from pathlib import Path
from typing import Any

import pytest

from headlight.checkpoints import save
from headlight.config import Config
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer_training import train_tokenizer
from tests.app.live.answers import asked, assert_agrees, live_answers

STACKS = {"next": "decoder", "masked": "encoder", "mood": "encoder", "tags": "encoder"}
TEXT = "the cat sat on the mat, and the dog lay on the rug."
PAIR = "the cat sat [SEP] the dog lay"
MODELS = [*STACKS, *(pytest.param(name, marks=pytest.mark.full) for name in ("stories-causal", "stories-masked"))]
pytestmark = pytest.mark.usefixtures("unchecked_shapes")

EDITS: tuple[tuple[str, ...], ...] = (
    ("{stack}.1.self.weights[3]=set:0",),
    ("{stack}.0.self.weights=scale:0", "{stack}.1.self.weights[1:3]=set:0"),
    ("{stack}.*.self.weights[0]=uniform",),
    ("{stack}.*.self.mask[:,:,1]=set:0",),
    ("{stack}.0.self.scores=scale:0.5", "{stack}.0.self.scores[1]=mean"),
    ("{stack}.0.residual[2]=mean", "{stack}.1.self.v[0,1:3]=add:0.25"),
    ("{stack}.0.self.weights[0,2]=set:2",),
    ("blocks.1.attn.hook_pattern[0]=set:0",),
    ("blocks.0.attn.hook_v[1,2]=scale:3",),
    ("logits[0]=add:0.5",),
    ("logits=set:0",),
)
REFUSED = (
    "nonsense",
    "it's\x07 \u200b\U000e0001 not \\ an edit",
    "{stack}.0.self.nothing=set:0",
    "{stack}.0.self.weights=double:2",
    "{stack}.0.self.weights=set",
    "{stack}.0.self.weights=uniform:2",
    "{stack}.0.self.weights[1,2,3,4]=set:0",
    "{stack}.0.self.weights[x]=set:0",
    "{stack}.0.self.weights[3:2]=set:0",
    "{stack}.0.self.weights[1]=set:1e39",
    "{stack}.0.self.weights[9]=set:0",
    *(f"{{stack}}.0.self.weights[9]=set:{number}" for number in ("1e20", "1e16", "-0.00001", "1.5e-7", "0.0001")),
    "{stack}.0.self.weights[2:9]=set:0.5",
    "{stack}.9.self.weights=set:0",
    "{stack}.0.self.scores=uniform",
    "{stack}.0.self.mask=mean",
    "{stack}.0.self.scale=mean",
    "{stack}.0.residual=scale:1e30",
)
MASKS = (
    *("none", "causal", "window:2", "causal+window:3", "chunks:4", "painted:", "causal+painted:0-2.3-1"),
    *("custom:10/11", "window:0", "custom:12", "painted:a", "causal:3", "nothing"),
)
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"layer": 1, "head": 2, "unit": "words"},
    {"heads": ["0.0", "1.3", "9.9"], "per_head": True, "top_mass": 70},
    {"heads": ["0.0", "1.3"], "head_reduction": "max", "hide": "special+first", "renormalize": "1"},
    {"hide": "first", "zoom": "1-4/0-3"},
    {"quantity": "scores", "heads": ["0.1", "0.2"]},
    {"quantity": "masked_scores", "unit": "words"},
    {"quantity": "rollout", "layer": 1},
    {"quantity": "minus_head", "head": 3, "unit": "words"},
    {"quantity": "minus_head", "other_head": "1.1", "per_head": True},
    {"quantity": "minus_trained"},
    {"quantity": "minus_text", "other_text": ""},
    {"quantity": "minus_text", "other_text": "the dog sat on the rug, and the cat lay on the mat."},
    {"quantity": "minus_text", "other_text": "the dog"},
    {"quantity": "nothing"},
)


def edited(stack: str, edits: tuple[str, ...]) -> list[str]:
    return [edit.format(stack=stack) for edit in edits]


@pytest.mark.parametrize("model", MODELS)
def test_the_heads_of_a_text_are_those_of_the_app(model: str, tmp_path: Path) -> None:
    stack = STACKS.get(model, "encoder" if model == "stories-masked" else "decoder")
    masks = ("custom:" + "/".join(["1" * 7] * 7),)
    requests = [
        *(asked("trace", model, text) for text in (TEXT, "the", PAIR, "", "It’s “odd”: É 7! 7!", "the cat " * 45)),
        *(asked("trace", model, TEXT, query=query) for query in (0, 3, 99)),
        *(asked("trace", model, TEXT, edits=edited(stack, edits)) for edits in EDITS),
        *(asked("trace", model, TEXT, edits=edited(stack, (edit,))) for edit in REFUSED),
        *(asked("trace", model, TEXT, masks=each) for each in MASKS + masks),
        asked("trace", model, "the", masks=masks[0], edits=[f"{stack}.0.residual[9]=set:0"]),
        *(asked("trace", model, TEXT, positional_encoding=each) for each in ("none", "sinusoidal", "rope", "alibi")),
        asked("trace", model, TEXT, masks="window:3", edits=edited(stack, EDITS[0]), positional_encoding="none"),
        asked("trace", model, TEXT, edits=[f"{stack}.position_ids[2]=set:0"], positional_encoding="rope"),
    ]
    assert_agrees(model, requests, tmp_path)


@pytest.mark.parametrize("model", MODELS)
def test_a_view_of_heads_is_that_of_the_app(model: str, tmp_path: Path) -> None:
    stack = STACKS.get(model, "encoder" if model == "stories-masked" else "decoder")
    off = edited(stack, EDITS[0])
    requests = [
        *(asked("head_view", model, text, **choice) for text in (TEXT, PAIR) for choice in CHOICES),
        *(asked("head_view", model, PAIR, segments=each) for each in ("a-b", "b-a", "b-b")),
        asked("head_view", model, TEXT, edits=off, quantity="minus_trained", layer=1, head=3),
        asked("head_view", model, TEXT, masks="none", quantity="minus_trained"),
        asked("head_view", model, "the", hide="first"),
        *(asked("head_matrix", model, TEXT, path=f"{stack}.1.self.{each}", head=2) for each in ("weights", "scores")),
        *(asked("head_matrix", model, TEXT, path=each) for each in (f"{stack}.0.self.q", f"{stack}.9.self.weights")),
        asked("head_matrix", model, TEXT, path=f"{stack}.0.self.weights", head=99),
        asked("head_metrics", model, TEXT),
        *(asked("query_key_weights", model, TEXT, query=each, key=1) for each in (0, 3, 99)),
    ]
    assert_agrees(model, requests, tmp_path)


@pytest.mark.parametrize("model", ["masked", pytest.param("stories-masked", marks=pytest.mark.full)])
def test_hidden_tokens_are_those_of_the_app(model: str, tmp_path: Path) -> None:
    requests = [
        *(asked("trace", model, TEXT, masked_positions=each) for each in ([2], [1, 4], [99])),
        asked("trace", model, "the [MASK] sat", query=1),
        asked("trace", model, TEXT, masked_positions=[2], edits=["encoder.0.self.weights[0]=set:0"]),
        asked("head_view", model, TEXT, masked_positions=[2], hide="special"),
    ]
    assert_agrees(model, requests, tmp_path)


def test_no_word_of_a_model_without_a_mask_token_is_hidden(tmp_path: Path) -> None:
    assert_agrees("next", [asked("trace", "next", TEXT, masked_positions=[2])], tmp_path)


@pytest.mark.parametrize("model", MODELS)
def test_the_steps_of_a_head_are_those_of_the_app(model: str, tmp_path: Path) -> None:
    stack = STACKS.get(model, "encoder" if model == "stories-masked" else "decoder")
    path = f"{stack}.1.self"
    changes = (
        *(f"{path}.{each}" for each in ("scores=scale:2", "scale=scale:0.5", "scale=set:1", "bias=add:0.5")),
        *(f"{path}.{each}" for each in ("rotated_q[1]=scale:2", "mask[:,:,1]=set:0", "weighted_values[0]=set:0")),
        *(f"{stack}.{each}" for each in ("position_ids[2]=set:1", "1.residual=scale:0")),
    )
    requests = [
        *(asked("walkthrough", model, TEXT, attention=path, head=head, query=3, key=1) for head in (0, 3)),
        *(
            asked("walkthrough", model, TEXT, attention=f"{stack}.0.self", head=1, token=each)
            for each in (-1, 1, 99_999)
        ),
        *(asked("walkthrough", model, TEXT, attention=path, head=1, query=2, edits=[each]) for each in changes),
        *(
            asked("walkthrough", model, TEXT, attention=path, query=5, key=4, positional_encoding=each)
            for each in ("none", "sinusoidal", "rope", "alibi")
        ),
        asked("walkthrough", model, TEXT, attention=path, query=5, key=4, masks="window:1"),
        *(asked("walkthrough", model, TEXT, attention=path, **each) for each in ({"head": 9}, {"key": 99})),
        *(asked("walkthrough", model, TEXT, attention=each) for each in ("", f"{stack}.9.self", "a.0.self")),
    ]
    assert_agrees(model, requests, tmp_path)


def test_a_wrong_name_of_transformer_lens_is_answered_by_the_right_ones(tmp_path: Path) -> None:
    [(meta, _)] = live_answers("next", [asked("trace", "next", TEXT, edits=["blocks.0.hook_x=set:0"])], tmp_path)
    assert meta["error"].startswith("No value is called 'blocks.0.hook_x'. Known: hook_embed, ")
    assert "blocks.*.attn.hook_pattern" in meta["error"] and "blocks.1." not in meta["error"]


def test_a_text_that_the_model_cannot_read_is_refused_in_the_words_of_the_app(tmp_path: Path) -> None:
    """Characters count, not their halves; what the model can read comes before what a page can hold."""
    assert_agrees("next", [asked("trace", "next", text) for text in ("😀" * 6_000, "😀" * 9_000)], tmp_path)


def test_a_token_without_letters_is_named_as_in_the_app(tmp_path: Path) -> None:
    places = {"attention": "decoder.0.self", "query": 2, "key": 1}
    assert_agrees("next", [asked("walkthrough", "next", "the   \n cat", **places)], tmp_path)


@pytest.fixture
def emoji(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model whose tokens join spaces with the first bytes of emoji, and keep letters with odd capitals."""
    tokenizer = train_tokenizer("bpe", ["the 😀 cat 😁 ı i I ß ẞ ss é"] * 20, 290)
    config = Config(vocabulary_size=tokenizer.vocabulary_size, context_length=48, d_model=16, layers=2, heads=4)
    save(tmp_path / "emoji", Transformer(config), tokenizer)
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    return "emoji"


def test_words_of_tokens_that_share_a_character_are_those_of_the_app(emoji: str, tmp_path: Path) -> None:
    texts = ("the 😀 cat 😁", "😂 😀😀 😁é 😂", "ı i I ß ẞ ss")
    requests = [
        *(asked("head_view", emoji, text, unit="words") for text in texts),
        *(asked("trace", emoji, text) for text in texts),
    ]
    assert_agrees(emoji, requests, tmp_path)
