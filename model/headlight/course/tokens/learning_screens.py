"""Where word vectors come from: neighbouring words, counts, n-grams, and a tiny network that learns."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from headlight.analysis.principal_components import project_to_plane
from headlight.course.controls import NumberControl, SeedControl, TextControl
from headlight.course.pictures import (
    BarsPicture,
    LinesPicture,
    MatrixPicture,
    MovingPointsPicture,
    Picture,
    TablePicture,
    TokensPicture,
    row,
    verdict_row,
)
from headlight.course.questions import ask_number, ask_whether
from headlight.course.screen import Answer, Screen, link
from headlight.course.tokens.next_word_net import (
    MAX_CONTEXT,
    MAX_DIM,
    MAX_STEPS,
    UNKNOWN,
    NextWordNet,
    TrainingRun,
    train_next_word,
)
from headlight.course.tokens.split_screens import MAX_TRAINING_CHARACTERS, small_text
from headlight.course.tokens.table_screens import cosines
from headlight.course.tokens.word_pairs import (
    MAX_WINDOW,
    cbow_questions,
    character_ngrams,
    co_occurrences,
    skip_gram_pairs,
    words_of,
)
from headlight.errors import InputError

SHOWN_PAIRS, SHOWN_GRADIENTS, MAX_FOLLOWED = 12, 6, 24


def show_pairs(text: str, window: int, words: int) -> Answer:
    """The training pairs of skip-gram and of CBOW, and the counts that GloVe starts from."""
    found = words_of(text)
    pairs, questions, counts = (
        skip_gram_pairs(found, window),
        cbow_questions(found, window),
        co_occurrences(found, window, words),
    )
    return (
        row(
            TablePicture(
                title=f"Skip-gram: {len(pairs)} pairs",
                columns=("from", "predict"),
                rows=tuple(pairs[:SHOWN_PAIRS]),
                note=_first_of(len(pairs)),
            ),
            TablePicture(
                title=f"CBOW: {len(questions)} questions",
                columns=("from", "predict"),
                rows=tuple((" ".join(each.context), each.target) for each in questions[:SHOWN_PAIRS]),
                note=_first_of(len(questions)),
            ),
            question=ask_number(
                f"{len(found)} words and marks, a window of {window}: how many pairs has skip-gram?",
                len(pairs),
                (2 * window * len(found), "The words at both ends have fewer neighbours."),
                (len(found), "That is CBOW, which asks once for each word."),
                hints=(f"A word in the middle has 2 · {window} neighbours.", "The first word has none before it."),
            ),
        ),
        row(
            MatrixPicture(
                title="How often two words stand within the window",
                values=torch.tensor(counts.counts),
                rows=counts.words,
                columns=counts.words,
                digits=0,
                note="GloVe learns vectors whose products tell the logarithm of these counts.",
            )
        ),
    )


def _first_of(count: int) -> str:
    return f"The first {SHOWN_PAIRS} of them." if count > SHOWN_PAIRS else ""


def show_ngrams(word: str, other: str, shortest: int, longest: int) -> Answer:
    """The n-grams of two words, and those that they share."""
    grams, others = (character_ngrams(each, shortest, longest) for each in (word, other))
    shared = set(grams) & set(others)
    question = ask_whether(f"Do “{word.strip()}” and “{other.strip()}” share an n-gram?", bool(shared))
    return (
        *(
            row(
                TokensPicture(
                    title=f"{each.strip()}: {len(own)} n-grams",
                    tokens=own,
                    shades=tuple(float(gram in shared) for gram in own),
                ),
                question=question if own is grams else None,
            )
            for each, own in ((word, grams), (other, others))
        ),
        verdict_row(
            f"The words share {len(shared)} of {len(set(grams) | set(others))} n-grams, which are coloured. "
            + (
                "A word that was never seen gets a vector from its n-grams, near those of words like it."
                if shared
                else "Their vectors have no part in common."
            )
        ),
    )


def train_live(
    text: str, context: int, dim: int, steps: int, learning_rate: float, followed: str, beginning: str, seed: int
) -> Answer:
    """Train the network, and show its loss, how rows of the embedding moved, and what it predicts."""
    run = train_next_word(words_of(text), context, dim, steps, learning_rate, seed)
    chosen, guesses = _known_words(run, followed), run.predict(words_of(beginning))
    return (
        row(
            *_curves(run, chosen[:SHOWN_GRADIENTS]),
            question=ask_number(
                f"If all {len(run.words)} words are equally likely, as before training: what is the loss, in nats?",
                math.log(len(run.words)),
                (math.log2(len(run.words)), "That is in bits. A nat takes the natural logarithm."),
                (1 / len(run.words), "That is the probability; the loss is minus its logarithm."),
                hints=(f"Each word has the probability 1/{len(run.words)}.", "The loss is minus ln of it."),
            ),
        ),
        row(_moving_rows(run, chosen), _neighbours(run, chosen)),
        row(
            BarsPicture(
                title=f"After “{beginning.strip()}”",
                labels=tuple(word for word, _ in guesses),
                series={"probability": [probability for _, probability in guesses]},
                high=1.0,
            )
        ),
    )


def _known_words(run: TrainingRun, followed: str) -> list[int]:
    """The ids of the words to follow. Raises InputError where the text has none of them."""
    ids = [token_id for token_id in dict.fromkeys(run.ids(words_of(followed))) if token_id != UNKNOWN]
    if not ids:
        raise InputError("None of the words to follow is in the text. Choose words that it has.")
    return ids[:MAX_FOLLOWED]


def _curves(run: TrainingRun, chosen: list[int]) -> tuple[Picture, Picture]:
    steps = [frame.step for frame in run.frames]
    gradients = {
        run.words[index]: torch.stack([frame.gradient[index].norm() for frame in run.frames]) for index in chosen
    }
    losses = {"loss": [frame.loss for frame in run.frames]}
    return (
        LinesPicture(
            title="Loss: mean negative log-likelihood of the next word",
            x=steps,
            x_title="step",
            y_title="nats",
            series=losses,
        ),
        LinesPicture(
            title="Length of the gradient of single rows of E",
            x=steps,
            x_title="step",
            y_title="length",
            series=gradients,
        ),
    )


def _moving_rows(run: TrainingRun, chosen: list[int]) -> Picture:
    """Rows in every frame, in the plane in which all of them differ most."""
    rows = torch.stack([frame.embedding[chosen] for frame in run.frames])
    coordinates, variance = project_to_plane(rows.flatten(0, 1).numpy())
    return MovingPointsPicture(
        title="Rows of E as they are learned",
        labels=tuple(run.words[index] for index in chosen),
        frames=torch.tensor(coordinates).view(*rows.shape[:2], 2),
        names=tuple(f"step {frame.step}, loss {frame.loss:.2f}" for frame in run.frames),
        note=f"Two principal components, which hold {sum(variance):.0%} of the variance.",
    )


def _neighbours(run: TrainingRun, chosen: list[int]) -> Picture:
    nearness = cosines(run.frames[-1].embedding)
    nearness.fill_diagonal_(-torch.inf)
    nearness[:, UNKNOWN] = -torch.inf
    best = nearness.topk(min(3, len(run.words) - 1))
    return TablePicture(
        title="Nearest words after training",
        columns=("word", "in the text", "nearest, with cosines"),
        rows=tuple(
            (run.words[index], run.counts[index], _told(run, best.indices[index].tolist(), nearness[index]))
            for index in chosen
        ),
    )


def _told(run: TrainingRun, others: list[int], nearness: Tensor) -> str:
    return ", ".join(f"{run.words[other]} {float(nearness[other]):.2f}" for other in others)


CORPUS = TextControl(title="Text", default=small_text(), longest=MAX_TRAINING_CHARACTERS, lines=6)

PAIRS = Screen(
    title="A word is known by its neighbours",
    lesson="Word2vec learns vectors from pairs of neighbouring words: skip-gram predicts each neighbour from a word, "
    "CBOW the word from all its neighbours; GloVe counts the pairs first. Words with the same neighbours get similar "
    "vectors. Widen the window, and topics count more than grammar.",
    controls={
        "text": TextControl(
            title="Text",
            default=(
                "The cat drinks the milk. The dog drinks the water. The cat chases the dog. The dog chases the cat."
            ),
            longest=2_000,
            lines=3,
        ),
        "window": NumberControl(
            title="Window: words on either side", default="2", low=1.0, high=float(MAX_WINDOW), whole=True
        ),
        "words": NumberControl(title="Words in the table of counts", default="10", low=2.0, high=24.0, whole=True),
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
    lesson="fastText gives every character n-gram a vector, and a word the sum of those of its n-grams. So words that "
    "share a stem or an ending share a part of their vectors, and a word that the training text never had gets one, "
    "too.",
    controls={
        "word": TextControl(title="Word", default="unhappiness", longest=40),
        "other": TextControl(title="Another word", default="happily", longest=40),
        "shortest": NumberControl(title="Shortest n-gram", default="3", low=1.0, high=8.0, whole=True),
        "longest": NumberControl(title="Longest n-gram", default="5", low=1.0, high=8.0, whole=True),
    },
    compute=show_ngrams,
    formulas=(r"v_w = \sum_{g \in G(w)} v_g",),
    code=(character_ngrams,),
)
NEXT_WORD = Screen(
    title="A tiny network learns word vectors",
    lesson="This network predicts the next word from the mean of the vectors of the words before it, so it ignores "
    "their order. Each step moves the rows of the words that occurred, against the gradient of the loss; words that "
    "are followed by the same words come to lie together, though their meaning was never given.",
    controls={
        "text": CORPUS,
        "context": NumberControl(title="Words before", default="2", low=1.0, high=float(MAX_CONTEXT), whole=True),
        "dim": NumberControl(title="Channels of a vector", default="16", low=2.0, high=float(MAX_DIM), whole=True),
        "steps": NumberControl(title="Steps", default="400", low=1.0, high=float(MAX_STEPS), whole=True),
        "learning_rate": NumberControl(title="Learning rate", default="5", low=0.1, high=20.0, step=0.1),
        "followed": TextControl(
            title="Words to follow", default="cat dog king queen tea coffee red blue monday tuesday slow fast"
        ),
        "beginning": TextControl(title="Predict what follows", default="the cat drinks the"),
        "seed": SeedControl(default="0"),
    },
    compute=train_live,
    formulas=(
        r"p = \mathrm{softmax}(W\, \frac{1}{n}\sum_{j=1}^{n} E_{t_{i-j}} + b)",
        r"E \leftarrow E - \eta\,\frac{\partial}{\partial E}\,(-\log p_{t_i})",
    ),
    code=(NextWordNet, train_next_word),
    is_long=True,
)
