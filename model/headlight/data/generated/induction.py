"""Induction: random words, a block of which comes again; what follows its first word the second time is the answer.

A model that has seen "key sun cat sun" can only guess what follows, unless it finds "sun" earlier and looks one word
further. No word occurs twice before the block comes again, so nothing else is to be found out.
"""

from __future__ import annotations

from functools import partial
from random import Random

from headlight.data.examples import Example, GeneratedTask, Link, joined_spans
from headlight.text.tokenizer import END_OF_TEXT, Tokenizer
from headlight.text.tokenizer_training import train_tokenizer

WORDS = (
    "ant", "ape", "arm", "ash", "bag", "bat", "bay", "bed", "bee", "boy", "bus", "cap", "car", "cat", "cow", "cup",
    "day", "dog", "ear", "egg", "elm", "eye", "fan", "fig", "fly", "fox", "gem", "hat", "hen", "hut", "ice", "ink",
    "jam", "jar", "jet", "key", "kid", "kit", "lamp", "leaf", "lip", "log", "map", "mat", "moon", "net", "nut",
    "oak", "oil", "owl", "pan", "pea", "pen", "pig", "pot", "rat", "rose", "sea", "ship", "sun", "tea", "toy",
    "van", "zoo",
)  # fmt: skip
LONGEST_TEXT = 47  # words; the token that begins a text is the 48th
SHORTEST_BLOCK, LONGEST_BLOCK = 4, 20
FIXED_BLOCK = 20


def draw_repeat(random: Random, block_lengths: tuple[int, int]) -> Example:
    """Up to as many other words as fit, the block, and its first word again; the rest of the block is the answer."""
    length = random.randint(*block_lengths)
    before = random.randint(0, LONGEST_TEXT - 2 * length)
    words = random.sample(WORDS, before + length)
    text, answer = [*words, words[before]], words[before + 1 :]
    first_places = joined_spans(text)[before + 1 : before + length]
    links = map(Link, joined_spans(answer), first_places)
    return Example(" ".join(text), " ".join(answer), tuple(links))


def word_tokenizer() -> Tokenizer:
    """Each of the words is a token."""
    return train_tokenizer("word", [" ".join(WORDS)], len(WORDS) + 2, (END_OF_TEXT,))


# The block's length is also how far apart a word and its repetition are.
INDUCTION = GeneratedTask(
    "induction", partial(draw_repeat, block_lengths=(SHORTEST_BLOCK, LONGEST_BLOCK)), word_tokenizer
)
FIXED_OFFSET = GeneratedTask(
    "induction-fixed-offset", partial(draw_repeat, block_lengths=(FIXED_BLOCK, FIXED_BLOCK)), word_tokenizer
)
