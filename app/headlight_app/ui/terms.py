"""Terms explained next to their use: one sentence each, with a link to the screen of the course that explains more."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from headlight.registry import Registry


@dataclass(frozen=True)
class Term:
    """A short sentence, and the chapter and screen of the course that explain the term at length.

    {token} is replaced by a token of the current text.
    """

    sentence: str
    chapter: str
    screen: str


TERMS: Registry[Term] = Registry(
    "term",
    {
        "masks": Term("Which tokens a token may look at.", "masks", "added"),
        "positional_encoding": Term("How the model knows the order of the tokens.", "positions", "order"),
        "attention_function": Term("How scores become weights that sum to 1.", "variants", "functions"),
        "scale": Term("Keeps scores small, so that softmax does not pick one token alone.", "attention", "scale"),
        "pooling": Term("How the vectors of all tokens become one.", "architectures", "output-heads"),
        "special": Term("{token} marks where a text begins or ends.", "tokens", "tokenizers"),
        "space": Term("A dot before a token is a space.", "tokens", "tokenizers"),
        "line": Term("¶ is a new line.", "tokens", "tokenizers"),
        "unknown": Term("{token} replaces text that the model has no token for.", "tokens", "tokenizers"),
        "pieces": Term(
            "The model seldom read words that it splits into pieces: expect poor guesses.", "tokens", "tokenizers"
        ),
        "head": Term("Each square is a head: bright where a token (row) looks at another (column).", "heads", "cut"),
        "square_root": Term("The square-root scale keeps small weights visible.", "attention", "look-up"),
        "entropy": Term(
            "Entropy: how widely a head looks. 0 bits: at one token; 1 bit: at two equally.", "block", "averages"
        ),
    },
)


def terms_json() -> dict[str, dict[str, str]]:
    """The terms as JSON for the browser."""
    return {name: asdict(term) for name, term in TERMS.items()}
