"""A sentence becomes tokens, and tokens become ids: five kinds of tokenizer, and how the merges of BPE build a word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import tokenizers
from tokenizers import models

from headlight.course.controls import ChoiceControl, NumberControl, TextControl
from headlight.course.pictures import Picture, TablePicture, TokensPicture, row, verdict_row
from headlight.course.question_kinds import Question
from headlight.course.questions import ask_largest, ask_number
from headlight.course.screen import Answer, Screen, link
from headlight.errors import InputError
from headlight.paths import assets_dir
from headlight.registry import Registry
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import TOKENIZER_TRAINERS, train_tokenizer

MAX_TRAINING_CHARACTERS, MAX_CHARACTERS, MAX_WORD = 5_000, 500, 40


@dataclass(frozen=True)
class Split:
    """A text under one kind of tokenizer: its tokens and their ids, and how many entries the vocabulary has.

    `entries` are those of the vocabulary ("Ġcat", "##ing"), `texts` what they stand for (" cat", "ing"). `unknown`
    counts the tokens that stand for something the vocabulary does not have.
    """

    kind: str
    entries: tuple[str, ...]
    texts: tuple[str, ...]
    ids: tuple[int, ...]
    vocabulary_size: int
    unknown: int


@dataclass(frozen=True)
class MergeStep:
    """The pieces of a word after a merge: `merged` are the two joined last, the `rank`-th merge learned (from 1).

    At first no merge has been made: the pieces are the word's bytes, `merged` is empty and `rank` 0.
    """

    pieces: tuple[str, ...]
    merged: tuple[str, str] | tuple[()]
    rank: int


def small_text() -> str:
    """The text that ships with the course: some 600 words of simple sentences."""
    return (assets_dir() / "course" / "small_text.txt").read_text(encoding="utf-8")


def train_on(text: str, kind: str, vocabulary_size: int) -> Tokenizer:
    """A tokenizer of a kind of TOKENIZER_TRAINERS, trained on a text, without special tokens around what it reads.

    Raises InputError for an empty or too long text.
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
    """How byte-level BPE builds a word, merge by merge in the order in which they were learned.

    Each step is the library's own tokenizer with the merges up to that rank and no more (Sennrich et al. 2016, section
    3.2): a merge only joins what earlier ones have made. Raises InputError for an empty or too long word.
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
    """The merges of a BPE tokenizer as pairs of vocabulary entries, in the order in which they were learned."""
    model = json.loads(tokenizer.backend.to_str())["model"]
    return tuple((left, right) for left, right in model["merges"])


def _with_merges(tokenizer: Tokenizer, merges: Sequence[tuple[str, str]], word: str) -> tuple[str, ...]:
    """The pieces of the word under the first merges alone."""
    backend = tokenizers.Tokenizer(models.BPE(tokenizer.backend.get_vocab(), list(merges)))
    backend.pre_tokenizer, backend.decoder = tokenizer.backend.pre_tokenizer, tokenizer.backend.decoder
    return Tokenizer(backend).encode(word).token_texts


def _written(tokenizer: Tokenizer, entry: str) -> str:
    return tokenizer.token_text(tokenizer.backend.get_vocab()[entry])


def _check(text: str, what: str, limit: int) -> None:
    if not text.strip():
        raise InputError(f"The {what} is empty; type one.")
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


def compare_tokenizers(sentence: str, corpus: str, vocabulary_size: int) -> Answer:
    """One sentence under the five kinds, all trained on the same text."""
    splits = {split.kind: split for split in split_all(corpus, sentence, vocabulary_size)}
    ordered = [splits[kind] for kind in KINDS]
    first, *others = ordered
    lengths = {KINDS[split.kind]: len(split.ids) for split in ordered}
    return (
        row(_tokens(first), question=_question(lengths, len(sentence))),
        *(row(_tokens(split)) for split in others),
        row(
            TablePicture(
                title="Counted",
                columns=("tokenizer", "tokens", "characters per token", "entries in its vocabulary", "unknown"),
                rows=tuple(
                    (
                        KINDS[split.kind],
                        len(split.ids),
                        round(len(sentence) / max(1, len(split.ids)), 2),
                        split.vocabulary_size,
                        split.unknown,
                    )
                    for split in ordered
                ),
            )
        ),
    )


def _question(lengths: dict[str, int], characters: int) -> Question:
    return ask_largest(
        "Which of these tokenizers cuts the sentence into the fewest tokens?",
        lengths,
        {
            KINDS["character"]: f"Each character is a token: {characters} of them, the most of all.",
            KINDS["bpe"]: "It joins only what is frequent in its training text; rare words stay in pieces.",
        },
        f"They make, in this order: {', '.join(map(str, lengths.values()))}.",
        least=True,
    )


def _tokens(split: Split) -> Picture:
    unknown = f", {split.unknown} of them unknown" if split.unknown else ""
    return TokensPicture(
        title=f"{KINDS[split.kind]}: {len(split.ids)} tokens{unknown}",
        tokens=split.entries if split.kind == "wordpiece" else split.texts,
        below=tuple(map(str, split.ids)),
    )


def show_merges(word: str, place: str, corpus: str, vocabulary_size: int) -> Answer:
    """The pieces of a word after each merge, and the first merges that were learned."""
    tokenizer = train_on(corpus, "bpe", vocabulary_size)
    steps = merge_steps(tokenizer, word.strip() if place == "start" else f" {word.strip()}")
    merges = learned_merges(tokenizer)
    pieces = len(steps[-1].pieces)
    question = ask_number(
        f"“{word.strip()}” begins as {len(steps[0].pieces)} pieces. How many tokens are left when all merges are made?",
        pieces,
        (len(steps[0].pieces), "That is before any merge: at least one pair of these is frequent in the text."),
        hints=("Endings such as “est” are frequent in this text.", f"{len(steps) - 1} merges act on this word."),
    )
    return (
        row(TokensPicture(title=_step_title(steps[0]), tokens=steps[0].pieces)),
        *(
            row(TokensPicture(title=_step_title(step), tokens=step.pieces), question=None if number else question)
            for number, step in enumerate(steps[1:])
        ),
        verdict_row(
            f"{len(merges)} merges were learned from the text; {len(steps) - 1} of them act on this word, "
            + ("which is now one token." if pieces == 1 else f"which ends as {pieces} tokens.")
        ),
        row(
            TablePicture(
                title="The first merges that were learned",
                columns=("merge", "left", "right", "together"),
                rows=tuple(
                    (rank, left, right, left + right) for rank, (left, right) in enumerate(merges[:SHOWN_MERGES], 1)
                ),
                note=(
                    "Ġ stands for the space in front of a word. The pair that is most frequent in the text is "
                    "merged first."
                ),
            )
        ),
    )


def _step_title(step: MergeStep) -> str:
    if not step.merged:
        return "Before any merge: one piece for each byte"
    left, right = (f"“{piece}”" for piece in step.merged)
    return f"Merge {step.rank}: {left} + {right}"


CORPUS = TextControl(
    title="Text that the tokenizers are trained on", default=small_text(), longest=MAX_TRAINING_CHARACTERS, lines=6
)
VOCABULARY = NumberControl(
    title="Vocabulary size, at most", default="500", low=300.0, high=1_000.0, step=20.0, whole=True
)

TOKENIZERS = Screen(
    title="One sentence, five tokenizers",
    lesson="A network computes with numbers, so a text is cut into tokens and every token gets the number of its "
    "entry in a vocabulary, its id. Words need a huge vocabulary and know no new word; characters need a tiny one and "
    "make long sequences; the three subword methods lie between. Type a word that the training text does not have.",
    controls={
        "sentence": TextControl(
            title="Sentence", default="The unhappy walkers walked slowly to the tallest tower.", longest=MAX_CHARACTERS
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
    "bytes, and again and again joins the pair that is most frequent in its training text. A word is then built by "
    "the same merges in the same order: a frequent word ends as one token, a rare one as several pieces that other "
    "words have, too.",
    controls={
        "word": TextControl(title="Word", default="slowest", longest=MAX_WORD),
        "place": ChoiceControl(
            title="Where it stands",
            default="inside",
            options={"inside": "Inside a sentence, after a space", "start": "At the start of a text"},
        ),
        "corpus": CORPUS,
        "vocabulary_size": VOCABULARY,
    },
    compute=show_merges,
    formulas=(r"(a, b) = \arg\max_{(a, b)} \mathrm{count}(a\,b),\quad a\,b \to ab",),
    code=(merge_steps, TOKENIZER_TRAINERS["bpe"]),
)
