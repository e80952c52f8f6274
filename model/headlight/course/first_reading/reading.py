"""What the screens of a first reading share: a text that a model has read, its heads, and its first guesses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from headlight.analysis.head_metrics import head_metrics
from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.sentences import token_labels
from headlight.errors import InputError
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer import Encoded
from headlight.tracing.inputs import encode_input
from headlight.tracing.predictions import candidates
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.views.forms import weights_map
from headlight.views.kinds import HeatMapView

MOST_TOKENS, MOST_OPTIONS = 64, 5
START = "(start)"  # the special token in front of a text
MOST_WEIGHT = 0.9  # of the row that is shown: with almost all on one token there would be nothing to read
Place = tuple[int, int]  # a layer and a head
STORY = TextControl("Sentence", "Tom had a red ball. He kicked it over the wall.", longest=160)
BEGINNING = TextControl("Beginning of a text", "Lily was very tired, so she went to", longest=160)
MODEL = ModelControl(default="stories-causal", needs="causal")
STREAM_MODEL = ModelControl(default="stories-causal", needs="causal-residual")


def read(
    model: Checkpoint, text: str, edits: Sequence[str] = (), *, least: int = 4, network: Transformer | None = None
) -> Trace:
    """A recorded run, of another `network` if one is given. Raises InputError for a text that is too short or long."""
    count = len(encode_input(model.model, model.tokenizer, text).ids)
    if not least <= count <= MOST_TOKENS:
        way = "Type more words." if count < least else "Shorten it."
        raise InputError(f"This text has {count} tokens; this screen takes {least} to {MOST_TOKENS}. {way}")
    return run(network or model.model, model.tokenizer, text, edits)


def token_names(text: Encoded) -> tuple[str, ...]:
    """The tokens as labels; those that occur more than once have their position, counted from 0, behind them."""
    labels = list(token_labels(text))
    if text.special_mask[0]:
        labels[0] = START
    return tuple(f"{label} ({at})" if labels.count(label) > 1 else label for at, label in enumerate(labels))


def words_of(text: Encoded) -> np.ndarray:
    """Which tokens are a word or a part of one: neither special nor punctuation."""
    pairs = zip(text.token_texts, text.special_mask, strict=True)
    return np.array([not special and any(map(str.isalnum, token)) for token, special in pairs])


def attention_path(trace: Trace, layer: int) -> str:
    """The path of the self-attention of a layer."""
    return f"{trace.config.stacks[-1]}.{layer}.self"


def without_head(trace: Trace, place: Place) -> str:
    """The edit that switches a head off."""
    return f"{attention_path(trace, place[0])}.weights[{place[1]}]=set:0"


def telling_row(trace: Trace, model: Checkpoint) -> tuple[int, int, int, list[int]]:
    """Layer, head, query and allowed keys of a row that gives much, up to MOST_WEIGHT, to a word that is not near.

    The head is the one with the clearest such row on the default sentence, so that it stays when the text changes.
    """
    layer, head, _ = _clearest(run(model.model, model.tokenizer, STORY.default))
    _, _, query = _clearest(trace, (layer, head))
    masks = trace[f"{attention_path(trace, layer)}.mask"]  # one for each head, or one for all
    return layer, head, query, np.flatnonzero(masks[head % len(masks), query]).tolist()


def _clearest(trace: Trace, place: Place | None = None) -> tuple[int, int, int]:
    """Layer, head and query of the clearest such row, of one head or of all.

    The first token, which takes what a head has no use for, and punctuation do not count as words. Without words that
    stand apart, all tokens count.
    """
    weights, positions = trace.attention(), np.arange(len(trace.text.ids))
    is_word = words_of(trace.text) & (positions > 0)
    cells = np.abs(positions[:, None] - positions) > 1
    between_words = cells & is_word & is_word[:, None]
    cells = between_words if between_words.any() else cells & (positions > 0)
    chosen = np.zeros(weights.shape[:2], bool)
    chosen[place or ...] = True
    counted = weights * cells * (weights <= MOST_WEIGHT) * chosen[..., None, None]
    layer, head, query, _ = np.unravel_index(counted.argmax(), weights.shape)
    return (*(place or (int(layer), int(head))), int(query))


def head_for(trace: Trace, metric: str) -> tuple[Place, float]:
    """The head with the largest value of a metric, and this value. Raises InputError if no token can show it."""
    shares = head_metrics(trace)[metric]
    if not np.isfinite(shares).any():
        raise InputError("No token of this text can look there. Type more words, and one of them twice.")
    layer, head = np.unravel_index(int(np.nanargmax(shares)), shares.shape)
    return (int(layer), int(head)), float(shares[layer, head])


def head_title(place: Place) -> str:
    """A head in words."""
    return f"head {place[1]} of layer {place[0]}"


def map_of(trace: Trace, place: Place, title: str = "", *, is_small: bool = True) -> HeatMapView:
    """The attention map of a head."""
    name = title or head_title(place).capitalize()
    return weights_map(name, trace.attention()[place], token_names(trace.text), is_small=is_small)


def first_guess(trace: Trace, model: Checkpoint) -> tuple[int, str, float]:
    """The likeliest next token of the text: its id, its name, and its probability."""
    [best] = candidates(trace, model.tokenizer, count=1)
    return best.id, in_words(best.token), best.probability


def in_words(token: str) -> str:
    """A token in a sentence: without spaces around it; white space has a name."""
    return token.strip() or ("new line" if "\n" in token else "space")


def guesses(trace: Trace) -> np.ndarray:
    """The likeliest token after each token but the last."""
    found: np.ndarray = trace["logits"][:-1].argmax(-1)
    return found


def losses(trace: Trace) -> Float[np.ndarray, " target"]:
    """The negative log-likelihood in nats of each token but the first."""
    logits, wanted = trace["logits"][:-1].astype(np.float64), np.array(trace.text.ids[1:])
    highest = logits.max(-1)
    totals = highest + np.log(np.exp(logits - highest[:, None]).sum(-1))
    found: np.ndarray = totals - logits[np.arange(len(wanted)), wanted]
    return found


def chance(trace: Trace) -> float:
    """The probability of the right next token, on average over the text."""
    return float(np.exp(-losses(trace)).mean())


def largest(numbers: np.ndarray, among: Iterable[int], count: int = MOST_OPTIONS) -> list[int]:
    """The positions of the largest numbers, in the order of the text."""
    return sorted(sorted(among, key=lambda at: -numbers[at])[:count])
