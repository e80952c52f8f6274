"""Initialization from another model's weights instead of at random, as far as they fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from headlight.checkpoints import Checkpoint, load
from headlight.errors import DataError
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer import Tokenizer

TOKEN_EMBEDDINGS = ("embedding.weight", "source_embedding.weight")


def warm_start(folder: Path, model: Transformer, tokenizer: Tokenizer, log: Callable[[str], None]) -> None:
    """Copy the weights of the model in `folder` if name and shape agree, and embeddings token by token.

    A decoder initializes an encoder and the other way round: causal language modeling is a good start for masked
    language modeling (Gisserot-Boukhlef et al. 2025). Raises DataError if nothing fits.
    """
    other = load(folder)
    source = {_stack_neutral_name(name): parameter for name, parameter in other.model.named_parameters()}
    copied = []
    for name, parameter in model.named_parameters():
        found = source.get(_stack_neutral_name(name))
        if found is not None and found.shape == parameter.shape and name not in TOKEN_EMBEDDINGS:
            copied.append(name)
            with torch.no_grad():
                parameter.copy_(found)
    copied_tokens = _copy_token_embeddings(other, model, tokenizer)
    if not copied or not copied_tokens:
        raise DataError(f"The model in {folder} has no weights that fit this recipe's model.")
    log(
        f"Initialized {len(copied)} weights and {copied_tokens:,} of {tokenizer.vocabulary_size:,} embeddings "
        f"from {folder}."
    )


def _stack_neutral_name(name: str) -> str:
    return name.replace("encoder.", "stack.", 1).replace("decoder.", "stack.", 1)


@torch.no_grad()
def _copy_token_embeddings(other: Checkpoint, model: Transformer, tokenizer: Tokenizer) -> int:
    """Copy embeddings token by token; start and end tokens get that of the other model's start token."""
    target, source = model.embedding.weight, other.model.embedding.weight
    if target.shape[1] != source.shape[1]:
        return 0
    other_ids = other.tokenizer.backend.get_vocab(with_added_tokens=True)
    if other.tokenizer.start_id is not None:
        for number in (tokenizer.start_id, tokenizer.end_id):
            if number is not None:
                target[number] = source[other.tokenizer.start_id]
    pairs = [
        (number, other_ids[token])
        for token, number in tokenizer.backend.get_vocab(with_added_tokens=True).items()
        if token in other_ids
    ]
    if pairs:
        rows, source_rows = (torch.tensor(numbers) for numbers in zip(*pairs, strict=True))
        target[rows] = source[source_rows]
    return len(pairs)
