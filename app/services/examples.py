"""Sentences to begin with, chosen so that there is something to see in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic

from cachetools import LRUCache, cached

from app.services.open_models import ModelLocation, open_checkpoint, open_model
from model.checkpoints import CatalogEntry, Checkpoint
from model.config import Config
from model.errors import HeadlightError
from model.generation.generate import Prefix, TextGenerator
from model.generation.sampling import SamplingConfig


@dataclass(frozen=True)
class Example:
    """A sentence to click, and one line on what to look at; `source` is what an encoder-decoder's encoder reads.

    `sort` names what the heads are sorted by meanwhile, where that brings to the front what the line speaks of.
    """

    text: str
    source: str = ""
    hint: str = ""
    sort: str = "layer"


NEXT_TOKEN_EXAMPLES = (
    Example(
        "Once upon a time there was a little",
        hint="Heads that look one token back draw a stripe beside the diagonal; order them by “Previous token”.",
        sort="previous",
    ),
    Example(
        "Tom gave the ball to Anna because she asked",
        hint="A pronoun: point at “she” and see which heads lead back to Anna, and which to Tom.",
    ),
    Example(
        "The birds in the tall tree",
        hint="Subject and verb: “tree” stands nearest, yet “were” comes before “was”. Which heads look at “birds”?",
    ),
    Example(
        "Anna and Ben had a red ball. One day Anna and",
        hint="Induction: at the second “and” the first of these heads look at Ben, who followed the first one.",
        sort="induction",
    ),
    Example(
        '"I want to go home',
        hint="Quotes that close: the first guess ends what was said. Which heads look at the mark that opened it?",
    ),
)
MASKED_EXAMPLES = (
    Example(
        "The cat sat on the [MASK].",
        hint="Both sides count: the guess must fit what stands before it, and the full stop.",
    ),
    Example(
        "She cut the bread with a [MASK].",
        hint="Point at [MASK]: which heads look at “cut”, which at “bread”? Mask those words, too.",
    ),
    Example(
        "The boy was tired, so [MASK] went to bed.",
        hint="A pronoun to fill in: change “boy” to “girl” and see which heads carry it here.",
    ),
    Example("The dogs [MASK] very hungry.", hint="Subject and verb: make it one dog, and “were” gives way to “was”."),
    Example(
        "She [MASK] the bread with a knife.",
        hint="The same from the other end: what comes after decides, and only a model that looks ahead can know.",
    ),
)
TRANSLATION_EXAMPLES = (
    Example("", "The house is small."),
    Example("", "I read the letter again this morning."),
    Example("", "Where do the birds go in winter?"),
)


def examples_for(config: Config) -> tuple[Example, ...]:
    """What suits a model; the first one is on the page when nobody has typed yet. Pictures need no sentence."""
    if config.image.channels:
        return (Example(""),)
    if config.has_cross_attention:
        return TRANSLATION_EXAMPLES
    return MASKED_EXAMPLES if config.output_head == "masked-language-model" else NEXT_TOKEN_EXAMPLES


# """The sentences that a page begins with, as suits the very model that is open."""

MAX_OPENING_TOKENS = 16  # tokens that a model writes for an opening
MAX_WAIT_SECONDS = 1.0  # seconds; the rest of what a large model would write, nobody waits for


def opening_examples(entry: CatalogEntry, device: str = "auto") -> tuple[Example, ...]:
    """Sentences to begin with; the first one is on the page when nobody has typed yet.

    An encoder-decoder begins with what it would write itself; the others as `prompts` says.
    """
    prompt_sentences = prompt_examples(entry, device)
    if not entry.config.has_cross_attention:
        return prompt_sentences
    try:
        location, pooled = open_model(entry.name, device)
        return tuple(
            replace(one, text=_generate_opening(pooled.checkpoint, location, one.source)) for one in prompt_sentences
        )
    except HeadlightError:
        return prompt_sentences


def prompt_examples(entry: CatalogEntry, device: str = "auto") -> tuple[Example, ...]:
    """Sentences that a model is to go on with; one that fills masks reads its own word for a mask."""
    default_examples = examples_for(entry.config)
    if entry.config.has_cross_attention or entry.config.output_head != "masked-language-model":
        return default_examples
    try:
        return _with_mask_token(open_checkpoint(entry.name, device))
    except HeadlightError:
        return default_examples


def _with_mask_token(checkpoint: Checkpoint) -> tuple[Example, ...]:
    """The sentences with the model's own word for a mask; RoBERTa's is <mask>."""
    mask_id = checkpoint.tokenizer.mask_id
    if mask_id is None:
        return NEXT_TOKEN_EXAMPLES
    mask_text = checkpoint.tokenizer.token_text(mask_id).strip()
    return tuple(
        replace(one, **{name: getattr(one, name).replace("[MASK]", mask_text) for name in ("text", "hint")})
        for one in MASKED_EXAMPLES
    )


# The key holds no model, which would stay open.
@cached(LRUCache(128), key=lambda checkpoint, location, source: (location, source), lock=Lock())
def _generate_opening(checkpoint: Checkpoint, location: ModelLocation, source: str) -> str:
    """What a model writes for a source, always the likeliest token, as far as it gets while somebody waits."""
    generator = TextGenerator.from_text(
        checkpoint.model,
        checkpoint.tokenizer,
        "",
        source=source,
        sampling=SamplingConfig(temperature=0.0),
        keep=("logits",),
        prediction_row_only=True,
    )
    deadline = monotonic() + MAX_WAIT_SECONDS
    generated: tuple[int, ...] = ()
    prefix: Prefix | None = None
    while len(generated) < MAX_OPENING_TOKENS and monotonic() < deadline:
        step, prefix = generator.step(generated, prefix)
        if (
            generator.is_finished(step) or step.chosen_token >= checkpoint.tokenizer.vocabulary_size
        ):  # a row of the table without a token
            break
        generated = (*generated, step.chosen_token)
    return checkpoint.tokenizer.decode(generated) or source  # nothing but marks: then something to look at
