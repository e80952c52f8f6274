"""Compare sentences: the cosine of two sentences' vectors, each token pair's part of it, and each head's effect."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headlight.analysis.sentences.pooling import is_sentence_encoder, read_sentence_pooling
from headlight.analysis.sentences.similarity import Similarity, cosines_without_heads, sentence_similarity
from headlight.attention_groups import attention_groups
from headlight.errors import HeadlightError
from headlight.views.kinds import ChangesView, InputView, MatrixView, NumberTable
from headlight.views.rows import Row, row
from headlight.views.words import in_line, names, numbered, quoted, quoted_in_line
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Program, Views
from headlight_app.export.answers.programs import model_arguments
from headlight_app.inference.examples import opening_examples
from headlight_app.inference.open_models import find_model
from headlight_app.inference.resolved_question import ResolvedQuestion

LISTED = 8  # pairs
EQUAL_DIGITS = 5  # decimal places of a share of the largest; in these, numbers that differ by rounding are equal
PAUSE = 120  # milliseconds; the intermediate texts of fast typing are not read
TWO = "Type two sentences: their vectors are compared."
UNTRAINED = (
    "This model was not trained for sentence vectors, and its files specify no pooling: its vectors are the means of "
    "all tokens' last hidden states."
)


def similar(resolved: ResolvedQuestion, state: State) -> Views:
    """The second sentence, the cosine, and what each pair of tokens adds to it."""
    other = other_text(resolved, state)
    second = row(InputView("and", "other_text", other, live=True))
    if not (resolved.question.text.strip() and other.strip()):
        return second, TWO
    try:
        found = compare(resolved, other)
    except HeadlightError as error:  # such as a second sentence that is too long; its box stays
        return second, str(error)
    verdict = row(f"Cosine {found.cosine:.4f} with {quoted(other)}", text=_pooling(resolved, found))
    return second, verdict, _pairs(found)


def other_text(resolved: ResolvedQuestion, state: State) -> str:
    """The second sentence; until one is typed, another example of the model."""
    if state.other_text:
        return state.other_text
    question = resolved.question
    examples = (one.text for one in opening_examples(find_model(question.model), question.device))
    return next((text for text in examples if text != question.text), "")


def compare(resolved: ResolvedQuestion, other: str) -> Similarity:
    """Both sentences, read with the edits of the question."""
    pooling = read_sentence_pooling(resolved.location.folder, resolved.question.model)
    texts, edits = (resolved.question.text, other), resolved.question.edits
    return sentence_similarity(resolved.model, resolved.tokenizer, *texts, pooling, edits)


def _pooling(resolved: ResolvedQuestion, found: Similarity) -> str:
    if not is_sentence_encoder(resolved.location.folder):
        return UNTRAINED
    length = ", vectors of length 1" * found.pooling.normalized
    return f"Pooling specified in the model's files: {found.pooling.mode}{length}."


def _pairs(found: Similarity) -> Row:
    one, other = (trace.text.token_texts for trace in found.traces)
    pairs = found.pairs.astype(float)
    axes = {"token": numbered(one), "other_token": numbered(other)}
    matrix = MatrixView(
        "What each pair of tokens adds to the cosine",
        pairs,
        rows=tuple(map(in_line, names(one))),
        columns=tuple(map(in_line, names(other))),
        digits=None,
        row_notes=("",) * len(one),
        unit="part of the cosine",
        note="Orange makes the sentences more similar, blue less. All cells together are the cosine.",
        tables={"Pairs of tokens": NumberTable(axes, pairs)},
    )
    return row(matrix, ChangesView("The largest pairs", largest_pairs(found), end=("Cosine", found.cosine), tables={}))


def largest_pairs(found: Similarity) -> tuple[tuple[str, float], ...]:
    """The pairs that add most, and the sum of all others."""
    one, other = (tuple(map(quoted_in_line, trace.text.token_texts)) for trace in found.traces)
    flat = found.pairs.astype(float).ravel()
    places = np.flatnonzero(flat)
    sizes = np.abs(flat[places])
    shares = (sizes / sizes.max(initial=0)).round(EQUAL_DIGITS)
    order = [int(place) for place in places[np.argsort(-shares, kind="stable")[:LISTED]]]
    left = len(places) - len(order)
    rest = (
        ((f"All {left} other pairs" if left > 1 else "The other pair", found.cosine - flat[order].sum()),)
        if left
        else ()
    )
    pairs = (divmod(place, len(other)) for place in order)
    named = (f"{one[token]} and {other[each]}" for token, each in pairs)
    return (*zip(named, flat[order], strict=True), *rest)


def without_heads(resolved: ResolvedQuestion, state: State) -> Views:
    """The change of the cosine with each head switched off in both sentences."""
    other = other_text(resolved, state)
    group = next(iter(attention_groups(resolved.config)), None)
    if group is None or not (resolved.question.text.strip() and other.strip()):
        return ()
    try:
        found = compare(resolved, other)
    except HeadlightError:  # said above
        return ()
    cosines = np.full((group.layers, group.heads), np.nan)
    for effect in cosines_without_heads(resolved.model, found):
        cosines[int(effect.path.split(".")[1]), effect.head] = effect.cosine
    layers, heads = (range(count) for count in cosines.shape)
    axes = {"layer": tuple(map(str, layers)), "head": tuple(map(str, heads))}
    return (
        MatrixView(
            "The change of the cosine without each head",
            cosines - found.cosine,
            rows=tuple(f"L{layer}" for layer in layers),
            columns=tuple(f"H{head}" for head in heads),
            digits=None,
            titles=tuple(tuple(f"Without layer {layer}, head {head}" for head in heads) for layer in layers),
            details=tuple(tuple(f"{cosine:.4f}" for cosine in line) for line in cosines),
            picks=tuple(
                tuple({"attention": group.name, "layer": layer, "head": head} for head in heads) for layer in layers
            ),
            note="Each head is off in both sentences. Blue: they are less similar without it. "
            "A click chooses the head.",
            tables={"Without each head": NumberTable(axes, cosines - found.cosine)},
        ),
    )


def programs(resolved: ResolvedQuestion, state: State) -> Iterator[Program]:
    """The contribution of each token pair to the cosine of two texts; the command does not support edits."""
    question, other = resolved.question, state.other_text
    if not other.strip():
        return
    folder = model_arguments(question).partition(", device=")[0]
    arguments = f"loaded.tokenizer, {question.text!r}, {other!r}, pooling, {question.edits}"
    lines = (
        "",
        "from headlight import sentence_similarity",
        "from headlight.analysis.sentences.pooling import read_sentence_pooling",
        f"pooling = read_sentence_pooling({folder})",
        f"similarity = sentence_similarity(model, {arguments})",
        "print(similarity.cosine, similarity.pairs)",
    )
    yield Program(lines, () if question.edits else ("similarity",), more_inputs=(other,))


ANALYSIS = Analysis(
    "Compare sentences",
    reads=("other_text",),
    compute=similar,
    pause_at_once=PAUSE,
    compute_long=without_heads,
    programs=programs,
    pause=PAUSE,
)
