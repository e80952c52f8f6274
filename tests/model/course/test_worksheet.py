"""A worksheet is a PDF whose answers are the backend's."""

import io
import re

import pytest
import torch
from pypdf import PdfReader

from headlight.course.attention import attend
from headlight.course.attention_by_hand.worksheet import CHANNELS, TOKENS, VALUE_CHANNELS, worksheet

ROW = re.compile(r"(?:the|cat|sat) +(-?[\d.]+(?: +-?[\d.]+)*)(?= |$)")


def matrices(page: str, widths: tuple[int, ...]) -> list[list[torch.Tensor]]:
    """The matrices printed side by side on a page, block by block."""
    lines = [ROW.findall(line) for line in page.splitlines()]
    rows = [
        [[float(each) for each in cells.split()] for cells in found] for found in lines if len(found) == len(widths)
    ]
    blocks = [rows[at : at + TOKENS] for at in range(0, len(rows), TOKENS)]
    return [[torch.tensor([row[at] for row in block]) for at in range(len(widths))] for block in blocks]


@pytest.mark.parametrize("seed", [1, 2, 77])
def test_the_printed_answers_are_those_of_the_backend(seed: int) -> None:
    reader = PdfReader(io.BytesIO(worksheet(seed).encode("ascii")), strict=True)
    asked, answered = (page.extract_text() for page in reader.pages)
    questions = matrices(asked, (CHANNELS, CHANNELS, VALUE_CHANNELS))
    answers = matrices(answered, (TOKENS, TOKENS, VALUE_CHANNELS))
    assert len(questions) == len(answers) == 2
    masks = (None, torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril())
    for (q, k, v), (scores, weights, output), allowed in zip(questions, answers, masks, strict=True):
        assert torch.equal(q, q.round()) and float(q.abs().max()) <= 2
        head = attend(q, k, v, allowed=allowed)
        for printed, computed in ((scores, head.scores), (weights, head.weights), (output, head.output)):
            torch.testing.assert_close(printed, computed, atol=0.0051, rtol=0)


def test_another_seed_is_another_sheet() -> None:
    assert worksheet(1) == worksheet(1) != worksheet(2)
