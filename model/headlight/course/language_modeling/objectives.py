"""Next-token and masked training: the tokens to predict; and a new decoder that learns one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.checkpoints.load import Checkpoint
from headlight.config import Config
from headlight.course.controls import ChoiceControl, CountControl, ModelControl, SeedControl, TextControl
from headlight.course.fitting import fit
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import sentence_batch, target_loss, token_labels
from headlight.errors import InputError, counted
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_nearest, ask_number, choose
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.inputs import encode_input
from headlight.training.objectives.batch import IGNORE_INDEX
from headlight.training.objectives.texts import TRAINING_REPLACEMENTS, TokenMasker
from headlight.views.kinds import LinesView, TableView, TokensView, Verdict
from headlight.views.rows import row
from headlight.views.words import percent

MOST_WORDS, D_MODEL, LEARNING_RATE = 24, 32, 1e-3
SHOWN = 8  # steps whose output is shown


@torch.inference_mode()
def shifted_targets(model: Checkpoint, text: str) -> ScreenRows:
    """Each token of the sentence and its target, with the target's probability and loss."""
    network, tokenizer = model.model, model.tokenizer
    encoded, batch = sentence_batch(model, text)
    labels = token_labels(encoded)
    probabilities = network(batch.ids)[0, :-1].float().softmax(-1).cpu()
    wanted = batch.targets[0, :-1].cpu()
    of_target = probabilities[torch.arange(len(wanted)), wanted]
    best = [tokenizer.stripped_token_text(int(token)) for token in probabilities.argmax(-1)]
    rows = tuple(
        (f"{labels[at]}", labels[at + 1], float(p), -float(p.log()), best[at]) for at, p in enumerate(of_target)
    )
    right = sum(token == label for token, label in zip(best, labels[1:], strict=True))
    return (
        TokensView(
            f"The {len(labels)} tokens of the text",
            labels,
            note=f"“{labels[0]}” separates texts: after it the model predicts how one begins."
            if encoded.special_mask[0]
            else "",
        ),
        row(
            TokensView("What the model reads: all but the last", labels[:-1]),
            TokensView("Targets: the same, shifted by one", labels[1:], shades=of_target),
            question=ask_nearest(
                f"How many predictions does training on these {len(labels)} tokens use at once?",
                {"1, the last": 1} | {str(count): count for count in (len(labels) // 2, len(labels) - 1, len(labels))},
                len(rows),
                {str(len(labels)): f"Nothing follows the last token, “{labels[-1]}”: it has no target."},
            ),
        ),
        TableView(("after", "target", "probability", "loss", "first guess"), rows, digits=3),
        f"One sentence, {len(rows)} tasks, all computed at once: the causal mask hides each target from its own "
        f"prediction. The mean loss is {target_loss(network, batch):.3f} nats; {right} first guesses are right.",
    )


@dataclass(frozen=True)
class Learning:
    """A training run: the loss of each step, the output before some of them, and the step from which it stays right.

    `learned` is None if the last step's answer is still wrong.
    """

    losses: list[float]
    written: dict[int, str]
    learned: int | None


def learn_sentence(words: list[str], given: int, steps: int, seed: int) -> Learning:
    """Trains a new decoder, with its continuations of the first `given` words while the weights change."""
    known = sorted(set(words))
    ids = torch.tensor([[known.index(word) for word in words]])
    config = Config(vocabulary_size=len(known), context_length=MOST_WORDS, d_model=D_MODEL, layers=1, heads=2)
    torch.manual_seed(seed)
    model, written, is_right = Transformer(config).train(), dict[int, str](), list[bool]()
    shown = {round(steps * part / SHOWN) for part in range(SHOWN + 1)}

    def loss() -> Tensor:
        logits = model(ids[:, :-1])[0]
        # If each word is right after the right previous words, the model writes the whole by itself.
        is_right.append(bool((logits.argmax(-1) == ids[0, 1:])[given - 1 :].all()))
        return functional.cross_entropy(logits, ids[0, 1:])

    def keep(step: int) -> None:
        if step in shown:
            written[step] = " ".join(known[each] for each in complete(model, ids[0, :given], len(words)))

    losses = fit(torch.optim.AdamW(model.parameters(), LEARNING_RATE), loss, steps, after_backward=keep)
    losses.append(loss().item())
    keep(steps)
    learned = max((step + 1 for step, right in enumerate(is_right) if not right), default=0)
    return Learning(losses, written, learned if learned <= steps else None)


@torch.no_grad()
def complete(model: Transformer, given: Int[Tensor, " pos"], length: int) -> list[int]:
    """The model's continuation of some words, the likeliest each time, up to `length` words in total."""
    ids = given
    while len(ids) < length:
        ids = torch.cat((ids, model(ids[None])[0, -1:].argmax(-1)))
    return ids[len(given) :].tolist()


def learned_here(text: str, given: int, steps: int, seed: int) -> ScreenRows:
    """The losses of a new decoder on one sentence, and its completions after some of the steps."""
    words = text.split()
    if not given < len(words) <= MOST_WORDS:
        raise InputError(
            f"The sentence has {counted(len(words), 'word')}; with {given} of them given, it needs {given + 1} to "
            f"{MOST_WORDS}."
        )
    found, rest = learn_sentence(words, given, steps, seed), " ".join(words[given:])
    options = ("fewer than 10", "10 to 29", "30 or more", f"not in {steps}")
    answer = 3 if found.learned is None else sum(found.learned >= least for least in (10, 30))
    told = (
        f"{counted(steps, 'step')} were not enough: take more."
        if found.learned is None
        else f"After {counted(found.learned, 'step')} it completes the sentence, and continues to do so."
    )
    return (
        TokensView("Given words, and words to be written", tuple(words), shades=[0.6] * given),
        row(
            TableView(("steps", "loss", "completion"), tuple(
                    (str(step), found.losses[step], f"{line} {'✓' if line == rest else '✗'}")
                    for step, line in found.written.items()
                ), title=f"Continuations of “{' '.join(words[:given])}”", digits=3),
            LinesView("Mean loss of the next word", range(steps + 1), {"loss": found.losses}, "step", "nats"),
            question=choose(
                "After how many steps does it complete your sentence, and continue to do so?", options, answer, {}
            ),
        ),
        Verdict(
            f"{told} Before the first step its loss is {found.losses[0]:.2f} nats; if all words were equally likely, "
            f"it would be ln {len(set(words))} = {log(len(set(words))):.2f}. It learns one sentence by heart, but no "
            "language.",
            good=found.learned is not None,
        ),
    )  # fmt: skip


SHIFTED_TARGETS = Screen(
    title="Next-token training: the sentence is its own answer",
    lesson="The targets are the tokens themselves, shifted by one: at every token the model predicts the next, so no "
    "labels are needed. The shade of a target is its probability under a trained model. Or train a new model, and see "
    "its predictions change until it completes your sentence.",
    controls={
        "on": ChoiceControl(
            "Shown on", "trained", {"trained": "A trained model", "here": "A new one, trained on this sentence now"}
        ),
        "model": ModelControl(default="stories-causal", needs="continues-texts"),
        "text": TextControl("Sentence", "Once upon a time there was a little girl"),
        "given": CountControl("Words that are given", "2", 1, 8),
        "steps": CountControl("Steps", "60", 1, 200),
        "seed": SeedControl(),
    },
    compute={"trained": shifted_targets, "here": learned_here},
    formulas=(r"L = -\frac{1}{n} \sum_i \log p(t_{i+1} \mid t_1, \ldots, t_i)",),
    code=(shifted_targets, target_loss, learn_sentence, complete, fit),
    explore=link("model", "text"),
)


DRAWS = 20  # draws of the same sentence, so that shares become visible
REPLACEMENTS = {"bert": (0.8, 0.1), "headlight": TRAINING_REPLACEMENTS}
SHADES = {"[MASK]": 1.0, "random": 0.6, "kept": 0.3, "": 0.0}


def masking(model: Checkpoint, text: str, rate: int, shares: str, seed: int) -> ScreenRows:
    """The sentence masked as in training, many times; the predictions of the first draw, and its loss."""
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
        TokensView("The sentence", labels),
        row(
            TokensView("What the model reads", read, shades=[SHADES[kind] for kind in kinds], below=tuple(kinds)),
            question=ask_number(
                f"{rate} % of the tokens are targets. What percentage of all tokens becomes [MASK], on average?",
                rate * REPLACEMENTS[shares][0],
                (rate, "Not every target becomes [MASK]: some become random tokens, and some stay."),
                (100 * REPLACEMENTS[shares][0], "That is the share among the targets, not among all tokens."),
                hints=(f"{percent(REPLACEMENTS[shares][0], 0)} of the targets become [MASK].",),
            ),
        ),
        row(_targets(labels, read, kinds, losses), title="Only these targets count in training"),
        _verdict(kinds, losses),
        row(_shares(ids, hidden, targets, tokenizer), title=f"{DRAWS} draws of this sentence, counted"),
    )


def fate(token: int, read: int, target: int, tokenizer: Tokenizer) -> str:
    """The fate of a token: none, or that of a target: masked, replaced at random, or kept."""
    if target == IGNORE_INDEX:
        return ""
    return "[MASK]" if read == tokenizer.mask_id else "kept" if read == token else "random"


@torch.inference_mode()
def token_losses(model: Transformer, read: np.ndarray, original: np.ndarray) -> Float[Tensor, " pos"]:
    """The loss in nats of each original token at its position in the masked sentence."""
    logits = model(torch.tensor(read, device=model.device)[None])
    probabilities: Tensor = logits[0].float().log_softmax(-1)
    return -probabilities[torch.arange(len(original)), torch.tensor(original)].cpu()


def _targets(labels: tuple[str, ...], read: tuple[str, ...], kinds: list[str], losses: Tensor) -> TableView:
    rows = tuple(
        (labels[at], read[at], float((-losses[at]).exp()), float(losses[at])) for at, kind in enumerate(kinds) if kind
    )
    return TableView(("target", "the model reads", "probability of the target", "loss"), rows, digits=3)


def _verdict(kinds: list[str], losses: Tensor) -> Verdict:
    chosen = torch.tensor([bool(kind) for kind in kinds])
    return Verdict(
        f"The loss is the mean over the {int(chosen.sum())} targets: {float(losses[chosen].mean()):.3f} nats. Over all "
        f"{len(kinds)} tokens it would be {float(losses.mean()):.3f}, but training ignores the others."
    )


def _shares(ids: np.ndarray, hidden: np.ndarray, targets: np.ndarray, tokenizer: Tokenizer) -> TableView:
    fates = [
        fate(*each, tokenizer)
        for each in zip(ids.ravel().tolist(), hidden.ravel().tolist(), targets.ravel().tolist(), strict=True)
    ]
    ordinary = int((~np.isin(ids, list(tokenizer.special_ids))).sum())
    count = sum(map(bool, fates))
    rows = (
        ("tokens that may be targets", f"{ordinary}", ""),
        ("targets", f"{count}", f"{percent(count / ordinary, 0)} of these tokens"),
        *(
            (f"targets: {kind}", f"{fates.count(kind)}", percent(fates.count(kind) / count, 0))
            for kind in tuple(SHADES)[:3]
        ),
    )
    return TableView(("", "count", "share"), rows)


MASKING = Screen(
    title="Masked training: hide some words, and predict them",
    lesson="Some tokens are drawn as targets. Most of them are replaced by [MASK], a few by a random token, and a few "
    "stay, so that the model must be able to predict every word. The loss counts only the targets.",
    controls={
        "model": ModelControl(default="stories-masked", needs="fills-masks"),
        "text": TextControl("Sentence", "The cat sat on the mat and looked at the little bird in the tall tree."),
        "rate": CountControl("Targets in percent", "15", 5, 100),
        "shares": ChoiceControl(
            "Of the targets",
            "bert",
            {
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
