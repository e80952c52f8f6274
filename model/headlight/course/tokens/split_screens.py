"""A sentence becomes tokens, and tokens become ids."""

from __future__ import annotations

from headlight.course.controls import ChoiceControl, NumberControl, TextControl
from headlight.course.pictures import Picture, Question, TablePicture, TokensPicture, row, verdict_row
from headlight.course.questions import ask_largest, ask_number
from headlight.course.screen import Answer, Screen, link
from headlight.course.tokens.splits import (
    MAX_CHARACTERS,
    MAX_TRAINING_CHARACTERS,
    MAX_WORD,
    MergeStep,
    Split,
    learned_merges,
    merge_steps,
    small_text,
    split_all,
    train_on,
)
from headlight.registry import Registry
from headlight.text.tokenizer_training import TOKENIZER_TRAINERS, train_tokenizer

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
    lesson=(
        "A network computes with numbers, so a text is cut into tokens and every token gets the number of its entry in "
        "a vocabulary, its id. Words need a huge vocabulary and know no new word; characters need a tiny one and make "
        "long sequences; the three subword methods lie between. Type a word that the training text does not have."
    ),
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
    lesson=(
        "Byte-pair encoding starts from characters (Sennrich et al. 2016) or, as in GPT-2 and here, from single bytes, "
        "and again and again joins the pair that is most frequent in its training text. A word is then built by the "
        "same merges in the same order: a frequent word ends as one token, a rare one as several pieces that other "
        "words have, too."
    ),
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
