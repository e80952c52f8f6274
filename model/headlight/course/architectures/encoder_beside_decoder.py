"""The same sentence in an encoder and in a decoder: a missing word, and a replaced word."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.screen import Screen, ScreenRows, StateFields, compare_link, compared, link
from headlight.course.sentences import WordRank, rank_word, token_labels, value
from headlight.errors import InputError
from headlight.nn.masks import causal
from headlight.questions.asking import choose
from headlight.questions.kinds import Question
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.inputs import encode_input, token_tensor
from headlight.tracing.predictions import candidates
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.views.forms import agreement, bars
from headlight.views.kinds import MatrixView, TableView, TokensView, Verdict
from headlight.views.rows import Row, row
from headlight.views.words import percent

GAP = "[MASK]"
GUESSES = 6


@dataclass(frozen=True, eq=False)
class Guess:
    """A model's answer for the missing word: the run, the answering position, and the probabilities there."""

    model: Checkpoint
    trace: Trace
    position: int
    probabilities: Float[Tensor, " token"]

    def best(self) -> tuple[tuple[str, ...], list[float]]:
        """The likeliest words and their probabilities."""
        found = candidates(self.trace, self.model.tokenizer, self.position, GUESSES)
        return tuple(each.token for each in found), [each.probability for each in found]

    def fate(self, word: str) -> WordRank:
        """The rank of a word there."""
        return rank_word(self.model, word, self.probabilities)


def same_gap(encoder: Checkpoint, decoder: Checkpoint, text: str, word: str) -> ScreenRows:
    """What both see from the gap, what both answer, and the decoder's probability of the sentence with each word."""
    before, after = _split(text)
    asked = {"Encoder": ask_encoder(encoder, before, after), "Decoder": ask_decoder(decoder, before)}
    words = tuple(dict.fromkeys((word.strip(), *(each for one in asked.values() for each in one.best()[0][:4]))))
    scores = sentence_scores(decoder, before, after, words)
    return (
        row(*(_seen(name, guess, after) for name, guess in asked.items()), title="What can be seen from the gap"),
        row(
            *(bars(f"{name}: most likely words", guess.best()[0], guess.best()[1]) for name, guess in asked.items()),
            question=_question(word.strip(), asked),
        ),
        _verdict(word.strip(), asked),
        _whole_sentences(words, scores),
    )


def ask_encoder(model: Checkpoint, before: str, after: str) -> Guess:
    """The word at the mask token, with both sides visible."""
    if model.tokenizer.mask_id is None:
        raise InputError("The tokenizer of this encoder has no mask token. Choose another model.")
    mask = model.tokenizer.token_text(model.tokenizer.mask_id)
    trace = run(model.model, model.tokenizer, f"{before}{mask}{after}", keep=("logits", "*.mask"))
    return _guess(model, trace, trace.text.ids.index(model.tokenizer.mask_id))


def ask_decoder(model: Checkpoint, before: str) -> Guess:
    """The next word after the text before the gap, which is all that the decoder may see."""
    trace = run(model.model, model.tokenizer, before.rstrip(), keep=("logits", "*.mask"))
    return _guess(model, trace, len(trace.text.ids) - 1)


@torch.inference_mode()
def sentence_scores(model: Checkpoint, before: str, after: str, words: tuple[str, ...]) -> Float[Tensor, " word"]:
    """The decoder's probability of the whole sentence with each word, as a share of their sum."""
    logs = []
    for word in words:
        ids = token_tensor(encode_input(model.model, model.tokenizer, f"{before}{word}{after}"), model.model)
        logits = model.model(ids)[0, :-1].float().log_softmax(-1)
        logs.append(logits.gather(1, ids[0, 1:, None]).sum())
    return torch.stack(logs).softmax(0).cpu()


def _split(text: str) -> tuple[str, str]:
    parts = text.split(GAP)
    if len(parts) != 2 or not parts[0].strip():
        raise InputError(f"Write {GAP} once, for the missing word, and at least one word in front of it.")
    return parts[0], parts[1]


def _guess(model: Checkpoint, trace: Trace, position: int) -> Guess:
    return Guess(model, trace, position, value(trace, "logits")[position].softmax(-1))


def _seen(name: str, guess: Guess, after: str) -> TokensView:
    """The tokens that the mask of the model's first layer lets the answering position look at."""
    allowed = value(guess.trace, f"{guess.trace.config.stacks[-1]}.0.self.mask")[0, guess.position].float().tolist()
    tokens = token_labels(guess.trace.text)
    if not task_of(guess.trace.config).fills_masks:
        hidden = after.split()
        tokens, allowed = (*tokens, "?", *hidden), [*allowed, 0.0, *(0.0 for _ in hidden)]
    return TokensView(f"{name}: coloured tokens are seen", tokens, shades=allowed)


def _question(word: str, asked: dict[str, Guess]) -> Question:
    chances = [guess.fate(word).probability for guess in asked.values()]
    options = tuple(f"the {name.lower()}" for name in asked)
    return choose(f"Which of the two finds “{word}” likelier?", options, chances.index(max(chances)))


def _verdict(word: str, asked: dict[str, Guess]) -> Verdict:
    sure, guessed = (guess.fate(word) for guess in asked.values())
    return Verdict(
        f"“{word}” has a probability of {percent(sure.probability)} (number {sure.rank:,}) under the encoder, which "
        f"also reads the rest, and of {percent(guessed.probability)} (number {guessed.rank:,}) under the decoder, "
        "which has to predict it before the rest is there."
    )


def _whole_sentences(words: tuple[str, ...], scores: Float[Tensor, " word"]) -> Row:
    order = scores.argsort(descending=True).tolist()
    return row(
        TableView(("word", "share"), tuple((words[at], percent(scores[at])) for at in order)),
        title="A decoder can use the rest, too, at a price",
        text=f"Put each word into the gap and ask the decoder how likely the whole sentence is: it reads {len(words)} "
        "sentences instead of one.",
    )


def _compare(encoder: str, decoder: str, text: str, word: str) -> StateFields:
    """The decoder reads the text before the gap."""
    return compared({"model": encoder, "text": text}, {"model": decoder, "text": _split(text)[0].rstrip()})


SAME_GAP = Screen(
    title="One gap, filled by an encoder and a decoder",
    lesson="For labelling, searching or filling in, the whole text is there, and a model should look both ways: that "
    "is what encoders are for. For writing, the rest is not there yet: that is what decoders are for. Ask both for the "
    "same missing word, which depends on the words after the gap.",
    controls={
        "encoder": ModelControl(title="Encoder", default="stories-masked", needs="fills-masks"),
        "decoder": ModelControl(title="Decoder", default="stories-causal", needs="continues-texts"),
        "text": TextControl("Sentence", "She [MASK] the bread with a knife."),
        "word": TextControl("Word", "cut", longest=40),
    },
    compute=same_gap,
    formulas=(
        r"\text{encoder: } p(w_i \mid w_1 \ldots w_{i-1}, w_{i+1} \ldots w_n)",
        r"\text{decoder: } p(w_i \mid w_1 \ldots w_{i-1})",
    ),
    code=(ask_encoder, ask_decoder, sentence_scores),
    explore=link("text", model="encoder"),
    elsewhere={"compare": _compare},
)


SAME = 1e-4  # differences below this share of a vector's length are rounding errors of 32 bits


def changed_word(encoder: Checkpoint, decoder: Checkpoint, one: str, other: str) -> ScreenRows:
    """The distance of the last vectors of the words at the same place in both sentences, under both models."""
    words, changed = _words(one, other)
    distances = torch.stack([vector_distances(model, one, other) for model in (encoder, decoder)])
    before = max(distances[1, : changed[0]].tolist(), default=0.0)
    moved = [int((line > SAME).sum()) for line in distances]
    return (
        row(
            MatrixView(
                "How far each word's last vector has moved",
                distances,
                rows=("encoder", "decoder"),
                columns=words,
                marked=tuple((line, at) for line in range(2) for at in changed),
                note="As a share of the vector's length. The replaced words are framed.",
            ),
            question=_ask_of_moved(len(words), len(changed), moved[1]),
        ),
        f"{moved[0]} of {len(words)} vectors of the encoder moved, {moved[1]} of the decoder's. "
        + agreement(
            "Before the first replaced word the decoder's stayed the same, up to rounding: they were computed before "
            "that word arrived, so their keys and values can be cached while the decoder writes. An encoder would have "
            "to read everything again for each word.",
            before,
            bound=SAME,
        ).text,
    )


def _ask_of_moved(words: int, changed: int, moved: int) -> Question:
    options = sorted({0, changed, moved, words})
    text = f"Replaced words: {changed} of {words}. How many of the decoder's vectors move?"
    says = {
        str(words): "So many move in the encoder. A decoder's token does not see what comes after it.",
        "0": "The replaced word itself differs, and so does its vector.",
    }
    because = "A decoder's vector depends on its own word and the words before it."
    return choose(text, tuple(map(str, options)), options.index(moved), says, because)


@torch.inference_mode()
def vector_distances(model: Checkpoint, one: str, other: str) -> Float[Tensor, " word"]:
    """How far apart the two vectors of each word are (at its last token), relative to their length."""
    vectors = []
    for text in (one, other):
        trace = run(model.model, model.tokenizer, text, keep=("*.final_residual",))
        final = value(trace, f"{trace.config.stacks[-1]}.final_residual")
        vectors.append(final[last_tokens(trace.text)])
    longest = torch.maximum(*(each.norm(dim=-1) for each in vectors)).clamp(min=torch.finfo(torch.float32).tiny)
    distances: Tensor = (vectors[0] - vectors[1]).norm(dim=-1) / longest
    return distances


def last_tokens(text: Encoded) -> list[int]:
    """The position of each word's last token; words are separated by spaces. Raises InputError."""
    found = []
    for word in re.finditer(r"\S+", text.text):
        inside = [at for at, (first, end) in enumerate(text.offsets) if first < word.end() and end > word.start()]
        if not inside:
            raise InputError(f"The tokenizer gives no tokens for {word.group()[:30]!r}. Type another word.")
        found.append(inside[-1])
    return found


def _words(one: str, other: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words of the first sentence, and which of them the second one replaces. Raises InputError."""
    words, others = one.split(), other.split()
    if len(words) != len(others):
        raise InputError(
            f"The sentences have {len(words)} and {len(others)} words. Only replace words, so that both have the same "
            "number."
        )
    changed = tuple(at for at, (a, b) in enumerate(zip(words, others, strict=True)) if a != b)
    if not changed:
        raise InputError("The sentences are the same. Replace a word of the second one.")
    return tuple(words), changed


CHANGED_WORD = Screen(
    title="Replace a word: which vectors move?",
    lesson="An encoder makes each vector from the whole text, so a word at the end changes what the first words mean. "
    "A decoder's vectors depend only on their own token and those before it: good for writing, but they know less "
    "about a text that is already complete. Both models read both sentences.",
    controls={
        "encoder": ModelControl(title="Encoder", default="stories-masked", needs="encoder"),
        "decoder": ModelControl(title="Decoder", default="stories-causal", needs="decoder"),
        "one": TextControl("One sentence", "He sat by the bank of the river"),
        "other": TextControl("With other words", "He sat by the bank of the city"),
    },
    compute=changed_word,
    formulas=(r"\text{decoder: } x_i = f(w_1 \ldots w_i)", r"\text{encoder: } x_i = f(w_1 \ldots w_n)"),
    code=(vector_distances, causal),
    explore=link(model="encoder", text="one"),
    elsewhere={"compare": compare_link(link(model="decoder", text="one"), link(text="other"))},
)
