"""Masked language modeling: which tokens are hidden, and the loss on those alone."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ChoiceControl, ModelControl, NumberControl, SeedControl, TextControl
from headlight.course.pictures import TablePicture, TokensPicture, Verdict, row
from headlight.course.questions import ask_number
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import token_labels
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.run import encode_input
from headlight.training.objectives.batch import IGNORE_INDEX
from headlight.training.objectives.texts import TRAINING_REPLACEMENTS, TokenMasker

DRAWS = 20  # of the same sentence, so that shares can be seen
REPLACEMENTS = {"bert": (0.8, 0.1), "headlight": TRAINING_REPLACEMENTS}
SHADES = {"[MASK]": 1.0, "random": 0.6, "kept": 0.3, "": 0.0}


def masking(model: Checkpoint, text: str, rate: int, shares: str, seed: int) -> Answer:
    """The sentence as training hides it, many times; the predictions of the first draw, and its loss."""
    network, tokenizer = model.model, model.tokenizer
    encoded = encode_input(network, tokenizer, text)
    ids = np.array([encoded.ids] * DRAWS)
    masker = TokenMasker(tokenizer)
    hidden, targets = masker.mask(
        ids, np.ones(ids.shape, bool), np.random.default_rng(seed), rate / 100, REPLACEMENTS[shares]
    )
    first = int((targets != IGNORE_INDEX).any(1).argmax())
    labels = token_labels(encoded)
    kinds = [
        fate(*each, tokenizer)
        for each in zip(ids[first].tolist(), hidden[first].tolist(), targets[first].tolist(), strict=True)
    ]
    read = tuple(tokenizer.stripped_token_text(int(token)) for token in hidden[first])
    losses = token_losses(network, hidden[first], ids[first])
    return (
        row(TokensPicture(title="The sentence", tokens=labels)),
        row(
            TokensPicture(
                title="What the model reads", tokens=read, shades=[SHADES[kind] for kind in kinds], below=tuple(kinds)
            ),
            question=ask_number(
                f"{rate} % of the tokens are targets. What percentage of all tokens becomes [MASK], on average?",
                rate * REPLACEMENTS[shares][0],
                (rate, "Not every target becomes [MASK]: some become random tokens, and some stay."),
                (100 * REPLACEMENTS[shares][0], "That is the share of the targets, and not of all tokens."),
                hints=(f"{REPLACEMENTS[shares][0]:.0%} of the targets become [MASK].",),
            ),
        ),
        row(_targets(labels, read, kinds, losses), title="Only these are learned from"),
        row(_verdict(kinds, losses)),
        row(_shares(ids, hidden, targets, tokenizer), title=f"{DRAWS} draws of this sentence, counted"),
    )


def fate(token: int, read: int, target: int, tokenizer: Tokenizer) -> str:
    """What became of a token: nothing, or it is a target that was masked, made random, or kept."""
    if target == IGNORE_INDEX:
        return ""
    return "[MASK]" if read == tokenizer.mask_id else "kept" if read == token else "random"


@torch.inference_mode()
def token_losses(model: Transformer, read: np.ndarray, original: np.ndarray) -> Float[Tensor, " pos"]:
    """The loss in nats of each original token, at its place in what the model reads."""
    logits = model(torch.tensor(read, device=model.device)[None])
    probabilities: Tensor = logits[0].float().log_softmax(-1)
    return -probabilities[torch.arange(len(original)), torch.tensor(original)].cpu()


def _targets(labels: tuple[str, ...], read: tuple[str, ...], kinds: list[str], losses: Tensor) -> TablePicture:
    rows = tuple(
        (labels[at], read[at], float((-losses[at]).exp()), float(losses[at])) for at, kind in enumerate(kinds) if kind
    )
    return TablePicture(columns=("target", "the model reads", "probability of the target", "loss"), rows=rows, digits=3)


def _verdict(kinds: list[str], losses: Tensor) -> Verdict:
    chosen = torch.tensor([bool(kind) for kind in kinds])
    return Verdict(
        text=f"The loss is the mean over the {int(chosen.sum())} targets: {float(losses[chosen].mean()):.3f} nats. "
        f"Over all {len(kinds)} tokens it would be {float(losses.mean()):.3f}, but training never asks for the others."
    )


def _shares(ids: np.ndarray, hidden: np.ndarray, targets: np.ndarray, tokenizer: Tokenizer) -> TablePicture:
    fates = [
        fate(*each, tokenizer)
        for each in zip(ids.ravel().tolist(), hidden.ravel().tolist(), targets.ravel().tolist(), strict=True)
    ]
    ordinary = int((~np.isin(ids, list(tokenizer.special_ids))).sum())
    count = sum(map(bool, fates))
    rows = (
        ("tokens that may be targets", f"{ordinary}", ""),
        ("targets", f"{count}", f"{count / ordinary:.0%} of those"),
        *(
            (f"of them {kind}", f"{fates.count(kind)}", f"{fates.count(kind) / count:.0%}")
            for kind in tuple(SHADES)[:3]
        ),
    )
    return TablePicture(columns=("", "count", "share"), rows=rows)


MASKING = Screen(
    title="Masked training: hide some words, and ask for them",
    lesson="Some tokens are drawn as targets. Most of them are replaced by [MASK], a few by a random token, and a few "
    "stay, so that the model must have an opinion on every word. The loss counts the targets alone.",
    controls={
        "model": ModelControl(default="stories-masked", needs="fills-masks"),
        "text": TextControl(
            title="Sentence", default="The cat sat on the mat and looked at the little bird in the tall tree."
        ),
        "rate": NumberControl(title="Targets in percent", default="15", low=5, high=100, whole=True),
        "shares": ChoiceControl(
            title="Of the targets",
            default="bert",
            options={
                "bert": "80 % [MASK], 10 % random, 10 % kept (BERT)",
                "headlight": "90 % [MASK], 5 % random, 5 % kept (our models)",
            },
        ),
        "seed": SeedControl(),
    },
    compute=masking,
    formulas=(r"L = -\frac{1}{|M|} \sum_{i \in M} \log p(t_i)",),
    code=(TokenMasker, token_losses),
    explore=link("model", "text"),
)
