"""Cross-attention in a trained encoder-decoder: where each token of the answer looks in the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.requirements import require_part
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import HEAD, LAYER, continuation, require_layer, token_labels, value
from headlight.nn.attention import Attention
from headlight.nn.stack import Block
from headlight.questions.asking import ask_cell
from headlight.questions.kinds import Question
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.views.forms import shape_text, weights_map
from headlight.views.kinds import TableView, TokensView
from headlight.views.rows import Row, row
from headlight.views.words import percent

MOST_WRITTEN = 24  # tokens of an answer
CUT = ("decoder.*.cross.output=set:0",)  # every cross-attention adds nothing


def cross_attention(model: Checkpoint, source: str, layer: int, head: int) -> ScreenRows:
    """The model's own answer, the weights of one head, how the attentions differ, and the answer without the link."""
    path = require_layer(model.model, layer)
    require_part(model.model.config, "head", head)
    answer = write(model, source)
    trace = run(model.model, model.tokenizer, answer, source=source, keep=("*.weights", "*.mask"))
    weights = value(trace, f"{path}.cross.weights")[head]
    return (
        _answer_row(trace, answer, weights, _question(trace, weights, head)),
        _maps_row(trace, path, head),
        _table_row(trace, path),
        _link_row(model, source, answer),
    )


def write(model: Checkpoint, source: str, edits: Sequence[str] = ()) -> str:
    """The model's answer to a source: the likeliest token each time."""
    return continuation(model, "", edits, source=source, steps=MOST_WRITTEN, temperature=0.0)


def _labels(trace: Trace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens of the source and of the answer."""
    assert trace.source is not None  # of an encoder-decoder
    return token_labels(trace.source), token_labels(trace.text)


def _question(trace: Trace, weights: Tensor, head: int) -> Question:
    """Asks for the map's cell of the largest weight of one token: the surest of those that are written once."""
    read, written = _labels(trace)
    writes = (*written[1:], "end")
    query = max(range(len(writes)), key=lambda at: (writes.count(writes[at]) == 1, float(weights[at].max())))
    key, token = int(weights[query].argmax()), writes[query]
    return ask_cell(
        f"When the decoder writes “{token}”, which token of the source does head {head} look at most? Point at its "
        "cell in the map of weights: the rows are the tokens that the decoder has read.",
        tuple(f"{at}. {each}" for at, each in enumerate(written)),
        read,
        (query, key),
        ((query + 1, key), f"The row of “{token}” writes the token after it: look one row above."),
        hints=("A token is written from the position before it.",),
        because=f"There the weight is {percent(weights[query, key], 0)}.",
    )


def _answer_row(trace: Trace, answer: str, weights: Tensor, question: Question) -> Row:
    """Each written token, and the token of the source that its query looked at most."""
    read, written = _labels(trace)
    looked = [f"← {read[int(at)]}" for at in weights.argmax(-1)]
    # The query at one position writes the token at the next.
    return row(
        TokensView("Read by the encoder", read),
        TokensView("Written by the decoder", (*written[1:], "end"), below=tuple(looked)),
        title=f"The model writes “{answer}”",
        question=question,
        text="Under each written token is the token of the source that the chosen head looked at most.",
    )


def _maps_row(trace: Trace, path: str, head: int) -> Row:
    read, written = _labels(trace)
    maps = (
        ("Cross-attention: from the answer to the source", "cross", read),
        ("Self-attention: within the answer", "self", written),
    )
    return row(
        *(
            weights_map(title, value(trace, f"{path}.{kind}.weights")[head], written, keys)
            for title, kind, keys in maps
        ),
        title=f"Head {head} of layer {path.rpartition('.')[2]}",
    )


def _table_row(trace: Trace, path: str) -> Row:
    """The three attentions, compared by their recorded values."""
    layer = path.rpartition(".")[2]
    encoder_layer = min(int(layer), trace.config.encoder.layers - 1)
    kinds = {
        "encoder self-attention": (f"encoder.{encoder_layer}.self", "source", "source"),
        "decoder self-attention": (f"{path}.self", "answer", "answer"),
        "cross-attention": (f"{path}.cross", "answer", "encoder's output"),
    }
    rows = []
    for name, (attention, queries, keys) in kinds.items():
        weights, allowed = value(trace, f"{attention}.weights"), value(trace, f"{attention}.mask")
        allowed = allowed.bool().expand_as(weights)
        rows.append(
            (
                name,
                queries,
                keys,
                shape_text(weights.shape),
                f"{int((~allowed[0]).sum())} of {allowed[0].numel()}",
                float(weights[allowed].min()),
            )
        )
    columns = ("attention", "queries from", "keys, values from", "heads × queries × keys", "forbidden", "least weight")
    mixes_all = rows[-1][-1] > 0.0
    note = "Cross-attention mixes in every vector of the source, most of them only a little." if mixes_all else ""
    return row(TableView(columns, tuple(rows), digits=2, note=note), title="What differs")


def _link_row(model: Checkpoint, source: str, answer: str) -> Row:
    """The answer with every cross-attention switched off."""
    cut = write(model, source, CUT)
    if cut == answer:
        text = (
            f"With every cross-attention switched off the model still writes “{answer}”: it does not need the source."
        )
    else:
        text = (
            f"With every cross-attention switched off the model writes “{cut}” instead of “{answer}”: it is the only "
            "way from the source to the answer."
        )
    return row(text, title="Cut the link")


CROSS_ATTENTION = Screen(
    title="Cross-attention in a trained model",
    lesson="The encoder reads the source once. The decoder writes token by token, and in every layer the queries of "
    "its tokens look at the encoder's output to find what to write next. Type a source of your own: the answer usually "
    "has another length, so the matrix of weights is not square.",
    controls={
        "model": ModelControl(default="dates", needs="encoder-decoder"),
        "source": TextControl("Source", "the third day of March in 2021", longest=160),
        "layer": LAYER,
        "head": replace(HEAD, default="2"),
    },
    compute=cross_attention,
    formulas=(
        r"M = \mathrm{encoder}(X)",
        r"Q = Y W_Q,\quad K = M W_K,\quad V = M W_V",
    ),
    code=(Block, Attention.project, write),
    explore=link("model", "source", "layer", "head", fixed={"text": "", "attention": "decoder.cross"}),
)
