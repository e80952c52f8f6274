"""Where a run begins: not from chance, but with the weights of another model, as far as they fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from model.checkpoints import Checkpoint, load
from model.errors import DataError
from model.nn.transformer import Transformer
from model.text.tokenizer import Tokenizer


def warm_start(folder: Path, model: Transformer, tokenizer: Tokenizer, log: Callable[[str], None]) -> None:
    """Copies the weights of the model in `folder` wherever name and shape agree; tokens find theirs by spelling.

    A stack finds the other's stack, whatever it is called: what has learned to continue texts is a good start for
    filling gaps in them (Gisserot-Boukhlef et al. 2025). Raises DataError where nothing fits.
    """
    other = load(folder)
    theirs = {_stack_neutral_name(name): parameter for name, parameter in other.model.named_parameters()}
    copied = []
    for name, parameter in model.named_parameters():
        found = theirs.get(_stack_neutral_name(name))
        if found is not None and found.shape == parameter.shape and "embedding" not in name:
            copied.append(name)
            with torch.no_grad():
                parameter.copy_(found)
    copied_tokens = _copy_token_embeddings(other, model, tokenizer)
    if not copied or not copied_tokens:
        raise DataError(f"The model in {folder} has no weights that fit this recipe's model.")
    log(f"Begun with {len(copied)} weights and {copied_tokens:,} of {tokenizer.vocabulary_size:,} tokens of {folder}.")


def _stack_neutral_name(name: str) -> str:
    return name.replace("encoder.", "stack.", 1).replace("decoder.", "stack.", 1)


@torch.no_grad()
def _copy_token_embeddings(other: Checkpoint, model: Transformer, tokenizer: Tokenizer) -> int:
    """Gives each token the vector of the same token there; what begins and ends a text has that of its start."""
    mine, theirs = model.embedding.weight, other.model.embedding.weight
    if mine.shape[1] != theirs.shape[1]:
        return 0
    other_ids = other.tokenizer.backend.get_vocab(with_added_tokens=True)
    if other.tokenizer.start_id is not None:
        for number in (tokenizer.start_id, tokenizer.end_id):
            if number is not None:
                mine[number] = theirs[other.tokenizer.start_id]
    pairs = [
        (number, other_ids[token])
        for token, number in tokenizer.backend.get_vocab(with_added_tokens=True).items()
        if token in other_ids
    ]
    if pairs:
        to, source = (torch.tensor(numbers) for numbers in zip(*pairs, strict=True))
        mine[to] = theirs[source]
    return len(pairs)
