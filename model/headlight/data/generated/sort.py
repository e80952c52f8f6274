"""Sorting: 4 to 16 numbers from 0 to 99, and the same numbers in order."""

from __future__ import annotations

from random import Random

import tokenizers
from tokenizers import Regex, models, pre_tokenizers

from headlight.data.examples import Example, GeneratedTask, Link, joined_spans
from headlight.text.tokenizer import Tokenizer

NUMBERS = tuple(map(str, range(100)))
SHORTEST, LONGEST = 4, 16


def draw_numbers(random: Random) -> Example:
    """Half of the sequences take any number; the others few numbers again and again, or close ones."""
    length, kind = random.randint(SHORTEST, LONGEST), random.random()
    pool = list(range(100))
    if kind < 0.25:
        pool = random.sample(pool, random.randint(1, length))
    elif kind < 0.5:
        first = random.randrange(90)
        pool = pool[first : first + random.randint(3, 20)]
    numbers = [str(random.choice(pool)) for _ in range(length)]
    answer = sorted(numbers, key=int)
    places = list(zip(numbers, joined_spans(numbers), strict=True))
    links = [
        Link(span, place)
        for number, span in zip(answer, joined_spans(answer), strict=True)
        for other, place in places
        if other == number
    ]
    return Example(" ".join(numbers), " ".join(answer), tuple(links))


def number_tokenizer() -> Tokenizer:
    """Each number is a token; whatever stands between them is not read."""
    vocabulary = {token: index for index, token in enumerate(("[PAD]", "[UNK]", *NUMBERS))}
    backend = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.add_special_tokens(["[PAD]", "[UNK]"])
    backend.pre_tokenizer = pre_tokenizers.Split(Regex("[^0-9]+"), "removed")
    return Tokenizer(backend)


SORT = GeneratedTask("sort", draw_numbers, number_tokenizer, labels=NUMBERS)
