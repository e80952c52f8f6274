"""Which parts wrote a score: query and key of a trained head as sums over the earlier parts of the model."""

from __future__ import annotations

import re
from dataclasses import replace

import torch
from torch import Tensor

from headlight.analysis.ledger import KEEP, Cell, Ledger, cell_ledger
from headlight.attention_groups import attention_groups
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.requirements import require_part
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import HEAD, LAYER, token_labels
from headlight.questions.asking import ask_largest
from headlight.tracing.run import run
from headlight.views.kinds import BarsView, HeatMapView, Verdict
from headlight.views.rows import row

SHOWN = 8  # shown writers of each side, largest first; the others together are one more
_WRITER = re.compile(r"\w+\.(\d+)\.(self|feed_forward|bias)(?:\[(\d+)\])?")


def who_wrote(model: Checkpoint, text: str, layer: int, head: int) -> ScreenRows:
    """The score of the last token with the key that it attends to most, as a sum over writers (earlier parts)."""
    group = attention_groups(model.model.config)[0]
    for part, index in (("layer", layer), ("head", head)):
        require_part(model.model.config, part, index)
    path, trace = group.path(layer), run(model.model, model.tokenizer, text, keep=(*KEEP, "*.weights"))
    weights = torch.from_numpy(trace[f"{path}.weights"][head, -1].copy())
    key, last = int(weights.argmax()), len(weights) - 1
    found = cell_ledger(model.model, trace, Cell(path, head, last, key))
    names = token_labels(trace.text)
    totals = {writer_name(name): total for name, total in found.by_key_writer()[:SHOWN]}
    pair = f"“{names[last]}” with “{names[key]}”"
    question = ask_largest(
        f"The score of {pair} is {found.score:.2f}. Which part of the model wrote most of it into the key?",
        totals,
        because="Each bar: what a part wrote at the key's token, as this head reads it, times the whole query.",
    )
    bars = BarsView(title=f"What “{names[last]}” looks at", labels=names, series={"": weights}, high=1.0)
    return (
        row(bars, question=question),
        row(
            BarsView(title="Which part wrote the key", labels=tuple(totals), series={"": list(totals.values())}),
            _pairs(found),
            title=f"The score of {pair}",
        ),
        row(_sum(found)),
    )


def writer_name(path: str) -> str:
    """A writer in words: "layer 0, head 1", "layer 0, network", "token embedding"."""
    match = _WRITER.fullmatch(path)
    if match is None:
        names = {"embedding": "token embedding", "position_embedding": "position"}
        return names.get(path.rpartition(".")[2], path.rpartition(".")[2].replace("_", " "))
    layer, kind, head = match.groups()
    return f"layer {layer}, {f'head {head}' if head else 'network' if kind == 'feed_forward' else 'biases'}"


def _pairs(found: Ledger) -> HeatMapView:
    """The largest writers of both sides and the contribution of each pair; all others share one row and one column."""
    parts = torch.from_numpy(found.parts)
    rows, columns = ((-parts.abs().sum(1 - axis)).argsort()[:SHOWN].tolist() for axis in (0, 1))
    table = _with_rest(_with_rest(parts, rows, 0), columns, 1)
    sides = []
    for names, shown in ((found.query_writers, rows), (found.key_writers, columns)):
        rest = ("all others",) if len(shown) < len(names) else ()
        sides.append((*(writer_name(names[place]) for place in shown), *rest))
    return HeatMapView(
        title="Query writer × key writer",
        values=table,
        rows=sides[0],
        columns=sides[1],
        row_axis="wrote the query",
        column_axis="wrote the key",
    )


def _with_rest(table: Tensor, shown: list[int], axis: int) -> Tensor:
    """The shown lines of a table, and the sum of the others if there are any."""
    kept = table.index_select(axis, torch.tensor(shown))
    rest = table.sum(axis, keepdim=True) - kept.sum(axis, keepdim=True)
    return kept if len(shown) == table.shape[axis] else torch.cat((kept, rest), axis)


def _sum(found: Ledger) -> Verdict:
    total = float(found.parts.sum()) + sum(found.terms.values())
    return Verdict(
        text=f"All {found.parts.size} pairs and the terms outside of pairs add up to {total:.4f}; the score is "
        f"{found.score:.4f}. Norms are frozen at their scale in this text.",
        good=abs(total - found.score) < 1e-3,
    )


WHO_WROTE = Screen(
    title="Which parts wrote this score?",
    lesson="In a trained model, earlier parts write the queries and keys: both are sums over the token embedding and "
    "every earlier head and network. A dot product of two sums is a sum over pairs, so each score can be split by the "
    "parts that wrote it. In this model of two layers, look for the head that tells every word which word came before "
    "it.",
    controls={
        "model": ModelControl(default="induction"),
        "text": TextControl(title="Text", default="cat lamp pan fan fig toy lip dog cat lamp pan"),
        "layer": replace(LAYER, default="1"),
        "head": replace(HEAD, default="1"),
    },
    compute=who_wrote,
    formulas=(
        r"q = \sum_a q_a, \quad k = \sum_b k_b",
        r"q \cdot k = \sum_a \sum_b q_a \cdot k_b",
    ),
    code=(cell_ledger,),
    explore=link("model", "text", "layer", "head"),
)
