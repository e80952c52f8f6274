"""Language tokens, by which multilingual translators (M2M-100, NLLB, mBART) name the language of a text.

A text that starts with one, such as `deu_Latn Guten Tag`, is read as a text in that language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import tokenizers

from headlight.errors import TextError, shortened, suggestion

_NAMES = re.compile(r"__[a-z]{2,3}__|[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2}")  # __de__, deu_Latn, de_DE
_FEWEST = 2  # a single token of this form may have another meaning


def language_tokens(backend: tokenizers.Tokenizer) -> dict[str, int]:
    """The language tokens of a tokenizer and their ids, by name; empty if it has none."""
    added = backend.get_added_tokens_decoder().items()
    found = {token.content: number for number, token in added if token.special and _NAMES.fullmatch(token.content)}
    return dict(sorted(found.items())) if len(found) >= _FEWEST else {}


def split_language(text: str, languages: Mapping[str, int]) -> tuple[str, str]:
    """The language token at the start of a text ("" if there is none), and the text after it."""
    match = _NAMES.match(text.lstrip()) if languages else None
    name = match[0] if match and match[0] in languages else ""
    return name, text.lstrip()[len(name) :].lstrip() if name else text


def with_language(text: str, language: str | None, languages: Mapping[str, int]) -> str:
    """The text with this language's token at the start, replacing any other. Raises TextError if it is unknown."""
    if language is None:
        return text
    if not languages:
        raise TextError(f"This model has no language tokens, so there is no language {shortened(language)!r}.")
    if language not in languages:
        some = ", ".join(list(languages)[:5])
        raise TextError(
            f"This model has no language {shortened(language)!r}.{suggestion(language, languages)} "
            f"It has {len(languages)}, such as {some}."
        )
    return f"{language} {split_language(text, languages)[1]}".rstrip()
