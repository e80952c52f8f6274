"""The quantities compared: each as Headlight computes it, and from `tests.numerics.network`."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from headlight.analysis.ablation import ablate_heads
from headlight.analysis.attention_maps import attention_rollout
from headlight.analysis.attribution import attribute_logits
from headlight.analysis.head_metrics import head_metrics
from headlight.analysis.information_flow import DEFAULT_THRESHOLD, information_flow
from headlight.analysis.lenses.logit_lens import lens_at, logit_lens, residual_norms, target_tokens
from headlight.analysis.position_profile import position_profile
from headlight.checkpoints import load
from headlight.data.corpus import TextSource, tokenize_source
from headlight.evaluation.language_modeling import text_likelihood
from headlight.generation.step import SamplingConfig
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.vision.image import ProcessedImage, process_image, read_image
from tests.numerics.network import Array, Network, softmax

TEXT = "Tom and Mia saw a cat. Tom and Mia saw a dog, and the cat ran far away."
TEXTS = {  # for models with other inputs
    "sort": "5 3 97 12 12 40", "dates": "monday, 6 june 1944", "induction": "cat dog sun key cat dog sun",
    "translate": "My sister has two dogs.",
}  # fmt: skip
TARGETS = {"translate": "Ma sœur a", "dates": "1944-", "summary": "Tom lost", "caption": "a red"}
FOREIGN_TEXT = "the cat sat on a mat and the cat saw two dogs run far away"
Pairs = Iterator[tuple[Any, Any]]  # Headlight's numbers and ours


@dataclass
class Subject:
    """A model, read twice, and one text that both read."""

    name: str
    folder: Path
    network: Network
    folder_for_text: Path
    picture: Path | None = None
    text: str = TEXT
    values: dict[str, Array] = field(init=False)

    def __post_init__(self) -> None:
        self.checkpoint = load(self.folder, device="cpu")
        ids: str = self.text
        source: str | ProcessedImage | None = None
        if self.picture is not None:
            config = self.checkpoint.model.config
            source, pixels = process_image(read_image(self.picture), config.image), self._pixels(self.picture)
            self.source: Any = pixels
        else:
            self.source = self._encoded(self.text)
        decoder_text = TARGETS.get(self.name, "")
        if len(self.network.stacks) == 2:
            ids, source = decoder_text, source or self.text
            encoding = self.network.tokenizer.encode(decoder_text, add_special_tokens=False)
            self.ids = [self.network.start_token, *encoding.ids]
        else:
            self.ids = self._encoded(self.text)
        self.trace: Trace = run(self.checkpoint.model, self.checkpoint.tokenizer, ids, source=source)
        assert list(self.trace.text.ids) == self.ids, self.name
        self.values = self.network.forward(self.ids, self.source)

    def _encoded(self, text: str) -> list[int]:
        return list(self.network.tokenizer.encode(text).ids)

    @staticmethod
    def _pixels(picture: Path) -> Array:
        """Red, green and blue from -1 to 1, [channel row column]."""
        with Image.open(picture) as image:
            return (np.asarray(image.convert("RGB"), dtype=np.float64) / 255 - 0.5).transpose(2, 0, 1) / 0.5

    @property
    def model(self) -> Any:
        """Headlight's model."""
        return self.checkpoint.model

    @property
    def position(self) -> int:
        """The position compared: the last."""
        return len(self.ids) - 1

    @property
    def whole_text(self) -> bool:
        """Whether the model gives one answer for the whole text."""
        return self.network.output == "sequence-classifier"

    @cached_property
    def answer(self) -> int:
        """The most likely token or label at `position`."""
        return int(self._row(self.values["logits"]).argmax())

    def _row(self, logits: Array) -> Array:
        return logits if self.whole_text else logits[self.position]

    def attentions(self) -> Iterator[tuple[str, int, str]]:
        """Each attention: stack, layer, kind."""
        for stack in self.network.stacks:
            kinds = ("self", "cross") if stack == "decoder" and len(self.network.stacks) == 2 else ("self",)
            yield from ((stack, layer, kind) for layer in range(self.network.layers[stack]) for kind in kinds)

    def stacked(self, part: str, kind: str = "self") -> Array:
        """A value of the predicting stack's attention in all layers."""
        stack = self.network.predicting
        layers = range(self.network.layers[stack])
        return np.stack([self.values[f"{stack}.{layer}.{kind}.{part}"] for layer in layers])


def _weights(one: Subject) -> Pairs:
    for stack, layer, kind in one.attentions():
        path = f"{stack}.{layer}.{kind}.weights"
        yield one.trace[path], one.values[path]


def _scores(one: Subject) -> Pairs:
    for stack, layer, kind in one.attentions():
        path = f"{stack}.{layer}.{kind}"
        allowed = np.broadcast_to(one.values[f"{path}.allowed"], one.values[f"{path}.scores"].shape)
        yield one.trace[f"{path}.scores"][allowed], one.values[f"{path}.scores"][allowed]


def _residuals(one: Subject) -> Pairs:
    for path, value in one.values.items():
        if path.endswith("residual"):
            yield one.trace[path], value


def _residual_norms(one: Subject) -> Pairs:
    stack = one.network.predicting
    depths = [*(f"{stack}.{layer}.residual" for layer in range(one.network.layers[stack])), f"{stack}.residual"]
    yield residual_norms(one.trace), [[math.hypot(*token) for token in one.values[path]] for path in depths]


def _logits(one: Subject) -> Pairs:
    yield one.trace.logits, one.values["logits"]


def _probabilities(one: Subject, hidden: Array) -> Array:
    return softmax(one._row(one.network.logits(hidden)))


def _logit_lens(one: Subject) -> Pairs:
    stack = one.network.predicting
    depths = [one.values[f"{stack}.{layer}.residual"] for layer in range(one.network.layers[stack])]
    depths.append(one.values[f"{stack}.residual"])
    ours = [_probabilities(one, one.network.normalized(f"{stack}.final_norm", residual)) for residual in depths]
    yield logit_lens(one.model, one.trace, -1), np.stack(ours)


def _surprise(one: Subject) -> Pairs:
    """The negative log-likelihood of each target token in nats."""
    if "language-model" in one.network.output:
        targets = target_tokens(one.trace)
        found = lens_at(one.model, one.trace, one.network.layers[one.network.predicting], targets)
        wanted = one.ids if one.network.output.startswith("masked") else one.ids[1:]
        logs = np.log(softmax(one.values["logits"]))
        yield found.negative_log_likelihood[: len(wanted)], [-logs[at, token] for at, token in enumerate(wanted)]


def _attribution(one: Subject) -> Pairs:
    if not one.whole_text:
        tokens = np.argsort(-one.values["logits"][one.position])[:5]
        theirs = attribute_logits(one.model, one.trace, -1).logits(tokens)
        ours = one.network.decomposed(one.values, one.position)[:, tokens]
        yield theirs[:-1], ours  # the last component is the effect of edits
        yield theirs.sum(0), one.values["logits"][one.position, tokens]


def _rollout(one: Subject) -> Pairs:
    weights = one.stacked("weights")
    held = np.eye(weights.shape[-1])
    for layer in weights.mean(1):
        mixed = layer if one.network.placement == "none" else (layer + np.eye(len(layer))) / 2
        held = mixed / mixed.sum(-1, keepdims=True) @ held
    theirs = np.stack([one.trace[f"{s}.{i}.{k}.weights"] for s, i, k in _predicting_self(one)])
    yield attention_rollout(theirs, residual=one.network.placement != "none")[-1], held


def _predicting_self(one: Subject) -> Iterator[tuple[str, int, str]]:
    return (each for each in one.attentions() if each[0] == one.network.predicting and each[2] == "self")


def _shares(terms: Array, whole: Array) -> Array:
    """The proximity of each term to the whole (Ferrando and Voita 2024), normalized to sum to one."""
    near: Array = np.maximum(np.abs(whole).sum() - np.abs(whole - terms).sum(-1), 0)
    shares: Array = near / near.sum()
    return shares


def _flow(one: Subject) -> Pairs:
    """The edges of the top layer into the last token, without the negligible terms that Headlight omits."""
    net, stack, at = one.network, one.network.predicting, one.position
    layer, kind = net.layers[stack] - 1, "cross" if len(net.stacks) == 2 else "self"
    block, place = f"{stack}.blocks.{layer}", f"{stack}.{layer}"
    edges = information_flow(one.model, one.trace, -1)
    found = {(edge.kind, edge.source): edge.importance for edge in edges if edge.layer == layer}
    ours: dict[tuple[str, int], float] = {}
    after = one.values[f"{place}.residual_after_{kind}"][at]
    if net.feed_forward != "none":
        terms = np.stack((after, one.values[f"{place}.feed_forward.output"][at], np.zeros_like(after)))
        terms = _onto(net, f"{block}.feed_forward", terms[[0]], terms[[1]])
        ours["feed_forward", at] = _shares(terms[:2], terms.sum(0))[1]
    before = one.values[f"{place}.residual" if kind == "self" else f"{place}.residual_after_self"][at]
    columns = np.split(net.weights[f"{block}.{kind}_attention.output.weight"], net.heads, axis=1)
    v, weights = one.values[f"{place}.{kind}.v"], one.values[f"{place}.{kind}.weights"][:, at]
    written = np.stack([weights[head][:, None] * (v[head] @ columns[head].T) for head in range(net.heads)])
    rest = net.weights.get(f"{block}.{kind}_attention.output.bias", np.zeros_like(before))
    terms = _onto(net, f"{block}.{kind}_attention", before[None], written.reshape(-1, len(before)), rest)
    shares = _shares(terms[:-1], terms.sum(0))
    by_source = shares[1:].reshape(net.heads, -1).sum(0)
    if any(edge.kind == kind and edge.layer == layer for edge in edges):
        ours |= {(kind, source): share for source, share in enumerate(by_source)}
    common = [edge for edge in found if edge in ours]
    yield [found[edge] for edge in common], [ours[edge] for edge in common]
    missed = [share for edge, share in ours.items() if edge not in found and share > DEFAULT_THRESHOLD + 0.002]
    if any(edge.kind == kind and edge.layer == layer for edge in edges):
        yield np.zeros(len(missed)), missed


def _onto(net: Network, name: str, residual: Array, written: Array, rest: Array | None = None) -> Array:
    """The terms of the residual stream after a sublayer; the last is the unassigned rest."""
    if net.placement == "none":
        residual = np.zeros_like(residual)
    last = np.zeros(residual.shape[1]) if rest is None else rest
    terms = np.concatenate((residual, written, last[None]))
    return net._split_norm(f"{name}_residual.norm", terms, -1) if net.placement == "post" else terms


def _ablation(one: Subject) -> Pairs:
    """The log-probability of the answer without each head."""
    for stack, layer, kind in one.attentions():
        path = f"{stack}.{layer}.{kind}"
        theirs = ablate_heads(one.model, one.trace, path, one.position, one.answer, 0, one.network.heads)
        without = (one.network.forward(one.ids, one.source, (path, head)) for head in range(one.network.heads))
        yield theirs, [math.log(softmax(one._row(values["logits"]))[one.answer]) for values in without]


def _metrics(one: Subject) -> Pairs:
    theirs, weights = head_metrics(one.trace), one.stacked("weights")
    encoding, n = one.trace.text, len(one.ids)
    pieces, special = [piece.strip().casefold() for piece in encoding.token_texts], encoding.special_mask
    mark = [
        bool(piece) and set(piece) <= set(string.punctuation) and not special[at] for at, piece in enumerate(pieces)
    ]
    counts: Mapping[str, Callable[[int, int], bool]] = {
        "previous": lambda q, k: k == q - 1,
        "next": lambda q, k: k == q + 1,
        "current": lambda q, k: k == q,
        "first": lambda q, k: k == 0 != q,
        "same-word": lambda q, k: q != k and pieces[q] == pieces[k] != "" and not mark[q],
        "induction": lambda q, k: 0 < k <= q and one.ids[k - 1] == one.ids[q] and not special[k - 1] and not mark[q],
        "punctuation": lambda q, k: q != k and mark[k],
        "special": lambda q, k: q != k and bool(special[k]),
    }
    causal = one.network.causal
    for layer in range(len(weights)):
        for head in range(one.network.heads):
            rows = weights[layer, head]
            for name, is_counted in counts.items():
                cells = [[k for k in range(q + 1 if causal else n) if is_counted(q, k)] for q in range(n)]
                choosing = range(1 if causal else 0, n)  # under a causal mask the first query has one key
                shares = [sum(rows[q, k] for k in cells[q]) for q in choosing if cells[q]]
                yield theirs[name][layer, head], sum(shares) / len(shares) if shares else math.nan
            entropies = [-sum(w * math.log2(w) for w in row if w > 0) for row in rows]
            distances = [sum(w * abs(q - k) for k, w in enumerate(row)) for q, row in enumerate(rows)]
            yield theirs["entropy"][layer, head], sum(entropies) / n
            yield theirs["distance"][layer, head], sum(distances) / n


def _positions(one: Subject) -> Pairs:
    net, length = one.network, 24
    for stack in net.stacks:
        profile = position_profile(one.model, length, stack)
        if profile.embeddings is not None:
            rows = net.position_embedding(stack, length, profile.embeddings.shape[1])
            yield profile.embeddings, rows
            lengths = [math.hypot(*row) for row in rows]
            cosines = [[a @ b / (lengths[i] * lengths[j]) for j, b in enumerate(rows)] for i, a in enumerate(rows)]
            yield profile.similarity, cosines
        if profile.bias is not None:
            yield profile.bias, net.bias(stack, length)
        if profile.angles is not None:
            angles = net.angles(length, 2 * profile.angles.shape[1])
            yield profile.angles, angles
            yield profile.similarity, [[np.cos(a - b).mean() for b in angles] for a in angles]


def _sampling(one: Subject) -> Pairs:
    logits = one._row(one.values["logits"])
    for temperature, top_k, top_p in ((1.0, None, None), (0.7, 20, None), (1.3, None, 0.9), (0.8, 30, 0.7)):
        order = sorted(range(len(logits)), key=lambda token: -logits[token])
        probabilities, kept, reached = softmax(logits / temperature), [], 0.0
        for token in order[: top_k or len(order)]:
            if top_p is None or reached < top_p:
                kept.append(token)
            reached += probabilities[token]
        ours = np.zeros(len(logits))
        ours[kept] = probabilities[kept] / probabilities[kept].sum()
        settings = SamplingConfig(temperature, top_k, top_p)
        theirs = settings.sample(np.asarray(one._row(np.asarray(one.trace.logits))), 0).probabilities
        yield theirs, ours


def _likelihood(one: Subject) -> Pairs:
    """Bits per byte of a text of one and a half contexts, in windows that overlap by half."""
    if one.network.output != "language-model" or not one.network.causal or len(one.network.stacks) == 2:
        return
    line, context, repeats = one.text + "\n", one.network.context_length, 1
    encode = one.network.tokenizer.encode
    while len(encode(line * repeats, add_special_tokens=False).ids) < min(context, 130) * 1.5:
        repeats += 1
    path = one.folder_for_text / f"{one.name}.txt"
    path.write_text(line * repeats, encoding="utf-8")
    start = one.checkpoint.tokenizer.start_id
    text = tokenize_source(TextSource(path), one.checkpoint.tokenizer, start)
    ids = ([] if start is None else [start]) + [
        token
        for row in (line * repeats).strip().split("\n")
        for token in encode(row + "\n", add_special_tokens=False).ids
    ]
    ids = ids[: len(text.ids)]
    window = min(context, len(ids) - 1)
    starts, nats = [*range(0, len(ids) - 1 - window, window // 2), len(ids) - 1 - window], 0.0
    done = 0
    for begin in starts:
        logs = np.log(softmax(one.network.forward(ids[begin : begin + window])["logits"]))
        nats -= sum(logs[at - begin, ids[at + 1]] for at in range(max(begin, done), begin + window))
        done = begin + window
    size = len((line * repeats).strip("\n").encode())
    yield text_likelihood(one.model, text).bits_per_byte, nats / math.log(2) / size


QUANTITIES: Mapping[str, Callable[[Subject], Pairs]] = {
    "attention weights": _weights,
    "scores before the softmax": _scores,
    "residual stream": _residuals,
    "residual norms": _residual_norms,
    "logits": _logits,
    "logit lens (probabilities)": _logit_lens,
    "negative log-likelihood of each token (nats)": _surprise,
    "direct logit attribution": _attribution,
    "attention rollout": _rollout,
    "information flow (shares)": _flow,
    "head ablation (log-probabilities)": _ablation,
    "head metrics": _metrics,
    "position profiles": _positions,
    "sampling probabilities": _sampling,
    "bits per byte": _likelihood,
}


def difference(one: Subject, name: str) -> float | None:
    """The largest difference in a quantity, relative to its largest value if that exceeds 1; None if not compared."""
    worst = None
    for theirs, ours in QUANTITIES[name](one):
        first, second = np.asarray(theirs, np.float64), np.asarray(ours, np.float64)
        assert first.shape == second.shape, (one.name, name, first.shape, second.shape)
        assert (np.isnan(first) == np.isnan(second)).all(), (one.name, name)
        if (known := ~np.isnan(first)).any():
            scale = max(1.0, float(np.abs(second[known]).max()))
            worst = max(worst or 0.0, float(np.abs(first - second)[known].max()) / scale)
    return worst
