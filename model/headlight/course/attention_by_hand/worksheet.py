"""Printable worksheets: attention on small whole numbers, drawn by a seed, with answers on a second page."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from headlight.course.attention import attend
from headlight.course.attention_by_hand.words import WORDS, number

TOKENS, CHANNELS, VALUE_CHANNELS = 3, 4, 2  # 4, whose root is 2
LOW, HIGH = -1, 2
PAGE, MARGIN, SIZE, LEADING = (595, 842), 50, 11, 16  # points: an A4 page, and text in a typewriter font
FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"
TITLES = ("Every token may look at all of them.", "A causal mask: a token looks at itself and the tokens before it.")
EXPONENTIALS = "e^x:  -2: 0.14   -1.5: 0.22   -1: 0.37   -0.5: 0.61   0: 1   0.5: 1.65   1: 2.72   1.5: 4.48   2: 7.39"


def worksheet(seed: int) -> str:
    """Two exercises and their answers as PDF; the answers are computed by `attend`."""
    generator = torch.Generator().manual_seed(seed)
    questions = [
        f"Attention by hand: sheet {seed}",
        "",
        "softmax(Q K^T / sqrt(d)) V, where d is the number of channels.",
        "",
    ]
    answers = [f"Answers to sheet {seed}, rounded to two digits", ""]
    for place, title in enumerate(TITLES, 1):
        widths = (CHANNELS, CHANNELS, VALUE_CHANNELS)
        q, k, v = (torch.randint(LOW, HIGH + 1, (TOKENS, width), generator=generator).float() for width in widths)
        allowed = torch.ones(TOKENS, TOKENS, dtype=torch.bool)
        head = attend(q, k, v, allowed=allowed if place == 1 else allowed.tril())
        questions += [f"{place}. {title}", "", *_matrices(Q=q, K=k, V=v), ""]
        for part in ("a) The scores Q K^T / sqrt(d):", f'b) The weights of "{WORDS[TOKENS - 1]}":', "c) Its output:"):
            questions += [part, "", ""]
        answers += [
            f"{place}. {title}",
            "",
            *_matrices(scores=head.scores, weights=head.weights, output=head.output),
            "",
        ]
    return text_pdf((*questions, EXPONENTIALS), answers)


def _matrices(**matrices: Tensor) -> list[str]:
    """Matrices side by side, each under its name, with a line for each token."""
    lines = ["".join(f"{name:<{8 + 7 * matrix.shape[1]}}" for name, matrix in matrices.items())]
    for row in range(TOKENS):
        cells = ("".join(f"{number(value):>7}" for value in matrix[row]) for matrix in matrices.values())
        lines.append("".join(f"{WORDS[row]:<5}{each}   " for each in cells))
    return lines


def text_pdf(*pages: Sequence[str]) -> str:
    """Pages of ASCII lines as a PDF, which is itself ASCII text."""
    first = 4  # the number of the first page's object
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>", FONT]
    for at, lines in enumerate(pages):
        shown = " ".join(f"({_escaped(line)}) Tj T*" for line in lines)
        stream = f"BT /F {SIZE} Tf {LEADING} TL {MARGIN} {PAGE[1] - MARGIN} Td {shown} ET"
        sizes = f"/MediaBox [0 0 {PAGE[0]} {PAGE[1]}] /Resources << /Font << /F 3 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {sizes} /Contents {first + 2 * at + 1} 0 R >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    written, offsets = "%PDF-1.4\n", []
    for place, each in enumerate(objects, 1):
        offsets.append(len(written))
        written += f"{place} 0 obj\n{each}\nendobj\n"
    entries = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    count = len(objects) + 1
    table = f"xref\n0 {count}\n0000000000 65535 f \n{entries}trailer\n<< /Size {count} /Root 1 0 R >>\n"
    return f"{written}{table}startxref\n{len(written)}\n%%EOF\n"


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
