"""The vectors of a trained model: compared with one-hot ones, summed with positions, and changed by context."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from headlight.analysis.principal_components import project_to_plane
from headlight.array_types import Float, Int
from headlight.checkpoints import Checkpoint
from headlight.course.controls import ChoiceControl, CountControl, ModelControl, TextControl
from headlight.course.screen import Screen, ScreenRows, StateFields, compare_link, compared, link
from headlight.course.tokens.model_vectors import (
    EmbeddingSum,
    classify_alone,
    embedding_cosines,
    embedding_map,
    embedding_sum,
    first_mask,
    nearest_tokens,
    text_vectors,
    word_ids,
    word_in_context,
)
from headlight.course.tokens.split_screens import cosines
from headlight.errors import InputError
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.stack import Stack
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_largest, ask_measured, ask_whether
from headlight.questions.kinds import Question
from headlight.tracing.predictions import candidates
from headlight.views.forms import agreement, bars
from headlight.views.kinds import HeatMapView, LinesView, MatrixView, PointsView, TableView, TokensView, View
from headlight.views.rows import fold, row
from headlight.views.words import percent

MAX_TOKENS, MAX_TEXTS, SHOWN_TOKENS, SHOWN_NEIGHBOURS = 8, 24, 24, 20
MAX_OPTIONS, K_MEANS_STEPS = 8, 20
MASK, SHOWN_GUESSES = "[MASK]", 5
SAME = 1e-3  # largest difference of logits that count as equal


def show_vectors(words: str, model: Checkpoint, count: int) -> ScreenRows:
    """Cosines of one-hot vectors and of the model's embeddings, and the nearest tokens of each word."""
    ids = word_ids(model, words)[:MAX_TOKENS]
    if len(ids) < 2:
        raise InputError("This is a single token to the model. Type two or more words that it knows.")
    names = [model.tokenizer.stripped_token_text(token_id) for token_id in ids]
    lists = [nearest_tokens(model, token_id, count) for token_id in ids]
    learned = torch.tensor(embedding_cosines(model, ids)).round(decimals=6)
    # Two different one-hot vectors have no channel in common.
    pairs = (("one-hot", torch.eye(len(ids))), ("learned", learned))
    apart = learned.clone().fill_diagonal_(-torch.inf)
    first, second = divmod(int(apart.argmax()), len(ids))
    return (
        TokensView(f"Tokens and their ids, at most {MAX_TOKENS}", tuple(names), below=tuple(map(str, ids))),
        row(
            *(
                MatrixView(f"Cosines of {kind} vectors", each, rows=tuple(names), columns=tuple(names))
                for kind, each in pairs
            ),
            question=ask_largest(
                f"Which of these is nearest to “{names[0]}” in the model's table?",
                dict(zip(names[1:5], learned[0, 1:5].tolist(), strict=True)),
            ),
        ),
        f"One-hot vectors have {model.model.config.vocabulary_size:,} channels, and any two words are equally "
        f"different: cosine 0. This model's vectors have {model.model.config.embedding_dim} channels, and "
        f"of the typed words “{names[first]}” is nearest to “{names[second]}”: cosine "
        f"{float(learned[first, second]):.2f}. In the whole table the nearest rows are: "
        + ", ".join(
            f"“{name}” – “{found[0].token}” ({found[0].cosine:.2f})" for name, found in zip(names, lists, strict=True)
        )
        + ".",
        *fold(
            row(
                _map_of_neighbours(model, ids, [[each.id for each in found] for found in lists], names),
                *(
                    bars(
                        f"Nearest to “{name}”",
                        tuple(each.token for each in found),
                        [each.cosine for each in found],
                        name="cosine",
                        high=1.0,
                    )
                    for name, found in zip(names, lists, strict=True)
                ),
                title="Nearest neighbours in the whole table",
            ),
        ),
    )


def _map_of_neighbours(model: Checkpoint, ids: list[int], neighbours: list[list[int]], names: list[str]) -> View:
    groups: dict[int, int] = {}  # each token's group: the first word that it is near to
    for group, (token_id, others) in enumerate(zip(ids, neighbours, strict=True)):
        for each in (token_id, *others):
            groups.setdefault(each, group)
    coordinates, variance = embedding_map(model, list(groups))
    return PointsView(
        title="The same tokens in a plane",
        points=tuple(
            (model.tokenizer.stripped_token_text(each), x, y, group)
            for (each, group), (x, y) in zip(groups.items(), coordinates.tolist(), strict=True)
        ),
        groups=tuple(names),
        x_title=_axis_title(1, variance[0]),
        y_title=_axis_title(2, variance[1]),
    )


def _axis_title(number: int, share: float) -> str:
    return f"principal component {number} ({percent(share, 0)} of the variance)"


def show_sum(model: Checkpoint, text: str, positions: str, channels: int) -> ScreenRows:
    """Token embeddings, position embeddings, and their sum, as three heat maps."""
    found = embedding_sum(model, text, None if positions == "trained" else positions)
    shown = slice(0, SHOWN_TOKENS), slice(0, channels)
    names = tuple(found.text.token_texts[:SHOWN_TOKENS])
    parts = (
        ("Token embeddings E[tokens]", "", found.embeddings),
        ("Positions P", "+", found.position_embeddings),
        ("Input of the first layer X", "=", found.first_input),
    )
    return (
        TokensView("Tokens and their ids", names, below=tuple(map(str, found.text.ids[:SHOWN_TOKENS]))),
        row(
            *(
                HeatMapView(title, torch.tensor(values[shown]), before=sign, rows=names, column_axis="channel")
                for title, sign, values in parts
            ),
            question=_ask_of_twice(found),
        ),
        _said_of_sum(model, found, positions),
    )


def _ask_of_twice(found: EmbeddingSum) -> Question | None:
    """Asks whether a repeated token has the same input both times; None if no token is repeated."""
    ids = found.text.ids
    second = next((place for place, each in enumerate(ids) if each in ids[:place]), None)
    if second is None:
        return None
    first = ids.index(ids[second])
    is_same = bool(np.array_equal(found.first_input[first], found.first_input[second]))
    return ask_whether(
        f"“{found.text.token_texts[first].strip()}” is at positions {first} and {second}. Are its two rows of X equal?",
        is_same,
        "Nothing is added here: a token has only one row of E."
        if is_same
        else "Only the rows of E are equal: P differs by position.",
    )


def _said_of_sum(model: Checkpoint, found: EmbeddingSum, positions: str) -> str:
    if not found.position_embeddings.any():
        name = model.model.config.positional_encoding if positions == "trained" else positions
        return (
            f"No positions are added here. Positional encoding: {POSITIONAL_ENCODINGS[name].title}. "
            f"{POSITIONAL_ENCODINGS[name].description}"
        )
    error = float(np.abs(found.embeddings + found.position_embeddings - found.first_input).max())
    lengths = [float(np.linalg.norm(each, axis=-1).mean()) for each in (found.embeddings, found.position_embeddings)]
    told = agreement(
        f"All {found.embeddings.shape[1]} channels were compared: E + P and X are equal"
        f"{', up to rounding' if error else ''}.",
        error,
        float(np.abs(found.first_input).max()),
    ).text
    return (
        f"{told} The mean length of a token's vector is {lengths[0]:.2f} here, that of a position's vector "
        f"{lengths[1]:.2f}."
    )


def show_context(model: Checkpoint, word: str, one: str, other: str) -> ScreenRows:
    """The cosine of one word's vectors in two sentences, layer by layer; for a mask, also its predictions."""
    found = word_in_context(model, word, (one, other))
    depth = len(found.cosines) - 1
    is_mask = word.strip() == MASK
    return (
        row(
            LinesView(
                f"Cosine of “{found.words[0]}” in both sentences",
                range(depth + 1),
                {"cosine": found.cosines.tolist()},
                "layers passed",
                "cosine",
            ),
            question=None
            if is_mask
            else ask_measured(
                f"Before the first layer their cosine is {found.cosines[0]:.3f}. What is it after all {depth} layers?",
                (0.97, 0.81, 0.62, 0.43, 0.24, 0.05),
                float(found.cosines[-1]),
                lambda cosine: f"{cosine:.2f}".replace("-", "−"),
            ),
        ),
        row(
            *(
                HeatMapView(
                    f"First channels in “{text}”",
                    torch.tensor(found.vectors[:, side, :16].copy()),
                    rows=tuple(f"after {layer}" for layer in range(depth + 1)),
                    row_axis="layers",
                    column_axis="channel",
                )
                for side, text in enumerate((one, other))
            )
        ),
        f"Before the first layer the cosine is {found.cosines[0]:.3f}"
        + (": both are the same row of the table. " if found.cosines[0] > 0.99999 else ". ")
        + f"After {depth} layers it is {found.cosines[-1]:.3f}: the sentence around it has changed the vector.",
        *(_mask_rows(model, one, other) if is_mask else ()),
    )


def _mask_rows(model: Checkpoint, one: str, other: str) -> ScreenRows:
    """The predictions for the mask in each sentence, and a check that the classifier needs only its vector."""
    masks = [first_mask(model, text) for text in (one, other)]
    trace, place = masks[0]
    vector = torch.tensor(trace[f"{trace.config.stacks[-1]}.final_residual"])[place]
    apart = float((classify_alone(model.model, vector) - torch.tensor(trace["logits"])[place]).abs().max())
    return (
        row(
            *(
                TableView(
                    ("token", "probability"),
                    tuple(
                        (each.token, percent(each.probability))
                        for each in candidates(found, model.tokenizer, at, SHOWN_GUESSES)
                    ),
                    title=f"{MASK} in “{text}”",
                )
                for text, (found, at) in zip((one, other), masks, strict=True)
            ),
            question=ask_whether(
                "Given the mask's last vector alone, without the sentence, does the classifier give the same logits?",
                apart < SAME,
                "The vector has seen the sentence; the classifier reads only the vector.",
            ),
        ),
        agreement(
            "From this one vector alone, the classifier gives the same logits, up to rounding. It is often said that "
            "masked training processes each token by itself: this is true for the classifier, but not for the layers "
            "below it, which mix the tokens.",
            apart,
            bound=SAME,
        ).text,
    )


def show_texts(model: Checkpoint, texts: str, clusters_wanted: int) -> ScreenRows:
    """A vector for each line, in a plane and in clusters, and the cosine of each pair."""
    lines = _lines(texts)
    vectors = text_vectors(model, lines)
    # Without the mean, which all sentences share, their differences are visible.
    centred = torch.tensor(vectors - vectors.mean(0))
    coordinates, variance = project_to_plane(vectors)
    alike, groups = cosines(centred), clusters(centred, clusters_wanted)
    numbers = tuple(map(str, range(1, len(lines) + 1)))
    return (
        row(
            PointsView(
                title="Sentences in a plane",
                points=tuple(
                    (line, x, y, group)
                    for line, (x, y), group in zip(lines, coordinates.tolist(), groups.tolist(), strict=True)
                ),
                groups=tuple(f"cluster {number}" for number in range(1, int(groups.max()) + 2)),
                x_title=_axis_title(1, variance[0]),
                y_title=_axis_title(2, variance[1]),
                note="Clusters are found in all channels (k-means), not in the plane.",
            ),
            question=ask_largest(
                f"Which of these is nearest to “{lines[0]}”?",
                dict(zip(lines[1:MAX_OPTIONS], alike[0, 1:MAX_OPTIONS].tolist(), strict=True)),
            ),
        ),
        row(
            MatrixView("Cosine of each pair, after subtracting the mean", alike, rows=numbers, columns=numbers),
            TableView(("line", "sentence"), tuple(zip(numbers, lines, strict=True)), title="Lines"),
        ),
    )


def clusters(vectors: Float[Tensor, "text channel"], count: int) -> Int[Tensor, " text"]:
    """The cluster of each vector by k-means: each goes to the nearest centre, each centre to the mean of its own.

    The first centres are the first vector, then each time the one farthest from all before it.
    """
    unit = normalize(vectors, dim=-1)
    centres = unit[:1]
    while len(centres) < min(count, len(unit)):
        centres = torch.cat((centres, unit[torch.cdist(unit, centres).min(1).values.argmax()][None]))
    for _ in range(K_MEANS_STEPS):
        nearest = torch.cdist(unit, centres).argmin(1)
        held = [unit[nearest == number] for number in range(len(centres))]
        centres = torch.stack([own.mean(0) if len(own) else centres[at] for at, own in enumerate(held)])
    return torch.cdist(unit, centres).argmin(1)


def _lines(texts: str) -> list[str]:
    """The sentences. Raises InputError for too few or too many."""
    lines = [line.strip() for line in texts.splitlines() if line.strip()]
    if not 2 <= len(lines) <= MAX_TEXTS:
        raise InputError(f"Give 2 to {MAX_TEXTS} lines, with one sentence in each. There are {len(lines)} lines.")
    return lines


def _compare_lines(model: str, texts: str, clusters_wanted: int) -> StateFields:
    """The first two sentences."""
    one, other, *_ = _lines(texts)
    return compared({"text": one, "model": model}, {"text": other})


def _explore_sum(model: str, text: str, positions: str, channels: int) -> StateFields:
    """The same model with the chosen positional encoding."""
    wired = {} if positions == "trained" else {"positional_encoding": positions}
    return {"text": text, "model": model} | wired


ONE_HOT = Screen(
    title="One-hot and learned vectors",
    lesson="A one-hot vector is a list of numbers, a channel for every word: 1 for the word itself and 0 for all "
    "others, so that all words are equally far apart. A learned vector has far fewer channels. This model learned its "
    "table by predicting words, without being told what they mean: judge whether the nearest rows of a word are those "
    "of similar words.",
    controls={
        "words": TextControl("Words", "king queen river lake red blue"),
        "model": ModelControl(default="stories-causal", needs="text"),
        "count": CountControl("Neighbours of each", "4", 2.0, float(SHOWN_NEIGHBOURS)),
    },
    compute=show_vectors,
    formulas=(r"\cos(x, y) = \frac{x \cdot y}{\lVert x \rVert\,\lVert y \rVert}",),
    code=(embedding_cosines, nearest_tokens, project_to_plane),
    explore=link("model", text="words"),
)
SUM = Screen(
    title="X = E[tokens] + P[positions]",
    lesson="The first layer reads a sum: the row of each token, plus a vector for its position. A token that occurs "
    "twice has the same row of E both times but two different rows of X. Models with rotary positions add nothing "
    "here; try another encoding.",
    controls={
        "model": ModelControl(default="positions-encoder-sinusoidal"),
        "text": TextControl("Text", "the dog saw the cat and the cat ran away"),
        "positions": ChoiceControl(
            "Positions",
            "trained",
            {
                "trained": "As trained",
                **{name: POSITIONAL_ENCODINGS[name].title for name in ("sinusoidal", "rope", "none")},
            },
        ),
        "channels": CountControl("Channels shown", "10", 2.0, 64.0),
    },
    compute=show_sum,
    formulas=(r"x_i = E_{t_i} + P_i",),
    code=(Transformer.embed, Stack.forward),
    explore=_explore_sum,
)
CONTEXT = Screen(
    title="One word in two sentences",
    lesson="The table gives a word the same vector in every sentence. Each layer adds information from the words "
    "around, so the two vectors of one word diverge, layer by layer, and a dog's bark differs from a tree's. A decoder "
    "knows only the words before; with a model that fills masks, the word may be [MASK].",
    controls={
        "model": ModelControl(default="stories-masked"),
        "word": TextControl("Word", "bark", longest=40),
        "one": TextControl("A sentence", "The dog began to bark."),
        "other": TextControl("Another sentence", "The bark of the tree is brown."),
    },
    compute=show_context,
    formulas=(r"\cos(x, y) = \frac{x \cdot y}{\lVert x \rVert\,\lVert y \rVert}",),
    code=(word_in_context, classify_alone),
    explore=link("model", text="one"),
    elsewhere={"compare": compare_link(link("model", text="one"), link(text="other"))},
)
TEXTS = Screen(
    title="A map of sentences",
    lesson="The mean of a sentence's last vectors is a vector for the whole sentence. Sentences about the same things "
    "are near each other, so such vectors can be used to search and cluster texts. Paste your own lines.",
    controls={
        "model": ModelControl(default="stories-masked"),
        "texts": TextControl(
            "Sentences, one per line",
            (
                "The cat sleeps on the mat.\nA dog is sleeping on the rug.\nThe bird sings in the tree.\n"
                "She ate bread with butter.\nHe drank a cup of tea.\nThey had cake for breakfast.\n"
                "The king lived in a castle.\nThe queen wore a golden crown.\nThe prince rode to the palace."
            ),
            longest=2_000,
            lines=6,
        ),
        "clusters_wanted": CountControl("Clusters", "3", 1, 6),
    },
    compute=show_texts,
    formulas=(r"s = \frac{1}{n} \sum_{i=1}^{n} x_i",),
    code=(text_vectors, clusters, project_to_plane),
    explore=lambda model, texts, clusters_wanted: {"text": _lines(texts)[0], "model": model},
    elsewhere={"compare": _compare_lines},
)
