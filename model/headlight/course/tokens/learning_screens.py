"""The origin of word vectors: neighbouring words, counts, n-grams, and a tiny network that learns."""

from __future__ import annotations

import math
from collections import Counter

import torch

from headlight.analysis.principal_components import project_to_plane
from headlight.course.controls import ChoiceControl, CountControl, NumberControl, SeedControl, TextControl
from headlight.course.fitting import parameter_count
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.tokens.split_screens import MAX_TRAINING_CHARACTERS, cosines, small_text
from headlight.course.tokens.word_vectors import (
    MAX_CONTEXT,
    MAX_DIM,
    MAX_STEPS,
    MAX_WINDOW,
    METHODS,
    UNKNOWN,
    TrainingRun,
    WordVectors,
    cbow_questions,
    character_ngrams,
    co_occurrences,
    count_loss,
    features_of,
    skip_gram_pairs,
    train_on_numbers,
    train_word_vectors,
    words_of,
)
from headlight.errors import InputError
from headlight.questions.asking import ask_number, ask_whether
from headlight.questions.kinds import Question
from headlight.views.forms import bars
from headlight.views.kinds import LinesView, MatrixView, MovingPointsView, TableView, TokensView, View
from headlight.views.rows import row
from headlight.views.words import percent

SHOWN_PAIRS, SHOWN_GRADIENTS, MAX_FOLLOWED, NEAREST = 12, 6, 24, 3
WINDOWS, HIDDEN = (1, 2, 4), (16, 64, 256)


def show_pairs(text: str, window: int, words: int) -> ScreenRows:
    """The training pairs of skip-gram and of CBOW, and the counts for GloVe."""
    found = words_of(text)
    pairs, questions, counts = (
        skip_gram_pairs(found, window),
        cbow_questions(found, window),
        co_occurrences(found, window, words),
    )
    return (
        row(
            TableView(
                ("from", "predict"),
                tuple(pairs[:SHOWN_PAIRS]),
                title=f"Skip-gram: {len(pairs)} pairs",
                note=_first_of(len(pairs)),
            ),
            TableView(
                ("from", "predict"),
                tuple((" ".join(each.context), each.target) for each in questions[:SHOWN_PAIRS]),
                title=f"CBOW: {len(questions)} questions",
                note=_first_of(len(questions)),
            ),
            question=ask_number(
                f"{len(found)} words and punctuation marks, a window of {window}: how many pairs does skip-gram have?",
                len(pairs),
                (2 * window * len(found), "The words at both ends have fewer neighbours."),
                (len(found), "That is the number for CBOW, which predicts each word once."),
                hints=(f"A word in the middle has 2 · {window} neighbours.", "The first word has no words before it."),
            ),
        ),
        MatrixView(
            "How often two words are within the window",
            torch.tensor(counts.counts),
            rows=counts.words,
            columns=counts.words,
            digits=0,
            note="GloVe learns vectors whose dot products approximate the logarithms of these counts.",
        ),
    )


def _first_of(count: int) -> str:
    return f"Only the first {SHOWN_PAIRS} are shown." if count > SHOWN_PAIRS else ""


def show_ngrams(word: str, other: str, shortest: int, longest: int) -> ScreenRows:
    """The n-grams of two words, and those that they share."""
    grams, others = (character_ngrams(each, shortest, longest) for each in (word, other))
    shared = set(grams) & set(others)
    question = ask_whether(f"Do “{word.strip()}” and “{other.strip()}” share an n-gram?", bool(shared))
    return (
        *(
            row(
                TokensView(
                    f"{each.strip()}: {len(own)} n-grams", own, shades=tuple(float(gram in shared) for gram in own)
                ),
                question=question if own is grams else None,
            )
            for each, own in ((word, grams), (other, others))
        ),
        f"The words share {len(shared)} of {len(set(grams) | set(others))} n-grams; these are coloured. "
        + (
            "A word that is not in the training text gets a vector from its n-grams, near those of words with "
            "a similar spelling."
            if shared
            else "Their vectors share no part."
        ),
    )


def train_live(
    text: str,
    method: str,
    context: int,
    dim: int,
    steps: int,
    learning_rate: float,
    followed: str,
    beginning: str,
    seed: int,
) -> ScreenRows:
    """Train the network, and show its loss, the moving vectors, its predictions, and the results of other settings."""
    words = words_of(text)
    runs = {
        size: train_word_vectors(words, size, dim, steps, learning_rate, seed, method)
        for size in sorted({*WINDOWS, context} if len(words) > max(WINDOWS) else {context})
    }
    run = runs[context]
    chosen, guesses = _known_words(run, followed), run.predict(words_of(beginning))
    return (
        row(
            *_curves(run, chosen[:SHOWN_GRADIENTS]),
            question=_ask_of_counts(words, run) if method == "glove" else _ask_of_loss(len(run.words)),
        ),
        row(_moving_rows(run, chosen), _neighbours(run, chosen)),
        bars(
            f"After “{beginning.strip()}”" if method == "next" else f"Beside “{beginning.strip()}”",
            tuple(word for word, _ in guesses),
            [probability for _, probability in guesses],
            name="probability",
            high=1.0,
        ),
        *_windows_rows(runs, chosen),
        *(_numbers_rows(words, run, steps, seed) if method == "next" else ()),
    )


def _ask_of_loss(words: int) -> Question:
    return ask_number(
        f"If all {words} words are equally likely, as before training, what is the loss in nats?",
        math.log(words),
        (math.log2(words), "That is in bits. Nats use the natural logarithm."),
        (1 / words, "That is the probability; the loss is minus its logarithm."),
        hints=(f"Each word has probability 1/{words}.", "The loss is minus its natural logarithm."),
    )


def _ask_of_counts(words: list[str], run: TrainingRun) -> Question:
    """Asks for the target product of the two words that meet most often."""
    pair, count = Counter(skip_gram_pairs(words, run.context)).most_common(1)[0]
    return ask_number(
        f"“{pair[0]}” and “{pair[1]}” are neighbours {count} times. What should the dot product of their vectors "
        "become?",
        math.log(count),
        (count, "Take the logarithm: each doubling of the count should increase the product by the same amount."),
        hints=("GloVe's products approximate logarithms of counts.",),
    )


def _windows_rows(runs: dict[int, TrainingRun], chosen: list[int]) -> ScreenRows:
    """The number of followed words that find their partner, for each size of the context."""
    found = {size: partners_found(run, chosen) for size, run in runs.items()}
    words, asked = next(iter(runs.values())).words, len(chosen) // 2 * 2
    best = max(found, key=lambda size: found[size])
    return (
        row(
            TableView(
                ("words of context", "loss", f"partners found, of {asked}", f"nearest to “{words[chosen[0]]}”"),
                tuple(
                    (
                        str(size),
                        f"{run.frames[-1].loss:.2f}",
                        found[size],
                        ", ".join(words[each] for each, _ in nearest_words(run, chosen[0])),
                    )
                    for size, run in runs.items()
                ),
                title="The same with other contexts",
                note="The words to follow are partners, two by two. A partner is found if it is among the nearest "
                f"{NEAREST}.",
            ),
            title="Does a longer context improve the vectors?",
        ),
        f"Most partners are found with a context of {best}: {found[best]} of {asked}.",
    )


def partners_found(run: TrainingRun, chosen: list[int]) -> int:
    """The number of words with their partner among the nearest; the first two are partners, then the next two, etc."""
    pairs = zip(chosen[::2], chosen[1::2], strict=False)
    both = [pair for one, other in pairs for pair in ((one, other), (other, one))]
    return sum(partner in dict(nearest_words(run, word)) for word, partner in both)


def _numbers_rows(words: list[str], run: TrainingRun, steps: int, seed: int) -> ScreenRows:
    """One random number for each word instead of a learned vector, in larger and larger networks."""
    nets = [train_on_numbers(words, run.context, hidden, steps, seed) for hidden in HIDDEN]
    size, loss = parameter_count(run.net), run.frames[-1].loss
    needed = next((net for net in nets if net.loss <= loss), None)
    rows = [(f"learned vectors of {run.frames[0].embedding.shape[1]} channels", f"{size:,}", loss)]
    rows += [(f"random numbers, {net.hidden} hidden neurons", f"{net.parameters:,}", net.loss) for net in nets]
    told = f"one with {needed.parameters:,} parameters is as good" if needed else "none of these is as good"
    return (
        row(
            TableView(("input of the network", "parameters", "loss"), tuple(rows), digits=2),
            title="A random number for each word would do, too, at a price",
        ),
        f"A random number carries no meaning, so the network has to learn everything. Learned vectors take {size:,} "
        f"parameters; of the networks with random numbers, {told}.",
    )


def _known_words(run: TrainingRun, followed: str) -> list[int]:
    """The ids of the words to follow. Raises InputError if the text has none of them."""
    ids = [token_id for token_id in dict.fromkeys(run.ids(words_of(followed))) if token_id != UNKNOWN]
    if not ids:
        raise InputError("None of the words to follow is in the text. Choose words from it.")
    return ids[:MAX_FOLLOWED]


def _curves(run: TrainingRun, chosen: list[int]) -> tuple[View, View]:
    steps = [frame.step for frame in run.frames]
    gradients = {
        run.words[index]: torch.stack([frame.gradient[index].norm() for frame in run.frames]) for index in chosen
    }
    losses = {"loss": [frame.loss for frame in run.frames]}
    return (
        LinesView("Loss in training", steps, losses, "step", "loss"),
        LinesView("Length of the gradient of single rows of E", steps, gradients, "step", "length"),
    )


def _moving_rows(run: TrainingRun, chosen: list[int]) -> View:
    """Rows in every frame, in the plane of their first two principal components."""
    rows = torch.stack([frame.embedding[chosen] for frame in run.frames])
    coordinates, variance = project_to_plane(rows.flatten(0, 1).numpy())
    return MovingPointsView(
        title="Rows of E during training",
        labels=tuple(run.words[index] for index in chosen),
        frames=torch.tensor(coordinates).view(*rows.shape[:2], 2),
        names=tuple(f"step {frame.step}, loss {frame.loss:.2f}" for frame in run.frames),
        note=f"Two principal components, with {percent(sum(variance), 0)} of the variance.",
    )


def nearest_words(run: TrainingRun, word: int) -> list[tuple[int, float]]:
    """The words whose vectors have the largest cosines with that of a word, with these cosines."""
    nearness = cosines(run.frames[-1].embedding)[word]
    nearness[[UNKNOWN, word]] = -torch.inf
    best = nearness.topk(min(NEAREST, len(run.words) - 2))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


def _neighbours(run: TrainingRun, chosen: list[int]) -> View:
    def told(word: int) -> str:
        return ", ".join(f"{run.words[other]} {near:.2f}" for other, near in nearest_words(run, word))

    return TableView(
        ("word", "in the text", "nearest, with cosines"),
        tuple((run.words[word], run.counts[word], told(word)) for word in chosen),
        title="Nearest words after training",
    )


CORPUS = TextControl("Text", small_text(), longest=MAX_TRAINING_CHARACTERS, lines=6)

PAIRS = Screen(
    title="A word is known by its neighbours",
    lesson="Word2vec learns vectors from pairs of neighbouring words: skip-gram predicts each neighbour from a word, "
    "CBOW predicts the word from all its neighbours; GloVe counts the pairs first. Words with the same neighbours get "
    "similar vectors. Widen the window, and topics count more than grammar.",
    controls={
        "text": TextControl(
            "Text",
            ("The cat drinks the milk. The dog drinks the water. The cat chases the dog. The dog chases the cat."),
            longest=2_000,
            lines=3,
        ),
        "window": CountControl("Window: words on either side", "2", 1.0, float(MAX_WINDOW)),
        "words": CountControl("Words in the table of counts", "10", 2.0, 24.0),
    },
    compute=show_pairs,
    formulas=(
        r"\text{skip-gram: } p(c \mid w) = \mathrm{softmax}_c(u_c \cdot v_w)",
        r"\text{CBOW: } p(w \mid c_1 \ldots c_n) = \mathrm{softmax}_w(u_w \cdot \frac{1}{n} \sum_i v_{c_i})",
    ),
    code=(skip_gram_pairs, cbow_questions, co_occurrences),
    explore=link("text"),
)
NGRAMS = Screen(
    title="Words made of character n-grams",
    lesson="fastText gives every character n-gram a vector, and every word the sum of its n-grams' vectors. So words "
    "that share a stem or an ending share a part of their vectors, and words that are not in the training text get a "
    "vector, too.",
    controls={
        "word": TextControl("Word", "unhappiness", longest=40),
        "other": TextControl("Another word", "happily", longest=40),
        "shortest": CountControl("Shortest n-gram", "3", 1.0, 8.0),
        "longest": CountControl("Longest n-gram", "5", 1.0, 8.0),
    },
    compute=show_ngrams,
    formulas=(r"v_w = \sum_{g \in G(w)} v_g",),
    code=(character_ngrams,),
)
NEXT_WORD = Screen(
    title="A tiny network learns word vectors",
    lesson="A network predicts a word from the mean vector of the words before it or around it, or each neighbour from "
    "the word, or it learns how often two words meet. Each step moves the vectors of the words that occurred; words "
    "with similar use move together, though their meaning was never given.",
    controls={
        "text": CORPUS,
        "method": ChoiceControl("It learns to predict", "next", METHODS),
        "context": CountControl("Words before, or on either side", "2", 1.0, float(MAX_CONTEXT)),
        "dim": CountControl("Channels of a vector", "16", 2.0, float(MAX_DIM)),
        "steps": CountControl("Steps", "400", 1.0, float(MAX_STEPS)),
        "learning_rate": NumberControl("Learning rate", "5", 0.1, 20.0, step=0.1),
        "followed": TextControl("Words to follow", "cat dog king queen tea coffee red blue monday tuesday slow fast"),
        "beginning": TextControl("Predict the word that follows or is beside", "the cat drinks the"),
        "seed": SeedControl(default="0"),
    },
    compute=train_live,
    formulas=(
        r"p = \mathrm{softmax}(W\, \frac{1}{n}\sum_{j=1}^{n} E_{t_{i-j}} + b)",
        r"\text{GloVe: } L = \sum_{ij} f(X_{ij})\, (v_i \cdot u_j + b_j - \log X_{ij})^2",
        r"E \leftarrow E - \eta\,\frac{\partial}{\partial E}\,(-\log p_{t_i})",
    ),
    code=(WordVectors, train_word_vectors, features_of, count_loss, train_on_numbers),
    is_long=True,
)
