"""Where a run begins: not from chance, but with the weights of another model, as far as they fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from model.checkpoints import Loaded, load
from model.errors import DataError
from model.nn.transformer import Transformer
from model.text.tokenizer import Tokenizer


def begin_with(folder: Path, model: Transformer, tokenizer: Tokenizer, say: Callable[[str], None]) -> None:
    """Copies the weights of the model in `folder` wherever name and shape agree; tokens find theirs by spelling.

    A stack finds the other's stack, whatever it is called: what has learned to continue texts is a good start for
    filling gaps in them (Gisserot-Boukhlef et al. 2025). Raises DataError where nothing fits.
    """
    other = load(folder)
    theirs = {_plain(name): parameter for name, parameter in other.model.named_parameters()}
    fitting = []
    for name, parameter in model.named_parameters():
        found = theirs.get(_plain(name))
        if found is not None and found.shape == parameter.shape and "embedding" not in name:
            fitting.append(name)
            with torch.no_grad():
                parameter.copy_(found)
    words = _copy_words(other, model, tokenizer)
    if not fitting or not words:
        raise DataError(f"The model in {folder} has no weights that fit this recipe's model.")
    say(f"Begun with {len(fitting)} weights and {words:,} of {tokenizer.size:,} tokens of {folder}.")


def _plain(name: str) -> str:
    return name.replace("encoder.", "stack.", 1).replace("decoder.", "stack.", 1)


@torch.no_grad()
def _copy_words(other: Loaded, model: Transformer, tokenizer: Tokenizer) -> int:
    """Gives each token the vector of the same token there; what begins and ends a text has that of its start."""
    mine, theirs = model.embedding.weight, other.model.embedding.weight
    if mine.shape[1] != theirs.shape[1]:
        return 0
    known = other.tokenizer.backend.get_vocab(with_added_tokens=True)
    if other.tokenizer.start_id is not None:
        for number in (tokenizer.start_id, tokenizer.end_id):
            if number is not None:
                mine[number] = theirs[other.tokenizer.start_id]
    pairs = [
        (number, known[token])
        for token, number in tokenizer.backend.get_vocab(with_added_tokens=True).items()
        if token in known
    ]
    if pairs:
        to, source = (torch.tensor(numbers) for numbers in zip(*pairs, strict=True))
        mine[to] = theirs[source]
    return len(pairs)
