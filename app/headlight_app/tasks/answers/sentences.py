"""Two sentences compared by their pooled vectors: each token pair's part of the cosine, and each head's effect."""

from __future__ import annotations

from typing import Any

import numpy as np

from headlight.analysis.sentences.pooling import is_sentence_encoder, read_sentence_pooling
from headlight.analysis.sentences.similarity import Similarity, cosines_without_heads, sentence_similarity
from headlight.attention_groups import attention_groups
from headlight.errors import TextError
from headlight_app.contract.reply import Reply
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve
from headlight_app.tasks.contract import (
    SentenceSimilarityAnswer,
    SentenceSimilarityRequest,
    SimilarityHeadsAnswer,
    SimilarityHeadsRequest,
    SimilarityRequest,
)


def answer_sentence_similarity(request: SentenceSimilarityRequest) -> Reply[SentenceSimilarityAnswer]:
    """The cosine of two sentences, and the contribution of each pair of tokens."""
    resolved, found = _compare(request)
    one, other = (trace.text.token_texts for trace in found.traces)
    answer = SentenceSimilarityAnswer(
        tokens=tuple(one),
        other_tokens=tuple(other),
        cosine=found.cosine,
        pooling=found.pooling.mode,
        normalized=found.pooling.normalized,
        is_told=is_sentence_encoder(resolved.location.folder),
    )
    return Reply(answer, found.pairs.astype("<f4").tobytes())


def answer_similarity_heads(request: SimilarityHeadsRequest) -> Reply[SimilarityHeadsAnswer]:
    """The cosine with each head switched off in both sentences."""
    resolved, found = _compare(request)
    (group,) = attention_groups(resolved.config) or (None,)
    layers, heads = (group.layers, group.heads) if group else (0, 0)
    cosines = np.full((layers, heads), np.nan, dtype="<f4")
    for effect in cosines_without_heads(resolved.model, found):
        cosines[int(effect.path.split(".")[1]), effect.head] = effect.cosine
    return Reply(SimilarityHeadsAnswer(cosine=found.cosine, layers=layers, heads=heads), cosines.tobytes())


def _compare(request: SimilarityRequest[Any]) -> tuple[ResolvedQuestion, Similarity]:
    """Both sentences, read with the edits of the question. Raises TextError if one is empty."""
    resolved = resolve(request.question)
    if not (resolved.question.text.strip() and request.other_text.strip()):
        raise TextError("Type two sentences: their vectors are compared.")
    pooling = read_sentence_pooling(resolved.location.folder, resolved.question.model)
    texts, edits = (resolved.question.text, request.other_text), resolved.question.edits
    return resolved, sentence_similarity(resolved.model, resolved.tokenizer, *texts, pooling, edits)
