"""Tasks whose examples are generated: induction, sorting, dates, summaries and captions."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import partial
from random import Random

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, processors, trainers

from headlight.data.examples import Example, GeneratedTask, Link, joined_spans
from headlight.registry import Registry
from headlight.text.tokenizer import END_OF_TEXT, Tokenizer
from headlight.text.tokenizer_training import train_tokenizer
from headlight.vision.image import OUTLINES, Drawing, Figure, Shade

WORDS = (
    "ant", "ape", "arm", "ash", "bag", "bat", "bay", "bed", "bee", "boy", "bus", "cap", "car", "cat", "cow", "cup",
    "day", "dog", "ear", "egg", "elm", "eye", "fan", "fig", "fly", "fox", "gem", "hat", "hen", "hut", "ice", "ink",
    "jam", "jar", "jet", "key", "kid", "kit", "lamp", "leaf", "lip", "log", "map", "mat", "moon", "net", "nut",
    "oak", "oil", "owl", "pan", "pea", "pen", "pig", "pot", "rat", "rose", "sea", "ship", "sun", "tea", "toy",
    "van", "zoo",
)  # fmt: skip
LONGEST_TEXT = 47  # words; with the token at the start of a text, 48 tokens
SHORTEST_BLOCK, LONGEST_BLOCK = 4, 20
FIXED_BLOCK = 20


def draw_repeat(random: Random, block_lengths: tuple[int, int]) -> Example:
    """Some other words, as many as fit at most, a block, and its first word again; the answer is the block's rest."""
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


# The block's length is also the distance between a word and its repetition.
INDUCTION = GeneratedTask(
    "induction", partial(draw_repeat, block_lengths=(SHORTEST_BLOCK, LONGEST_BLOCK)), word_tokenizer
)
FIXED_OFFSET = GeneratedTask(
    "induction-fixed-offset", partial(draw_repeat, block_lengths=(FIXED_BLOCK, FIXED_BLOCK)), word_tokenizer
)


NUMBERS = tuple(map(str, range(100)))
SHORTEST, LONGEST = 4, 16


def draw_numbers(random: Random) -> Example:
    """Half of the sequences contain arbitrary numbers; the others repeat a few numbers, or have close ones."""
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
    """Each number is a token; characters between numbers are ignored."""
    vocabulary = {token: index for index, token in enumerate(("[PAD]", "[UNK]", *NUMBERS))}
    backend = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.add_special_tokens(["[PAD]", "[UNK]"])
    backend.pre_tokenizer = pre_tokenizers.Split(Regex("[^0-9]+"), "removed")
    return Tokenizer(backend)


SORT = GeneratedTask("sort", draw_numbers, number_tokenizer, labels=NUMBERS)


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
FIELDS = {"year": (0, 4), "month": (5, 7), "day": (8, 10)}  # with their spans in the answer


def _with_suffix(number: int) -> str:
    suffix = "th" if 11 <= number <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


# The spelling of each part of a template; a part starts with the name of its field.
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
    """A day written by a template, with links from year, month and day of the answer to their places in the text."""
    text, links = "", []
    for index, part in enumerate(re.split(r"{(\w+)}", template)):
        start, field = len(text), next((name for name in FIELDS if name in part.split("_")), None)
        text += PARTS[part](day) if index % 2 else part
        if index % 2 and field:
            links.append(Link(FIELDS[field], (start, len(text))))
    return Example(text, day.isoformat(), tuple(links))


def draw_date(random: Random) -> Example:
    """A random day in a random spelling; one text in four is in lower case, one in twenty in capitals."""
    example = write_date(date.fromordinal(random.randint(FIRST, LAST)), random.choice(TEMPLATES))
    case = random.random()
    text = example.text.lower() if case < 0.25 else example.text.upper() if case < 0.3 else example.text
    return Example(text, example.answer, example.links)


def bytes_tokenizer(write: Callable[[Random], str], vocabulary_size: int) -> Tokenizer:
    """Byte-level BPE in which every digit is a token; the encoder reads `</s>` at the end."""
    specials = ["<s>", "</s>", "<pad>"]
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    random = Random(0)
    backend.train_from_iterator((write(random) for _ in range(20_000)), trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B:1 </s>:1", special_tokens=[("</s>", backend.token_to_id("</s>"))]
    )
    return Tokenizer(backend)


DATES = GeneratedTask("dates", draw_date, partial(bytes_tokenizer, lambda random: draw_date(random).text, 600))


PEOPLE = ("Tom", "Anna", "Ben", "Lily", "Sam", "Mia", "Max", "Sara", "Jack", "Emma", "Leo", "Rosa", "Tim", "Nora")
OBJECTS = (
    "ball", "hat", "book", "kite", "cup", "toy", "lamp", "bag", "boat", "drum", "coat", "clock", "shoe", "doll",
)  # fmt: skip
PLACES = ("park", "kitchen", "school", "garden", "forest", "market", "barn", "library", "village", "harbour")
# Events with their word in a summary, and sentences that tell them without that word; the same for endings.
EVENTS = {
    "lost": ("could not see the {thing} anywhere", "let the {thing} drop and went on", "came home without the {thing}"),
    "broke": (
        "fell on the {thing} and it cracked",
        "sat on the {thing} by mistake",
        "bent the {thing} until it snapped",
    ),
    "wanted": ("asked for a {thing} again and again", "dreamed of a {thing} of their own", "had never had a {thing}"),
}
ENDINGS = {
    "helped": ("brought back the {thing}", "mended the {thing} overnight", "came with just such a {thing}"),
    "laughed": ("thought that it was funny", "could not keep a straight face", "giggled for a long time"),
    "was angry": ("shouted and went away", "slammed the door", "did not speak all day"),
}
BESIDES = (
    "The sun was warm.", "It had rained all day.", "A dog slept by the wall.", "There was soup for lunch.",
    "Somebody sang.", "A {other} stood in the corner.", "{third} walked by with a {other}.",
    "{third} was ill that week.",
)  # fmt: skip


def draw_story(random: Random) -> Example:
    """A few sentences, two of which matter, and a summary of those two; the text contains its names and its thing."""
    hero, helper, third = random.sample(PEOPLE, 3)
    thing, other = random.sample(OBJECTS, 2)
    place, event, ending = random.choice(PLACES), random.choice(list(EVENTS)), random.choice(list(ENDINGS))
    beside = random.sample(BESIDES, random.randint(1, 3))
    sentences = [
        f"In the {place}, {hero} {random.choice(EVENTS[event])}.",
        f"{helper} {random.choice(ENDINGS[ending])}.",
    ]
    for sentence in beside:
        sentences.insert(random.randint(0, len(sentences)), sentence)
    text = " ".join(sentences).format(thing=thing, other=other, third=third)
    answer = f"{hero} {event} a {thing} in the {place}, and {helper} {ending}."
    return Example(text, answer, tuple(_link(answer, text, word) for word in (hero, thing, place, helper)))


def _link(answer: str, text: str, word: str) -> Link:
    """A word of the answer, and the same word in the text."""
    (start, end), (first, last) = (re.search(rf"\b{word}\b", each).span() for each in (answer, text))  # type: ignore[union-attr]
    return Link((start, end), (first, last))


def _write_story(random: Random) -> str:
    """A text and its summary, so that the tokenizer learns the words of both."""
    story = draw_story(random)
    return f"{story.text} {story.answer}"


SUMMARY = GeneratedTask("summary", draw_story, partial(bytes_tokenizer, _write_story, 900))


SIDE = 48  # pixels
COLOURS: dict[str, Shade] = {
    "red": (214, 48, 44),
    "yellow": (240, 200, 40),
    "green": (46, 148, 74),
    "blue": (40, 98, 206),
    "purple": (132, 62, 168),
    "black": (36, 36, 40),
}
THINGS = tuple((colour, shape) for colour in COLOURS for shape in OUTLINES)
RELATIONS = ("above", "below", "left of", "right of")
LARGE, SMALL = (10.0, 12.0), (6.5, 8.5)  # radii
GAP, MARGIN = 1.5, 1.0  # minimum distances in pixels between the figures, and to the edge
SHADE_SPREAD = 18  # maximum change of a colour's red, green and blue
GROUND = (232, 255)  # range of the background's lightness


def draw_caption(random: Random) -> Example:
    """Two different things; the wider one is named first, so that only one of "A above B", "B below A" is right."""
    (colour, shape), (other_colour, other_shape) = random.sample(THINGS, 2)
    relation, radii = random.choice(RELATIONS), (random.uniform(*LARGE), random.uniform(*SMALL))
    (x, y), (other_x, other_y) = _draw_centres(random, relation, radii)
    large = Figure(shape, colour, _vary(random, COLOURS[colour]), x, y, radii[0])
    small = Figure(other_shape, other_colour, _vary(random, COLOURS[other_colour]), other_x, other_y, radii[1])
    lightness = random.randint(*GROUND)
    drawing = Drawing(SIDE, (lightness, lightness, lightness), (large, small))
    answer = f"a {large.name} {relation} a {small.name}"
    first, last = len("a "), len(answer) - len(small.name)
    links = (Link((first, first + len(large.name)), box=large.box), Link((last, len(answer)), box=small.box))
    return Example("", answer, links, drawing)


def _draw_centres(
    random: Random, relation: str, radii: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Centres of two figures; the first is in a relation to the second, which is clear along one axis."""
    large, small = radii
    distance = random.uniform(large + small + GAP, SIDE - 2 * MARGIN - large - small)
    start = random.uniform(MARGIN, SIDE - MARGIN - large - distance - small)
    is_first = relation in ("above", "left of")
    along = (start + large, start + large + distance) if is_first else (start + small + distance, start + small)
    middle = random.uniform(MARGIN + large, SIDE - MARGIN - large)
    beside = middle + random.uniform(-distance / 2, distance / 2)
    across = (middle, min(max(beside, MARGIN + small), SIDE - MARGIN - small))
    if relation in ("left of", "right of"):
        return (along[0], across[0]), (along[1], across[1])
    return (across[0], along[0]), (across[1], along[1])


def _vary(random: Random, shade: Shade) -> Shade:
    red, green, blue = (min(255, max(0, part + random.randint(-SHADE_SPREAD, SHADE_SPREAD))) for part in shade)
    return red, green, blue


def combination(example: Example) -> str:
    """The two things of a drawing in a fixed order, so that a pair of things is held out in every arrangement."""
    assert example.drawing is not None
    return " and ".join(sorted(figure.name for figure in example.drawing.figures))


def caption_tokenizer() -> Tokenizer:
    """Each word is a token."""
    words = dict.fromkeys(" ".join(("a", *COLOURS, *OUTLINES, *RELATIONS)).split())
    return train_tokenizer("word", [" ".join(words)], len(words) + 4, ("<s>", "</s>", "<pad>"))


CAPTION = GeneratedTask("caption", draw_caption, caption_tokenizer, split_key=combination)


GENERATED_TASKS: Registry[GeneratedTask] = Registry(
    "generated task", {task.name: task for task in (INDUCTION, FIXED_OFFSET, SORT, DATES, SUMMARY, CAPTION)}
)
