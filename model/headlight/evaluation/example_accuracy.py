"""The accuracy of a model on examples, and whether its heads look at the sources of its answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from headlight.array_types import Bool, Float
from headlight.checkpoints import Checkpoint
from headlight.data.examples import Example, GeneratedTask, Span
from headlight.errors import DataError
from headlight.generation.generate import generate
from headlight.generation.rules import end_tokens
from headlight.tasks import label_text, task_of
from headlight.tracing.run import run
from headlight.training.objectives import EXAMPLE_OBJECTIVES
from headlight.training.objectives.examples import ExampleObjective
from headlight.training.train_step import logits_and_targets
from headlight.vision.image import Box, ProcessedImage, process_image
from headlight.vision.patches import EncodedImage


class AnswerBigrams:
    """A baseline that ignores the question: it guesses the token that most often follows the token before it."""

    def __init__(self, answers: Sequence[Sequence[Hashable]]) -> None:
        counts: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        for answer in answers:
            for before, token in pairwise((None, *answer)):
                counts[before][token] += 1
        self.following = {before: tokens.most_common(1)[0][0] for before, tokens in counts.items()}

    def tokens_right(self, answer: Sequence[Hashable]) -> int:
        """The number of correctly guessed tokens of an answer, each guessed after the right tokens before it."""
        return sum(self.following.get(before) == token for before, token in pairwise((None, *answer)))


BATCH_ROWS = 100
LINK_EXAMPLES = 100  # number of traced examples
BASELINE_SEED, BASELINE_EXAMPLES = 3, 2000  # seed and number of the training answers for the baseline


@dataclass(frozen=True)
class ExampleAccuracy:
    """The numbers of right tokens, and of fully right answers, on held-out examples.

    `link_agreement` is the fraction of linked tokens for which a head attends most to their source; `guessed` is the
    number of tokens that `AnswerBigrams` guesses.
    """

    task: str
    read: str  # "text" or "picture"
    tokens_right: int
    tokens: int
    exact: int
    examples: int
    link_agreement: Float[np.ndarray, "layer head"]
    guessed: int

    @property
    def token_accuracy(self) -> float:
        """The fraction of right tokens in the answers."""
        return self.tokens_right / self.tokens

    @property
    def exact_accuracy(self) -> float:
        """The fraction of answers that are fully right."""
        return self.exact / self.examples

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        rates = {"token accuracy": self.token_accuracy, "exact": self.exact_accuracy}
        rates |= {"token accuracy of bigrams": self.guessed / self.tokens}
        counts = {"tokens": self.tokens, "examples": self.examples}
        return {"task": self.task, **rates, **counts, "link agreement": self.link_agreement.tolist()}

    def sentences(self) -> list[str]:
        """A sentence on the answers, and one on the heads."""
        layer, head = divmod(int(self.link_agreement.argmax()), self.link_agreement.shape[1])
        return [
            f"On {self.examples:,} held-out examples of the task {self.task}, {self.tokens_right:,} of "
            f"{self.tokens:,} tokens of the answers are right ({self.token_accuracy:.2%}), and {self.exact:,} "
            f"whole answers ({self.exact_accuracy:.1%}). Bigrams of answers, which do not see what is asked, have "
            f"{self.guessed / self.tokens:.1%} of the tokens right.",
            f"Where a part of an answer is made from a part of the {self.read}, head {layer}.{head} attends most to "
            f"that part in {self.link_agreement[layer, head]:.1%} of the cases, more often than any other.",
        ]


def example_objective(checkpoint: Checkpoint, task: GeneratedTask) -> ExampleObjective:
    """The training objective of a model, by its architecture. Raises DataError if there is none."""
    config = checkpoint.model.config
    for objective in EXAMPLE_OBJECTIVES.values():
        if all(getattr(config, name) == objective.config_values[name] for name in ("architecture", "output_head")):
            return objective(checkpoint.tokenizer, task, image=config.image)
    raise DataError(f"A model of this kind answers no examples of the task {task.name}.")


@torch.inference_mode()
def example_accuracy(checkpoint: Checkpoint, task: GeneratedTask, count: int, seed: int) -> ExampleAccuracy:
    """Measure a model on held-out examples.

    Each token of an answer is predicted from the right tokens before it, so an answer is fully right exactly if greedy
    decoding gives it.
    """
    objective, examples = example_objective(checkpoint, task), task.held_out_examples(seed, count)
    tokens_right = tokens = wrong = 0
    for at in range(0, count, BATCH_ROWS):
        batch = objective.make_batch(examples[at : at + BATCH_ROWS]).to(checkpoint.model.device)
        logits, targets = logits_and_targets(checkpoint.model, batch)
        is_right = logits.argmax(-1) == targets
        tokens_right, tokens = tokens_right + int(is_right.sum()), tokens + len(targets)
        wrong += len(set(batch.target_rows[~is_right].tolist()))
    agreement = link_agreement(checkpoint, examples[:LINK_EXAMPLES])
    bigrams = AnswerBigrams(answer_tokens(checkpoint, task.training_examples(BASELINE_SEED, BASELINE_EXAMPLES)))
    guessed = sum(map(bigrams.tokens_right, answer_tokens(checkpoint, examples)))
    read = "picture" if checkpoint.model.config.reads_image else "text"
    return ExampleAccuracy(task.name, read, tokens_right, tokens, count - wrong, count, agreement, guessed)


def answer_tokens(checkpoint: Checkpoint, examples: Sequence[Example]) -> list[Sequence[int | str]]:
    """The tokens of each answer, with the end token if a decoder writes it; or the labels."""
    if task_of(checkpoint.model.config).predicts_labels:
        return [example.answer.split() for example in examples]
    end_id = checkpoint.tokenizer.end_id
    end = [end_id] if checkpoint.model.config.has_cross_attention and end_id is not None else []
    return [[*ids, *end] for ids in checkpoint.tokenizer.encode_batch([example.answer for example in examples])]


def link_agreement(checkpoint: Checkpoint, examples: Sequence[Example]) -> Float[np.ndarray, "layer head"]:
    """The fraction of the answers' linked tokens for which a head attends most to a linked token of the text."""
    hits, count = np.zeros(()), 0
    for example in examples:
        weights, linked = _attention_and_links(checkpoint, example)
        rows = linked.any(1)
        strongest = weights[:, :, rows].argmax(-1)
        hits = hits + np.take_along_axis(linked[rows][None, None], strongest[..., None], -1)[..., 0].sum(-1)
        count += int(rows.sum())
    agreement: np.ndarray = hits / max(1, count)
    return agreement


def _attention_and_links(
    checkpoint: Checkpoint, example: Example
) -> tuple[Float[np.ndarray, "layer head query key"], Bool[np.ndarray, "query key"]]:
    """The attention of the queries that predict an answer, and a mask that is True at their linked keys."""
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    keys: Sequence[Span | Box]
    if model.config.has_cross_attention:
        trace = run(model, tokenizer, example.answer, source=source_of(checkpoint, example), keep=("*.weights",))
        assert trace.source is not None
        keys = trace.source.patch_boxes() if isinstance(trace.source, EncodedImage) else trace.source.offsets
        kind, answer_spans = "cross", list(trace.text.offsets[1:])
        first = 0  # the start token, which predicts the answer's first token
    elif task_of(model.config).predicts_labels:
        trace = run(model, tokenizer, example.text, keep=("*.weights",))
        keys, kind, answer_spans, first = trace.text.offsets, "self", _word_spans(example.answer), 0
    else:
        trace = run(model, tokenizer, f"{example.text} {example.answer}", keep=("*.weights",))
        keys, kind, start = trace.text.offsets, "self", len(example.text) + 1
        answer_spans = [(a - start, b - start) for a, b in keys if a >= start]
        first = len(keys) - len(answer_spans) - 1
    weights = trace.attention(kind)
    linked = np.zeros(weights.shape[2:], dtype=bool)
    for query, answer_span in enumerate(answer_spans, first):
        for link in example.links:
            if _overlap(answer_span, link.answer):
                linked[query] |= [_overlap(key, link.box or link.text) for key in keys]
    return weights, linked


def _word_spans(text: str) -> list[Span]:
    spans, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        spans.append((start, end))
    return spans


def _overlap(one: Span | Box, other: Span | Box) -> bool:
    """Whether two spans, or two boxes (left, top, right, bottom), overlap."""
    axes = len(one) // 2
    sides = zip(one[:axes], other[:axes], one[axes:], other[axes:], strict=True)
    return all(max(start, other_start) < min(end, other_end) for start, other_start, end, other_end in sides)


def source_of(checkpoint: Checkpoint, example: Example) -> str | ProcessedImage:
    """The text or drawing of an example, as input of an encoder."""
    if example.drawing is None:
        return example.text
    return process_image(example.drawing.render(), checkpoint.model.config.image)


def answer(checkpoint: Checkpoint, example: Example, tokens: int) -> str:
    """A model's answer to an example, at most `tokens` tokens long: the likeliest label, or token at each step."""
    model, tokenizer, text = checkpoint.model, checkpoint.tokenizer, example.text
    if task_of(model.config).predicts_labels:
        logits = run(model, tokenizer, text, keep=("logits",)).logits
        assert logits is not None
        return " ".join(label_text(model.config, int(index)) for index in logits.argmax(-1))
    source = source_of(checkpoint, example) if model.config.has_cross_attention else None
    text = text if source is None else ""
    steps = generate(model, tokenizer, text, source=source, steps=tokens, temperature=0.0, keep=("logits",))
    ends = end_tokens(model.config, tokenizer)
    return tokenizer.decode(step.chosen_token for step in steps if step.chosen_token not in ends)
