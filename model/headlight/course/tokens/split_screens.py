"""A text becomes tokens, tokens become ids, and ids select rows of a table: the embedding layer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import tokenizers
import torch
from tokenizers import models
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.course.controls import ChoiceControl, CountControl, SeedControl, TextControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows, link
from headlight.errors import InputError, shortened
from headlight.nn.transformer import Transformer
from headlight.paths import assets_dir
from headlight.questions.asking import ask_largest, ask_number
from headlight.questions.kinds import Question
from headlight.registry import Registry
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import TOKENIZER_TRAINERS, train_tokenizer
from headlight.views.kinds import HeatMapView, MatrixView, TableView, TokensView, View
from headlight.views.rows import row
from headlight.views.words import digits

MAX_TRAINING_CHARACTERS, MAX_CHARACTERS, MAX_WORD = 5_000, 500, 40


@dataclass(frozen=True)
class Split:
    """A text under one kind of tokenizer: its tokens and their ids, and the size of the vocabulary.

    `entries` are those of the vocabulary ("Ġcat", "##ing"), `texts` the text of each (" cat", "ing"). `unknown` counts
    the tokens for text that the vocabulary lacks.
    """

    kind: str
    entries: tuple[str, ...]
    texts: tuple[str, ...]
    ids: tuple[int, ...]
    vocabulary_size: int
    unknown: int


@dataclass(frozen=True)
class MergeStep:
    """The pieces of a word after a merge: `merged` are the two joined last, by the `rank`-th learned merge (from 1).

    Before any merge, the pieces are the word's bytes, `merged` is empty and `rank` 0.
    """

    pieces: tuple[str, ...]
    merged: tuple[str, str] | tuple[()]
    rank: int


def small_text() -> str:
    """The course's own text: some 600 words of simple sentences."""
    return (assets_dir() / "course" / "small_text.txt").read_text(encoding="utf-8")


def train_on(text: str, kind: str, vocabulary_size: int) -> Tokenizer:
    """A tokenizer of a kind of TOKENIZER_TRAINERS, trained on a text, without special tokens around its input.

    Raises InputError if the text is empty or too long.
    """
    _check(text, "training text", MAX_TRAINING_CHARACTERS)
    return train_tokenizer(kind, [text], vocabulary_size, special_tokens=())


def split_all(training_text: str, sentence: str, vocabulary_size: int) -> tuple[Split, ...]:
    """The sentence under every kind of tokenizer, each trained on the same text with the same vocabulary size."""
    _check(sentence, "sentence", MAX_CHARACTERS)
    return tuple(_split(kind, train_on(training_text, kind, vocabulary_size), sentence) for kind in TOKENIZER_TRAINERS)


def _split(kind: str, tokenizer: Tokenizer, sentence: str) -> Split:
    encoded = tokenizer.encode(sentence)
    unknown = sum(token_id == tokenizer.unknown_id for token_id in encoded.ids)
    return Split(kind, encoded.tokens, encoded.token_texts, encoded.ids, tokenizer.vocabulary_size, unknown)


def merge_steps(tokenizer: Tokenizer, word: str) -> tuple[MergeStep, ...]:
    """How byte-level BPE builds a word, merge by merge in learned order.

    Each step is the library's own tokenizer with only the merges up to that rank (Sennrich et al. 2016, section 3.2): a
    merge joins only results of earlier ones. Raises InputError if the word is empty or too long.
    """
    _check(word, "word", MAX_WORD)
    learned = learned_merges(tokenizer)
    whole = "".join(tokenizer.backend.encode(word, add_special_tokens=False).tokens)
    steps = [MergeStep(_with_merges(tokenizer, (), word), (), 0)]
    for rank, (left, right) in enumerate(learned, 1):
        if left + right in whole:
            pieces = _with_merges(tokenizer, learned[:rank], word)
            if pieces != steps[-1].pieces:
                steps.append(MergeStep(pieces, (_written(tokenizer, left), _written(tokenizer, right)), rank))
    return tuple(steps)


def learned_merges(tokenizer: Tokenizer) -> tuple[tuple[str, str], ...]:
    """The merges of a BPE tokenizer as pairs of vocabulary entries, in learned order."""
    model = json.loads(tokenizer.backend.to_str())["model"]
    return tuple((left, right) for left, right in model["merges"])


def _with_merges(tokenizer: Tokenizer, merges: Sequence[tuple[str, str]], word: str) -> tuple[str, ...]:
    """The pieces of the word with only the first merges."""
    backend = tokenizers.Tokenizer(models.BPE(tokenizer.backend.get_vocab(), list(merges)))
    backend.pre_tokenizer, backend.decoder = tokenizer.backend.pre_tokenizer, tokenizer.backend.decoder
    return Tokenizer(backend).encode(word).token_texts


def _written(tokenizer: Tokenizer, entry: str) -> str:
    return tokenizer.token_text(tokenizer.backend.get_vocab()[entry])


def _check(text: str, what: str, limit: int) -> None:
    if not text.strip():
        raise InputError(f"The {what} is empty. Type one.")
    if len(text) > limit:
        raise InputError(f"The {what} has {len(text):,} characters; at most {limit:,} are read. Shorten it.")


KINDS: Registry[str] = Registry(
    "tokenizer",
    {
        "word": "Words",
        "bpe": "Byte-pair encoding (BPE)",
        "wordpiece": "WordPiece",
        "unigram": "Unigram",
        "character": "Characters",
    },
)
SHOWN_MERGES = 12


def compare_tokenizers(sentence: str, corpus: str, vocabulary_size: int) -> ScreenRows:
    """One sentence under the five kinds, all trained on the same text."""
    splits = {split.kind: split for split in split_all(corpus, sentence, vocabulary_size)}
    ordered = [splits[kind] for kind in KINDS]
    first, *others = ordered
    lengths = {KINDS[split.kind]: len(split.ids) for split in ordered}
    return (
        row(_tokens(first), question=_question(lengths, len(sentence))),
        *(row(_tokens(split)) for split in others),
        TableView(
            ("tokenizer", "tokens", "characters per token", "vocabulary entries", "unknown"),
            tuple(
                (
                    KINDS[split.kind],
                    len(split.ids),
                    round(len(sentence) / max(1, len(split.ids)), 2),
                    split.vocabulary_size,
                    split.unknown,
                )
                for split in ordered
            ),
            title="Counted",
        ),
    )


def _question(lengths: dict[str, int], characters: int) -> Question:
    return ask_largest(
        "Which of these tokenizers cuts the sentence into the fewest tokens?",
        lengths,
        {
            KINDS["character"]: f"Each character is a token: {characters} of them, the most of all.",
            KINDS["bpe"]: "It joins only frequent pairs of its training text; rare words stay in pieces.",
        },
        f"Their numbers of tokens, in this order: {', '.join(map(str, lengths.values()))}.",
        least=True,
    )


def _tokens(split: Split) -> View:
    unknown = f", {split.unknown} of them unknown" if split.unknown else ""
    return TokensView(
        f"{KINDS[split.kind]}: {len(split.ids)} tokens{unknown}",
        split.entries if split.kind == "wordpiece" else split.texts,
        below=tuple(map(str, split.ids)),
    )


def show_merges(word: str, place: str, corpus: str, vocabulary_size: int) -> ScreenRows:
    """The pieces of a word after each merge, and the first learned merges."""
    tokenizer = train_on(corpus, "bpe", vocabulary_size)
    steps = merge_steps(tokenizer, word.strip() if place == "start" else f" {word.strip()}")
    merges = learned_merges(tokenizer)
    pieces = len(steps[-1].pieces)
    question = ask_number(
        f"“{word.strip()}” begins as {len(steps[0].pieces)} pieces. How many tokens are left after all merges?",
        pieces,
        (
            len(steps[0].pieces),
            "That is the number before any merge: at least one pair of these is frequent in the text.",
        ),
        hints=("Endings such as “est” are frequent in this text.", f"{len(steps) - 1} merges change this word."),
    )
    return (
        TokensView(_step_title(steps[0]), steps[0].pieces),
        *(
            row(TokensView(_step_title(step), step.pieces), question=None if number else question)
            for number, step in enumerate(steps[1:])
        ),
        f"{len(merges)} merges were learned from the text; {len(steps) - 1} of them change this word, "
        + ("which is now one token." if pieces == 1 else f"which ends as {pieces} tokens."),
        TableView(
            ("merge", "left", "right", "together"),
            tuple((rank, left, right, left + right) for rank, (left, right) in enumerate(merges[:SHOWN_MERGES], 1)),
            title="The first learned merges",
            note=(
                "Ġ stands for the space in front of a word. The pair that is most frequent in the text is merged first."
            ),
        ),
    )


def _step_title(step: MergeStep) -> str:
    if not step.merged:
        return "Before any merge: one piece for each byte"
    left, right = (f"“{piece}”" for piece in step.merged)
    return f"Merge {step.rank}: {left} + {right}"


CORPUS = TextControl("Training text of the tokenizers", small_text(), longest=MAX_TRAINING_CHARACTERS, lines=6)
VOCABULARY = CountControl("Vocabulary size, at most", "500", 300.0, 1_000.0, step=20.0)

TOKENIZERS = Screen(
    title="One sentence, five tokenizers",
    lesson="A network computes with numbers, so a text is cut into tokens, and every token gets the number of its "
    "entry in a vocabulary, its id. Word tokenizers need a huge vocabulary and do not know new words; character "
    "tokenizers need a tiny one but make long sequences; the three subword methods are in between. Type a word that "
    "the training text does not have.",
    controls={
        "sentence": TextControl(
            "Sentence", "The unhappy walkers walked slowly to the tallest tower.", longest=MAX_CHARACTERS
        ),
        "corpus": CORPUS,
        "vocabulary_size": VOCABULARY,
    },
    compute=compare_tokenizers,
    code=(train_tokenizer, *(TOKENIZER_TRAINERS[kind] for kind in KINDS)),
    explore=link(text="sentence"),
)
MERGES = Screen(
    title="How merges build a word",
    lesson="Byte-pair encoding starts from characters (Sennrich et al. 2016) or, as in GPT-2 and here, from single "
    "bytes, and repeatedly joins the most frequent pair of its training text. A word is then built by the same merges "
    "in the same order: a frequent word ends as one token, a rare one as several pieces that it shares with other "
    "words.",
    controls={
        "word": TextControl("Word", "slowest", longest=MAX_WORD),
        "place": ChoiceControl(
            "Place of the word",
            "inside",
            {"inside": "Inside a sentence, after a space", "start": "At the start of a text"},
        ),
        "corpus": CORPUS,
        "vocabulary_size": VOCABULARY,
    },
    compute=show_merges,
    formulas=(r"(a, b) = \arg\max_{(a, b)} \mathrm{count}(a\,b),\quad a\,b \to ab",),
    code=(merge_steps, TOKENIZER_TRAINERS["bpe"]),
)


MAX_ROWS, MAX_WIDTH, MAX_IDS, MAX_TEXTS = 1_000, 64, 24, 8


@dataclass(frozen=True, eq=False)
class Lookup:
    """The output of an embedding layer for a batch of ids; `from_one_hot` is one_hot(ids) times the table."""

    ids: Int[Tensor, "batch pos"]
    table: Float[Tensor, "token d_model"]
    output: Float[Tensor, "batch pos d_model"]
    from_one_hot: Float[Tensor, "batch pos d_model"]


def parse_ids(text: str, rows: int) -> Int[Tensor, "batch pos"]:
    """A batch of ids from text: a line (or part between semicolons) is one text, with commas or spaces between ids.

    Raises InputError for text other than ids, ids without a row in the table, and lines of unequal length.
    """
    lines = [line for line in re.split(r"[;\n]", text) if line.strip(" ,[]\t\r")]
    if not lines or len(lines) > MAX_TEXTS:
        raise InputError(f"There are {len(lines)} lines of ids; give 1 to {MAX_TEXTS}, as in: 1, 5, 2, 99, 3")
    batch = [[_parse_id(word, rows) for word in re.split(r"[\s,]+", line.strip(" ,[]\t\r"))] for line in lines]
    lengths = [len(ids) for ids in batch]
    if len(set(lengths)) > 1:
        raise InputError(
            f"The lines have {', '.join(map(str, lengths))} ids. A batch is one array, so all its texts must have the "
            "same length; in practice the short ones are filled up with a padding token."
        )
    if lengths[0] > MAX_IDS:
        raise InputError(f"A line has {lengths[0]} ids; at most {MAX_IDS} are allowed.")
    return torch.tensor(batch)


def _parse_id(word: str, rows: int) -> int:
    if not re.fullmatch(r"-?[0-9]{1,12}", word):
        raise InputError(f"{shortened(word, 30)!r} is not an id; an id is a whole number from 0 to {rows - 1}.")
    return require_index(int(word), rows, "row", "the table")


def look_up(text: str, rows: int, width: int, seed: int = 0) -> Lookup:
    """The rows selected by the ids in a new `nn.Embedding(rows, width)`, drawn with the seed.

    Raises InputError as `parse_ids` does.
    """
    ids = parse_ids(text, rows)
    with torch.random.fork_rng(devices=()), torch.inference_mode():
        torch.manual_seed(seed)
        layer = nn.Embedding(rows, width)
        one_hot = functional.one_hot(ids, rows).to(layer.weight.dtype)
        return Lookup(ids, layer.weight.detach(), layer(ids), one_hot @ layer.weight)


def cosines(vectors: Float[Tensor, "row d_model"]) -> Float[Tensor, "row other"]:
    """The cosine of each pair of vectors."""
    unit = functional.normalize(vectors.float(), dim=-1)
    return unit @ unit.T


def show_lookup(ids: str, rows: int, width: int, seed: int) -> ScreenRows:
    """A batch of ids, the table, and the output of the layer."""
    found = look_up(ids, rows, width, seed)
    batch, length = found.ids.shape
    texts = [f"text {number}" for number in range(1, batch + 1)]
    picked = torch.unique(found.ids)
    return (
        row(
            MatrixView(
                f"ids: {batch} × {length}",
                found.ids,
                rows=tuple(texts),
                column_axis="position",
                colours="none",
                digits=0,
                columns=tuple(map(str, range(length))),
            ),
            title="In",
        ),
        row(
            HeatMapView(f"The table E: {rows} × {width}", found.table, row_axis="id", column_axis="channel"),
            HeatMapView(
                f"The {len(picked)} rows selected by these ids",
                found.table[picked],
                before="→",
                rows=tuple(map(str, picked.tolist())),
                row_axis="id",
                column_axis="channel",
            ),
            title="Table",
            question=ask_number(
                "How many numbers does the embedding layer give for these ids?",
                found.output.numel(),
                (found.ids.numel(), f"Each id selects a whole row of {width} numbers."),
                (rows * width, "That is the size of the whole table; the output has only the rows of these ids."),
                hints=(f"There are {found.ids.numel()} ids, and each row has {width} channels.",),
            ),
        ),
        row(
            *(
                HeatMapView(
                    f"Output for {text}: {length} × {width}",
                    output,
                    rows=tuple(map(str, text_ids.tolist())),
                    row_axis="id",
                    column_axis="channel",
                )
                for text, text_ids, output in zip(texts, found.ids, found.output, strict=True)
            ),
            title="Out",
        ),
        f"The output has the shape {tuple(found.output.shape)}: texts, positions, channels. Multiplying one-hot "
        f"vectors of {rows} channels by the table gives the same output; the largest difference is "
        f"{digits(float((found.output - found.from_one_hot).abs().max()), 1)}.",
    )


LOOK_UP = Screen(
    title="From ids to rows of a table",
    lesson="The embedding layer is a table with a row of numbers for every entry of the vocabulary. An id selects its "
    "row, so a batch of texts of equal length becomes one array of texts × positions × channels. Here the numbers are "
    "random, as before any training.",
    controls={
        "ids": TextControl("Ids: one line per text", "1, 5, 2, 99, 3\n10, 11, 12, 13, 14", lines=3),
        "rows": CountControl("Entries of the vocabulary", "100", 1.0, float(MAX_ROWS)),
        "width": CountControl("Channels of a vector", "16", 1.0, float(MAX_WIDTH)),
        "seed": SeedControl(default="0"),
    },
    compute=show_lookup,
    formulas=(r"x_i = E_{t_i} = \mathrm{onehot}(t_i)\,E,\quad E \in \mathbf{R}^{V \times d}",),
    code=(look_up, Transformer.embed),
)
