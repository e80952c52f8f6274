"""Vectors of an opened model: rows of its embedding, their sum with positions, and their changes by context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from headlight.analysis.principal_components import project_to_plane
from headlight.analysis.residual_stream import require_attention_alone, require_one_stream
from headlight.array_types import Float
from headlight.cancellation import check_cancelled
from headlight.checkpoints import Checkpoint
from headlight.errors import InputError, shortened
from headlight.nn.transformer import Transformer, variant
from headlight.text.tokenizer import Encoded
from headlight.text.word_groups import group_texts, word_groups
from headlight.tracing.inputs import encode_input, token_tensor
from headlight.tracing.predictions import prediction_positions
from headlight.tracing.recording import to_numpy
from headlight.tracing.run import run
from headlight.tracing.trace import Trace

BATCH_SIZE = 16  # texts in one forward pass


@dataclass(frozen=True)
class Neighbour:
    """A token near another one: its text, its id, and the cosine of both embeddings."""

    token: str
    id: int
    cosine: float


@dataclass(frozen=True, eq=False)
class EmbeddingSum:
    """The input of the first layer: token embeddings plus position embeddings, for each token."""

    text: Encoded
    embeddings: Float[np.ndarray, "pos d_model"]
    position_embeddings: Float[np.ndarray, "pos d_model"]
    first_input: Float[np.ndarray, "pos d_model"]


@dataclass(frozen=True, eq=False)
class WordInContext:
    """One word in two texts: its tokens there, and the cosine of both vectors before each layer and at the end."""

    words: tuple[str, str]
    cosines: Float[np.ndarray, " depth"]
    vectors: Float[np.ndarray, "depth text d_model"]


@torch.inference_mode()
def nearest_tokens(checkpoint: Checkpoint, token_id: int, count: int) -> tuple[Neighbour, ...]:
    """The tokens whose embeddings have the largest cosine with that of `token_id`, without this token itself."""
    embedding = checkpoint.model.embedding.weight.float()
    cosines = functional.cosine_similarity(embedding, embedding[token_id][None], dim=-1)
    cosines[token_id] = -torch.inf
    best = cosines[: checkpoint.tokenizer.vocabulary_size].topk(count)
    return tuple(
        Neighbour(checkpoint.tokenizer.stripped_token_text(index), index, value)
        for index, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    )


@torch.inference_mode()
def embedding_cosines(checkpoint: Checkpoint, ids: list[int]) -> Float[np.ndarray, "token other"]:
    """The cosine of each pair of these tokens' embeddings."""
    unit = functional.normalize(checkpoint.model.embedding.weight[ids].float(), dim=-1)
    return to_numpy(unit @ unit.T)


def embedding_map(
    checkpoint: Checkpoint, ids: list[int]
) -> tuple[Float[np.ndarray, "token axis"], tuple[float, float]]:
    """The embeddings of these tokens in the plane of their first two principal components, as `project_to_plane`."""
    return project_to_plane(to_numpy(checkpoint.model.embedding.weight[ids].detach()))


def word_ids(checkpoint: Checkpoint, words: str) -> list[int]:
    """The ids that words have inside a sentence (after a space), each once. Raises InputError if there is none."""
    encoded = checkpoint.tokenizer.encode(" " + words.strip())
    ids = dict.fromkeys(
        token_id
        for token_id, text, special in zip(encoded.ids, encoded.token_texts, encoded.special_mask, strict=True)
        if not special and text.strip()
    )
    if not ids:
        raise InputError("This model knows none of these words. Type one or more that it knows.")
    return list(ids)


def embedding_sum(checkpoint: Checkpoint, text: str, positional_encoding: str | None = None) -> EmbeddingSum:
    """Both summands and the sum in a forward pass, optionally with another positional encoding."""
    model = variant(checkpoint.model, positional_encoding=positional_encoding)
    require_one_stream(model.config, "the sum of token and position embeddings")
    require_attention_alone(model.config, "the sum of token and position embeddings")
    stack = model.config.stacks[-1]
    paths = [f"{stack}.embedding", f"{stack}.position_embedding", f"{stack}.0.residual"]
    trace = run(model, checkpoint.tokenizer, text, keep=paths)
    embeddings, positions, first_input = (trace[path] for path in paths)
    return EmbeddingSum(trace.text, embeddings, np.broadcast_to(positions, embeddings.shape), first_input)


def word_in_context(checkpoint: Checkpoint, word: str, texts: tuple[str, str]) -> WordInContext:
    """The residual stream at the last token of a word, before each layer and after the last, in two texts.

    Raises InputError if a text lacks the word.
    """
    streams, words = [], []
    for text in texts:
        trace = run(checkpoint.model, checkpoint.tokenizer, text, keep=("*.residual",))
        group = _find_word(trace.text, word)
        words.append(group_texts(trace.text, (group,))[0].strip())
        streams.append(_residual_stream(trace)[:, group[-1]])
    vectors = np.stack(streams, axis=1)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.finfo(np.float32).tiny)
    return WordInContext((words[0], words[1]), (unit[:, 0] * unit[:, 1]).sum(-1), vectors)


def first_mask(checkpoint: Checkpoint, text: str) -> tuple[Trace, int]:
    """The trace of a text, and the position of its first mask. Raises InputError if there is none."""
    trace = run(checkpoint.model, checkpoint.tokenizer, text, keep=("*.final_residual", "logits"))
    places = prediction_positions(checkpoint.model, checkpoint.tokenizer, trace.text)
    if not (places and checkpoint.tokenizer.mask_id in trace.text.ids):
        raise InputError("This model does not fill masks. Choose one that does, or another word.")
    return trace, places[0]


@torch.inference_mode()
def classify_alone(model: Transformer, vector: Float[Tensor, " d_model"]) -> Float[Tensor, " token"]:
    """The classifier on one token's last vector, without any other token."""
    logits: Tensor = model.output_head(vector[None, None].to(model.device))
    return logits[0, 0].float().cpu()


@torch.inference_mode()
def text_vectors(checkpoint: Checkpoint, texts: Sequence[str]) -> Float[np.ndarray, "text d_model"]:
    """One vector for each text: the mean of its tokens' vectors after the final norm, special tokens left out."""
    model = checkpoint.model
    encoded = [encode_input(model, checkpoint.tokenizer, text) for text in texts]
    vectors = []
    for first in range(0, len(encoded), BATCH_SIZE):
        check_cancelled()
        batch = encoded[first : first + BATCH_SIZE]
        ids = pad_sequence([token_tensor(text, model)[0] for text in batch], batch_first=True)
        lengths = torch.tensor([[len(text.ids)] for text in batch], device=ids.device)
        final = model.encode_hidden(ids, padding_mask=torch.arange(ids.shape[1], device=ids.device) < lengths)
        for text, rows in zip(batch, to_numpy(final), strict=True):
            counted = ~np.array(text.special_mask)
            vectors.append(rows[: len(counted)][counted if counted.any() else slice(None)].mean(0))
    return np.stack(vectors)


def _residual_stream(trace: Trace) -> Float[np.ndarray, "depth pos d_model"]:
    """The residual stream before each layer and after the last."""
    stack = trace.config.stacks[-1]
    paths = [f"{stack}.{layer}.residual" for layer in range(trace.config.num_layers(stack))]
    return np.stack([trace[path] for path in (*paths, f"{stack}.residual")])


def _find_word(text: Encoded, word: str) -> tuple[int, ...]:
    """The tokens of the first occurrence of a word, ignoring case. Raises InputError if there is none."""
    groups = word_groups(text)
    for group, found in zip(groups, group_texts(text, groups), strict=True):
        if found.strip().lower() == word.strip().lower():
            return group
    raise InputError(
        f"The text {shortened(text.text)!r} does not contain the word {shortened(word.strip())!r}. Type it in both."
    )
