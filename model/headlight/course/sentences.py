"""A learner's sentence under an opened model: its tokens, and what the model is to predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import CountControl, PartControl
from headlight.course.requirements import require_index, require_part
from headlight.errors import InputError, shortened
from headlight.generation.generate import generate
from headlight.generation.rules import end_tokens
from headlight.nn.hooks import Hook, no_hook
from headlight.nn.transformer import Transformer
from headlight.tasks import require_token_task, task_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.inputs import encode_input, token_tensor
from headlight.tracing.trace import Trace
from headlight.training.objectives.batch import IGNORE_INDEX, Batch
from headlight.training.train_step import cross_entropy

MASKED_EVERY = 4  # tokens from one mask to the next, for a model that fills masks
MOST_TOKENS, MOST_LAYERS = 200, 100
LAYER = PartControl(title="Layer (0 is the first)", default="0", part="layer")
HEAD = PartControl(title="Head (0 is the first)", default="0", part="head")
TOKEN = CountControl("Token (0 is the first)", "2", 0, 31)


def sentence_batch(checkpoint: Checkpoint, text: str) -> tuple[Encoded, Batch]:
    """The sentence as a batch of one, and its targets: each next token, or every fourth token, masked.

    Raises TextError for a text, ConfigError for a model that predicts no tokens, InputError if there are no targets.
    """
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    require_token_task(model.config)
    encoded = encode_input(model, tokenizer, text)
    ids = token_tensor(encoded, model)
    if len(encoded.ids) > MOST_TOKENS:
        raise InputError(f"The text has {len(encoded.ids)} tokens; this screen takes at most {MOST_TOKENS}.")
    targets, read = torch.full_like(ids, IGNORE_INDEX), ids.clone()
    if task_of(model.config).fills_masks:
        positions = [at for at, special in enumerate(encoded.special_mask) if not special][2::MASKED_EVERY]
        if tokenizer.mask_id is None or not positions:
            raise InputError("The text is too short to mask a word of it. Type at least three words.")
        targets[0, positions], read[0, positions] = ids[0, positions], tokenizer.mask_id
    else:
        targets[0, :-1] = ids[0, 1:]
        if ids.shape[1] < 2:
            raise InputError("The text is one token, so there is no next one to predict. Type more words.")
    return encoded, Batch(read, targets)


@torch.inference_mode()
def target_loss(model: Transformer, batch: Batch, hook: Hook = no_hook) -> float:
    """The mean cross-entropy of the targets in nats, with `hook` on every intermediate value."""
    logits = model(batch.ids, hook=hook)
    chosen = batch.targets != IGNORE_INDEX
    return float(cross_entropy(logits[chosen], batch.targets[chosen])) / batch.target_count


@dataclass(frozen=True)
class WordRank:
    """A word as a prediction: its rank among all tokens, 1 for the likeliest, and its probability.

    If a word has several tokens, `name` is the first and `is_part` is True.
    """

    name: str
    is_part: bool
    rank: int
    probability: float

    @property
    def loss(self) -> float:
        """Its loss in nats if it were the next word."""
        return -log(self.probability) if self.probability else inf


def rank_word(checkpoint: Checkpoint, word: str, probabilities: Float[Tensor, " token"]) -> WordRank:
    """The rank of any word. Raises InputError if the tokenizer gives no tokens for it."""
    first, *others = word_pieces(checkpoint, word)
    probability = probabilities[first]
    rank = int((probabilities > probability).sum()) + 1
    return WordRank(checkpoint.tokenizer.stripped_token_text(first), bool(others), rank, float(probability))


def word_pieces(checkpoint: Checkpoint, word: str) -> tuple[int, ...]:
    """The tokens of a word inside a text: with a space in front, if the tokenizer keeps it."""
    ids = checkpoint.tokenizer.encode(f" {word.strip()}", add_special_tokens=False).ids
    if not ids:
        raise InputError(f"The tokenizer gives no tokens for {shortened(word, 30)!r}. Type another word.")
    return ids


def continuation(checkpoint: Checkpoint, prompt: str, edits: Sequence[str] = (), **choices: Any) -> str:
    """A model's continuation of a prompt, without the end-of-text token; `choices` are those of `generate`."""
    steps = generate(checkpoint.model, checkpoint.tokenizer, prompt, edits, keep=(), **choices)
    ends = end_tokens(checkpoint.model.config, checkpoint.tokenizer)
    ids = [step.chosen_token for step in steps if step.chosen_token not in ends]
    return checkpoint.tokenizer.decode(ids)


def value(trace: Trace, path: str) -> Float[Tensor, ...]:
    """A recorded value as a tensor."""
    return torch.tensor(trace[path])


def require_layer(model: Transformer, layer: int) -> str:
    """The path of a layer of the predicting stack. Raises InputError if it does not exist."""
    return f"{model.config.stacks[-1]}.{require_part(model.config, 'layer', layer)}"


def require_token(text: Encoded, token: int) -> int:
    """The token's position. Raises InputError if it does not exist."""
    return require_index(token, len(text.ids), "token", "the text")


def token_labels(text: Encoded) -> tuple[str, ...]:
    """The tokens as labels of a picture: without the space in front of them."""
    return tuple(each.strip() or "␣" for each in text.token_texts)


def require_width(width: int, others: dict[str, int], what: str = "channels") -> None:
    """Raise InputError if typed matrices do not fit together."""
    for name, size in others.items():
        if size != width:
            raise InputError(
                f"These two numbers must be equal: {what} ({width}) and {name} ({size}). Matrices that are multiplied "
                "must fit."
            )
