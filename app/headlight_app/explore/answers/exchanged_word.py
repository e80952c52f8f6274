"""An example text for Patching: the current text with one word replaced, so that the answer changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from time import thread_time

import numpy as np

from headlight.cancellation import check_cancelled
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded
from headlight_app.explore.answers.layer_analysis import target_answer
from headlight_app.inference.examples import examples_for
from headlight_app.inference.open_models import find_model
from headlight_app.inference.resolved_question import ResolvedQuestion

MAX_TRIED, MAX_PROCESSOR_SECONDS = 24, 2.0  # texts; each is a run of the model
MAX_WORDS, WORDS_EACH = 16, 4  # words to replace, and the likeliest replacements for each
MIN_LETTERS = 3  # of both words: shorter words are rarely content words


@dataclass(frozen=True)
class _Word:
    """A word that is one token, at `place` among the tokens and from `start` to `end` in the text."""

    text: str
    place: int
    start: int
    end: int

    def takes(self, other: str) -> bool:
        """Whether another word may replace this one."""
        alike = self.text[:1].isupper() == other[:1].isupper() and self.text.isdigit() == other.isdigit()
        return alike and _is_word(other) and other.casefold() != self.text.casefold()


def example_to_patch_from(resolved: ResolvedQuestion, query: int, token: int) -> str:
    """The current text with one word replaced; empty if no tried replacement changes the answer."""
    # The tokens of a chat are of the text that its template made, not of the typed one.
    if resolved.config.reads_signal or resolved.question.chat or not task_of(resolved.config).predicts:
        return ""
    position, answer, _ = target_answer(resolved, query, token)
    ids = _read(resolved).ids
    deadline = thread_time() + MAX_PROCESSOR_SECONDS
    for text in islice(_exchanged_texts(resolved, position), MAX_TRIED):
        check_cancelled()
        if thread_time() > deadline:
            break
        other = resolved.of_other_text(text)
        changed = [one for one, two in zip(ids, _read(other).ids, strict=False) if one != two]
        if len(changed) == 1 and len(ids) == len(_read(other).ids) and other_answer(other, position) != answer:
            return text
    return ""


def other_answer(other: ResolvedQuestion, position: int) -> int:
    """The likeliest answer to the other text at a position, or at its end if it is shorter."""
    return int(other.logits(min(position, len(other.trace.text.ids) - 1)).argmax())


def _read(resolved: ResolvedQuestion) -> Encoded:
    """The text in which a word is replaced: the source if there is one."""
    return resolved.trace.source or resolved.trace.text


def _exchanged_texts(resolved: ResolvedQuestion, position: int) -> Iterator[str]:
    """Texts with one word replaced; if the model predicts words, its likeliest replacements come first."""
    encoded, task = _read(resolved), task_of(resolved.config)
    words = _words(encoded)
    if task.predicts_tokens and not resolved.config.has_cross_attention:
        words = [word for word in words if 0 < word.place <= position or not task.continues_text]
        pairs = _likely_pairs(resolved, words[-MAX_WORDS:])
        pairs.sort(key=lambda pair: pair[0].place == position)  # the queried word comes last: it tells the least
    else:
        pairs = [(word, other) for other in _example_words(resolved) for word in words if word.takes(other)]
    for word, other in pairs[:: max(1, len(pairs) // MAX_TRIED)]:
        yield f"{encoded.first_text[: word.start]}{other}{encoded.first_text[word.end :]}"


def _likely_pairs(resolved: ResolvedQuestion, words: list[_Word]) -> list[tuple[_Word, str]]:
    """Each word with its likeliest replacements by the model, the likeliest pair first."""
    found: list[tuple[float, _Word, str]] = []
    before = int(task_of(resolved.config).continues_text)
    for word in words:
        logits = resolved.logits(word.place - before).astype(np.float64)
        shares = logits - np.logaddexp.reduce(logits)
        likely = [int(token) for token in np.argsort(-shares)[: 16 * WORDS_EACH]]
        known = ((token, resolved.tokenizer.token_text(token).strip()) for token in likely)
        fitting = ((shares[token], word, text) for token, text in known if word.takes(text))
        found += islice(fitting, WORDS_EACH)
    return [(word, text) for _, word, text in sorted(found, key=lambda each: -each[0])]


def _example_words(resolved: ResolvedQuestion) -> list[str]:
    """The distinct words of the model's examples that are one token of its vocabulary."""
    texts = (example.source or example.text for example in examples_for(find_model(resolved.question.model)))
    return [*dict.fromkeys(word.text for text in texts for word in _words(resolved.tokenizer.encode(text)))]


def _words(encoded: Encoded) -> list[_Word]:
    """The words of a text, or of the first text of a pair, that are one token each."""
    text, found = encoded.first_text, []
    for place, (start, end) in enumerate(encoded.offsets):
        word = text[start:end].strip()
        start = end - len(text[start:end].lstrip())
        end = start + len(word)
        is_part = any(each.isalnum() for each in (text[max(start - 1, 0) : start], text[end : end + 1]))
        if _is_word(word) and not is_part and not encoded.special_mask[place]:
            found.append(_Word(word, place, start, end))
    return found


def _is_word(text: str) -> bool:
    return text.isdigit() or (text.isalpha() and len(text) >= MIN_LETTERS)
