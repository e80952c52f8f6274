"""Dates: a day of 1900 to 2099 as people write it, and as ISO 8601 has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from random import Random

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

from headlight.data.examples import Example, GeneratedTask, Link
from headlight.text.tokenizer import Tokenizer

FIRST, LAST = date(1900, 1, 1).toordinal(), date(2099, 12, 31).toordinal()
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_UP_TO_NINETEENTH = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth",
)  # fmt: skip
ORDINAL_WORDS = (
    *_UP_TO_NINETEENTH,
    "twentieth",
    *(f"twenty-{word}" for word in _UP_TO_NINETEENTH[:9]),
    "thirtieth",
    "thirty-first",
)

# With full stops the day comes first, as in Europe; with slashes the month, as in America.
TEMPLATES = (
    "{day} {month} {year}",
    "{month} {day}, {year}",
    "{weekday}, {day} {month} {year}",
    "{weekday}, {month} {day}, {year}",
    "{day_th} of {month} {year}",
    "{month} {day_th}, {year}",
    "the {day_th} of {month}, {year}",
    "{day_word} of {month} {year}",
    "{month} the {day_word}, {year}",
    "the {day_word} day of {month} in {year}",
    "{day} {short_month} {year}",
    "{short_month} {day}, {year}",
    "{day_two}-{short_month}-{year}",
    "{year}, {month} {day}",
    "{day}.{month_number}.{year}",
    "{day_two}.{month_two}.{year}",
    "{month_number}/{day}/{year}",
    "{month_two}/{day_two}/{year}",
    "{year}/{month_two}/{day_two}",
    "{year}{month_two}{day_two}",
)
FIELDS = {"year": (0, 4), "month": (5, 7), "day": (8, 10)}  # and where they stand in the answer


def _with_suffix(number: int) -> str:
    suffix = "th" if 11 <= number <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


# How each part of a template is written; a part begins with the name of its field.
PARTS: dict[str, Callable[[date], str]] = {
    "year": lambda day: str(day.year),
    "month": lambda day: MONTHS[day.month - 1],
    "short_month": lambda day: MONTHS[day.month - 1][:3],
    "month_number": lambda day: str(day.month),
    "month_two": lambda day: f"{day.month:02}",
    "day": lambda day: str(day.day),
    "day_two": lambda day: f"{day.day:02}",
    "day_th": lambda day: _with_suffix(day.day),
    "day_word": lambda day: ORDINAL_WORDS[day.day - 1],
    "weekday": lambda day: WEEKDAYS[day.weekday()],
}


def write_date(day: date, template: str) -> Example:
    """A day as a template writes it, with links from year, month and day of the answer to those of the text."""
    text, links = "", []
    for index, part in enumerate(re.split(r"{(\w+)}", template)):
        start, field = len(text), next((name for name in FIELDS if name in part.split("_")), None)
        text += PARTS[part](day) if index % 2 else part
        if index % 2 and field:
            links.append(Link(FIELDS[field], (start, len(text))))
    return Example(text, day.isoformat(), tuple(links))


def draw_date(random: Random) -> Example:
    """Any day, written in any way; one text in four is in lower case, one in twenty in capitals."""
    example = write_date(date.fromordinal(random.randint(FIRST, LAST)), random.choice(TEMPLATES))
    case = random.random()
    text = example.text.lower() if case < 0.25 else example.text.upper() if case < 0.3 else example.text
    return Example(text, example.answer, example.links)


def date_tokenizer() -> Tokenizer:
    """Byte-level BPE in which every digit is a token; the encoder reads `</s>` at the end."""
    specials = ["<s>", "</s>", "<pad>"]
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    random = Random(0)
    backend.train_from_iterator((draw_date(random).text for _ in range(20_000)), trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B:1 </s>:1", special_tokens=[("</s>", backend.token_to_id("</s>"))]
    )
    return Tokenizer(backend)


DATES = GeneratedTask("dates", draw_date, date_tokenizer)
