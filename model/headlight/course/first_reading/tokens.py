"""What a model reads: the tokens of a text, and the vector of each."""

from __future__ import annotations

import torch

from headlight.checkpoints import Checkpoint
from headlight.course.controls import TextControl
from headlight.course.first_reading.reading import MODEL, in_words
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import token_labels
from headlight.course.tokens.model_vectors import embedding_cosines, nearest_tokens, word_ids
from headlight.errors import InputError, counted
from headlight.questions.asking import ask_largest, choose
from headlight.text.tokenizer import Tokenizer
from headlight.text.word_groups import group_texts, word_groups
from headlight.tracing.inputs import encode_input
from headlight.views.forms import bars
from headlight.views.kinds import HeatMapView, MatrixView, TokensView
from headlight.views.rows import row
from headlight.views.words import places

CHANNELS, MOST_WORDS, NEIGHBOURS = 32, 10, 6
ONE_EACH = "Here each word is one token; marks are tokens, too"


def split(text: str, model: Checkpoint) -> ScreenRows:
    """The words of a text, and the tokens that the model reads instead."""
    encoded = encode_input(model.model, model.tokenizer, text)
    positions = [at for at, special in enumerate(encoded.special_mask) if not special]
    words, count, letters = text.split(), len(positions), len("".join(text.split()))
    labels = token_labels(encoded)
    groups = [[at for at in group if at in positions] for group in word_groups(encoded)]
    longest = max(groups, key=len)
    pieces = " + ".join(f"“{labels[at]}”" for at in longest)
    [name] = group_texts(encoded, (tuple(longest),))
    is_split = len(longest) > 1
    told = f"“{name.strip()}” is {counted(len(longest), 'token')}: {pieces}" if is_split else ONE_EACH
    says = {
        str(len(words)): f"That is the number of its words. {told}.",
        str(letters): "That is the number of its letters and marks; a token is mostly more than one of them.",
    }
    says.pop(str(count), None)  # the right answer
    options = sorted({len(words), letters, count, count + 2})
    table = model.tokenizer.vocabulary_size
    return (
        TokensView("Your sentence, word by word", tuple(words)),
        row(
            TokensView(
                "What the model reads",
                tuple(labels[at] for at in positions),
                below=tuple(str(encoded.ids[at]) for at in positions),
                note="Below each token its id: the number of its row in the model's table.",
            ),
            question=choose(
                "Into how many tokens does the model split it?",
                tuple(map(str, options)),
                options.index(count),
                says,
                f"The text has {counted(len(words), 'word')} and {counted(count, 'token')}.",
                hints=(f"Frequent words are one token, rare ones several; marks are tokens, too. {told}.",),
            ),
        ),
        f"The model knows {table:,} tokens and nothing else. {told}."
        + (" It also reads a token that marks the beginning of a text." if len(labels) > count else ""),
    )


SPLIT = Screen(
    title="What does a model read?",
    lesson="Not letters and not words: a text is split into tokens from a fixed list. Guess how many yours has.",
    controls={
        "text": TextControl("Sentence", "Grandmother unbuttoned her enormous raincoat.", longest=120),
        "model": MODEL,
    },
    compute=split,
    code=(split, Tokenizer.encode),
    explore=link("model", "text"),
)


def vectors(words: str, model: Checkpoint) -> ScreenRows:
    """The vectors of some words, and which of them are near each other."""
    ids = word_ids(model, words)[:MOST_WORDS]
    if len(ids) < 3:
        raise InputError("These are fewer than three different tokens. Type more words.")
    names = tuple(map(model.tokenizer.stripped_token_text, ids))
    cosines = torch.tensor(embedding_cosines(model, ids)).fill_diagonal_(-1)
    asked = int(cosines.amax(1).argmax())
    options = {names[at]: float(cosines[asked, at]) for at in range(len(ids)) if at != asked}
    best = max(options, key=lambda name: options[name])
    near = nearest_tokens(model, ids[asked], NEIGHBOURS)
    table = model.model.embedding.weight
    return (
        HeatMapView(
            f"The first {CHANNELS} of {table.shape[1]} numbers of each word's vector",
            table[ids, :CHANNELS].detach().float().cpu(),
            rows=names,
            column_axis="channel",
        ),
        row(
            MatrixView(
                "Cosine of each pair",
                cosines.fill_diagonal_(1),
                rows=names,
                columns=names,
                note="1: the same direction. 0: a right angle, nothing in common.",
            ),
            question=ask_largest(
                f"Which of the other words has the vector most like that of “{names[asked]}”?",
                options,
                {name: f"Its cosine with “{names[asked]}” is {places(cosine)}." for name, cosine in options.items()},
                f"Their cosine is {places(options[best])}.",
            ),
        ),
        bars(
            f"Of all {model.tokenizer.vocabulary_size:,} tokens, nearest to “{names[asked]}”",
            [in_words(each.token) for each in near],
            [each.cosine for each in near],
        ),
        f"Nobody told the model what “{names[asked]}” means: it learned this table by predicting texts. Read the "
        "neighbours: are they alike in meaning, in form, or only in where they stand?",
    )


VECTORS = Screen(
    title="What is a token to the model?",
    lesson="A row of numbers, its vector. The numbers mean nothing one by one, but some rows resemble each other.",
    controls={"words": TextControl("Words", "dog cat puppy bird fish tree", longest=120), "model": MODEL},
    compute=vectors,
    formulas=(r"\cos(x, y) = \frac{x \cdot y}{\lVert x \rVert\,\lVert y \rVert}",),
    code=(embedding_cosines, nearest_tokens),
    explore=link("model", text="words"),
)
