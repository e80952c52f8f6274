"""The purpose of a decoder's mask: lifting it in a trained model, training without it, and cross-attention."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

import numpy as np
import torch

from headlight.analysis.lenses.logit_lens import KEEP, lens_at, target_tokens
from headlight.checkpoints import Checkpoint
from headlight.config import Config, EmbeddingConfig
from headlight.course.controls import ChoiceControl, CountControl, ModelControl, SeedControl, TextControl
from headlight.course.fitting import fit
from headlight.course.screen import Screen, ScreenRows, StateFields, compare_link, link
from headlight.course.sentences import token_labels, value
from headlight.errors import InputError
from headlight.nn.masks import MASKS, causal
from headlight.nn.stack import Block
from headlight.nn.transformer import Transformer, variant
from headlight.questions.asking import ask_direction, ask_whether
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.training.objectives.batch import Batch
from headlight.training.train_step import cross_entropy, logits_and_targets
from headlight.views.forms import weights_map
from headlight.views.kinds import BarsView, LinesView, ScreenLink, TableView, Verdict
from headlight.views.rows import row

MOST_TOKENS = 24  # tokens drawn
NOTABLE = 0.1  # nats of difference
ROWS, LENGTH = 24, 8  # shape of a training batch


@dataclass(frozen=True)
class OtherMask:
    """A mask that a model was not trained with: its title, its name for models, its label on bars, and the question."""

    title: str
    masks: str
    series: str
    asked: str


OTHER_MASKS = {
    "none": OtherMask(
        "Lifted: all tokens are visible",
        "none",
        "no mask",
        "Without its mask this trained model can see every token that it has to predict. Its loss will be ...",
    ),
    "itself": OtherMask(
        "j < i: not even the token itself is visible",
        "causal+painted:" + ".".join(f"{place}-{place}" for place in range(48)),
        "j < i",
        "A token that may not see itself still sees all tokens before it. The loss of this model will be ...",
    ),
}
STRICT = (
    "The first token then has nothing to look at: a plain softmax gives NaN, Headlight gives weights of 0. In a "
    "decoder, a token also sees itself."
)


def other_mask(model: Checkpoint, text: str, mask: str) -> ScreenRows:
    """The loss of each next token with the model's own mask, and with another one."""
    chosen = OTHER_MASKS[mask]
    own, tokens = next_token_losses(model, model.model, text)
    other, _ = next_token_losses(model, variant(model.model, masks=chosen.masks), text)
    means = float(own.mean()), float(other.mean())
    told = told_of_lifted(*means) if mask == "none" else STRICT
    return (
        row(
            BarsView(
                title="Negative log-likelihood of each token, in nats",
                labels=tokens[:MOST_TOKENS],
                series={"j ≤ i": own[:MOST_TOKENS].tolist(), chosen.series: other[:MOST_TOKENS].tolist()},
                note="j ≤ i: each token sees itself and the tokens before it. 0 means certain. The first token has no "
                "token before it and is not predicted.",
            ),
            question=ask_direction(chosen.asked, means[1] - means[0], NOTABLE),
        ),
        f"Mean {means[0]:.2f} nats under the causal mask, {means[1]:.2f} with {chosen.series} "
        f"(perplexity {exp(min(means[0], 50)):,.1f} and {exp(min(means[1], 50)):,.1f}). {told}",
    )


def told_of_lifted(own: float, lifted: float) -> str:
    """The meaning of the difference of two mean losses."""
    if lifted < own - NOTABLE:
        return "It is better because each token can see the one it has to predict: this says nothing about writing."
    if lifted > own + NOTABLE:
        return "In training it never saw later tokens: now they confuse it."
    return (
        "The mean is almost the same, though single tokens change a lot: in training it never saw a later token, so "
        "the effect of one is random. A model that is trained without the mask behaves differently."
    )


def next_token_losses(checkpoint: Checkpoint, model: Transformer, text: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """The negative log-likelihood of each token but the first, and the labels of these tokens."""
    trace = run(model, checkpoint.tokenizer, text, keep=KEEP)
    count = len(trace.text.ids)
    if count < 2:
        raise InputError("The text has a single token; at least two are needed, since the first is not predicted.")
    lens = lens_at(model, trace, model.config.layers, target_tokens(trace), positions=slice(0, count - 1))
    return lens.negative_log_likelihood, tuple(
        f"{place} {token}" for place, token in enumerate(trace.text.token_texts)
    )[1:]


def _masked(mask: str, **_: object) -> StateFields:
    return {"masks": OTHER_MASKS[mask].masks}


OWN = link("model", "text")
LIFTED = Screen(
    title="Another mask for a trained model",
    lesson="A decoder predicts every next token at once, and the causal mask keeps each prediction from seeing its "
    "answer. Here the same weights run with the mask and without it. Or forbid the diagonal, too: it is often said "
    "that a token of a decoder sees only the tokens before it, but the mask allows j ≤ i.",
    controls={
        "model": ModelControl(default="stories-causal", needs="causal"),
        "text": TextControl("Text", "The dog was happy. The dog ran to the big tree.", longest=300),
        "mask": ChoiceControl("Mask", "none", {name: each.title for name, each in OTHER_MASKS.items()}),
    },
    compute=other_mask,
    formulas=(
        r"L = -\frac{1}{T - 1} \sum_{i=1}^{T-1} \log p(x_{i+1} \mid x_1, \ldots, x_i)",
        MASKS["causal"].formula,
    ),
    code=(other_mask, next_token_losses, causal, variant),
    explore=lambda **values: OWN(**values) | _masked(**values),
    elsewhere={"compare": compare_link(OWN, _masked)},
)


def train_either_way(vocabulary: int, steps: int, seed: int) -> ScreenRows:
    """Two small decoders learn to predict random tokens, one under the causal mask and one without it."""
    losses = {
        name: _train(masks, vocabulary, steps, seed) for name, masks in (("causal", ("causal",)), ("no mask", ()))
    }
    chance = log(vocabulary)
    honest, cheating = (sum(losses[name][-10:]) / len(losses[name][-10:]) for name in ("causal", "no mask"))
    return (
        row(
            LinesView(
                "Training loss",
                range(1, steps + 1),
                losses | {"chance level": [chance] * steps},
                "step",
                "nats per token",
                broken=("chance level",),
            ),
            question=ask_whether(
                f"The chance level is {chance:.2f} nats. Does the model without a mask get below 0.8 of that?",
                cheating < 0.8 * chance,
                "Without a mask it can look at the very token that it has to predict.",
            ),
        ),
        f"The tokens are drawn at random, so no model can do better than log {vocabulary} = {chance:.2f} "
        f"nats. Under the mask the loss ends at {honest:.2f}; without it at {cheating:.2f}"
        + (": the model copies the token it has to predict." if cheating < 0.8 * chance else ". Give it more steps."),
    )


def _train(masks: tuple[str, ...], vocabulary: int, steps: int, seed: int) -> list[float]:
    torch.manual_seed(seed)
    config = Config(
        vocabulary_size=vocabulary,
        context_length=LENGTH,
        d_model=32,
        layers=1,
        heads=2,
        masks=masks,
        embedding=EmbeddingConfig(tied=False),
    )
    model = Transformer(config).train()

    def loss() -> torch.Tensor:
        tokens = torch.randint(vocabulary, (ROWS, LENGTH + 1))
        return cross_entropy(*logits_and_targets(model, Batch(tokens[:, :-1], tokens[:, 1:]))) / tokens[:, 1:].numel()

    return fit(torch.optim.AdamW(model.parameters(), lr=1e-2), loss, steps)


CHEATING = Screen(
    title="Train without the mask, and it cheats",
    lesson="Two small decoders are trained on random tokens, which cannot be predicted. One has the causal mask; the "
    "other may look at the next token, finds the answer there, and its loss falls towards 0. It would be useless: "
    "when a text is written, the next token is not there yet.",
    controls={
        "vocabulary": CountControl("Different tokens", "8", 2, 32),
        "steps": CountControl("Steps", "160", 20, 300),
        "seed": SeedControl(),
    },
    compute=train_either_way,
    formulas=(r"L \ge \log V \text{ for } V \text{ tokens drawn at random}",),
    code=(train_either_way, _train, fit, causal),
    see_also=(ScreenLink("training", "ladder"),),
    is_long=True,
)


def later_weight(trace: Trace, path: str) -> float:
    """The largest weight of any head on a later token."""
    weights = value(trace, path)
    return float(weights.triu(1).amax()) if weights.shape[-1] > 1 else 0.0


def decoder_parts(model: Checkpoint, source: str, text: str) -> ScreenRows:
    """The attentions of each layer of a decoder, and its self-attention weights on later tokens."""
    network, config = model.model, model.model.config
    if not text.strip():
        raise InputError("The text of the decoder is empty. Type something.")
    given = source if config.architecture == "encoder-decoder" else None
    own, lifted = (
        run(each, model.tokenizer, text, source=given, keep=("decoder.*.weights",))
        for each in (network, variant(network, masks="none"))
    )
    paths = [path for path in own.values if path.endswith(".weights")]
    masked, cross = ([path for path in paths if f".{kind}." in path] for kind in ("self", "cross"))
    rows = tuple(
        (_title(path), *map(str, own[path].shape), *_later(own, lifted, path, path in masked)) for path in paths
    )
    with_mask, without = (max(later_weight(each, path) for path in masked) for each in (own, lifted))
    labels = token_labels(own.text)
    first = [(masked[0], labels), *((path, token_labels(own.source)) for path in cross[:1] if own.source)]
    return (
        row(
            *(weights_map(f"{_title(path)}, head 0", torch.tensor(own[path][0]), labels, keys) for path, keys in first),
            question=ask_whether(
                "Does this decoder have cross-attention?",
                bool(cross),
                "A decoder by itself has no encoder to look at."
                if not cross
                else "It has an encoder, and looks at the encoder's output.",
            ),
        ),
        TableView(
            ("attention", "heads", "queries", "keys", "largest weight on a later token", "without the mask"),
            rows,
            title="Every attention of the decoder",
        ),
        Verdict(
            f"{len(masked)} self-attentions, {len(cross)} cross-attentions. No self-attention gives a later "
            f"token more than {with_mask:.2f}; without its mask it would be up to {without:.2f}. "
            + (
                "Cross-attention may look at the whole source: none of it has to be predicted."
                if cross
                else "There is no encoder to look at, so a decoder by itself has no cross-attention."
            ),
            good=with_mask == 0,
        ),
    )


def _title(path: str) -> str:
    _, layer, kind, _ = path.split(".")
    return f"layer {layer}, {kind}-attention"


def _later(own: Trace, lifted: Trace, path: str, is_masked: bool) -> tuple[str, str]:
    if not is_masked:
        return "—", "—"
    return f"{later_weight(own, path):.2f}", f"{later_weight(lifted, path):.2f}"


DECODERS = Screen(
    title="What makes a decoder?",
    lesson="Some notes describe a decoder as an encoder with cross-attention and forget its mask; others give every "
    "decoder cross-attention. The mask makes a decoder. Cross-attention is only there if there is an encoder.",
    controls={
        "model": ModelControl(default="dates", needs="masked-decoder"),
        "source": TextControl("Source (for an encoder)", "third of March 2021"),
        "text": TextControl("Text of the decoder", "2021-03-03"),
    },
    compute=decoder_parts,
    formulas=(MASKS["causal"].formula,),
    code=(later_weight, Block, variant),
    explore=link("model", "source", "text"),
)
