"""The example texts of the open model."""

from __future__ import annotations

from dataclasses import replace
from time import thread_time
from typing import Any

from cachetools import LRUCache, cached

from headlight.checkpoints import CatalogEntry, Checkpoint
from headlight.checkpoints.catalog import read_examples
from headlight.errors import HeadlightError
from headlight.generation.generate import Prefix, TextGenerator
from headlight.generation.step import SamplingConfig
from headlight.tasks import TASKS, TRANSLATION_EXAMPLES, Example, task_of
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.inputs import ModelInput
from headlight_app.contract.request import OpenedRequest
from headlight_app.inference.context import current_request
from headlight_app.inference.images import read_input_file
from headlight_app.inference.open_models import ModelLocation, open_checkpoint, open_model

MAX_TARGET_TOKENS = 48  # tokens that an encoder-decoder writes for a source
MAX_OWN_EXAMPLES = 24  # from a model's examples file, which may be an upload
MAX_PROCESSOR_SECONDS = 1.0  # CPU time of this thread, after which a large model is stopped


def examples_for(entry: CatalogEntry) -> tuple[Example, ...]:
    """Examples that suit a model; the page shows the first one until the visitor types.

    A model that reads images or sounds has one. Examples in the model's folder replace those of its task.
    """
    config = entry.config
    own = _own_examples(entry) if config.reads_text else ()
    if config.reads_signal:
        return own[:1] or (Example(""),)
    if own:
        return own
    task = task_of(config)
    if config.has_cross_attention and task.whole_text:
        return tuple(replace(one, text="", source=one.text) for one in task.examples)
    return TRANSLATION_EXAMPLES if config.has_cross_attention else task.examples


def _own_examples(entry: CatalogEntry) -> tuple[Example, ...]:
    try:
        return read_examples(entry.folder)[:MAX_OWN_EXAMPLES]
    except HeadlightError:  # the page opens even with a broken file
        return ()


def opening_examples(entry: CatalogEntry, device: str = "auto") -> tuple[Example, ...]:
    """The examples of Explore and Compare; an encoder-decoder's text is its own output for the source."""
    prompt_sentences = prompt_examples(entry, device)
    if not entry.config.has_cross_attention:
        return prompt_sentences
    try:
        location, pooled = open_model(entry.name, device)
        return tuple(
            replace(one, text=write_target(pooled.checkpoint, location, _source_of(entry, one.source)))
            for one in prompt_sentences
        )
    except HeadlightError:
        return prompt_sentences


def opening(entry: CatalogEntry, asked: OpenedRequest[Any], example: Example) -> Example:
    """The example shown before anything is typed; an encoder-decoder generates the target for the given source."""
    source = example.source if asked.source is None or entry.config.reads_signal else asked.source
    if not entry.config.has_cross_attention or (source == example.source and not asked.image):
        return example
    try:
        location, pooled = open_model(entry.name, asked.device)
        return Example(write_target(pooled.checkpoint, location, _source_of(entry, source, asked.image)), source)
    except HeadlightError:  # such as a source without tokens; the request for the heads reports it
        return Example("", source)


def _source_of(entry: CatalogEntry, source: str, image: str = "") -> ModelInput:
    """The encoder's input: the source text, or the image or recording with that name."""
    return read_input_file(image, entry.config) if entry.config.reads_signal else source


def prompt_examples(entry: CatalogEntry, device: str = "auto") -> tuple[Example, ...]:
    """The examples of Generate; for a model that fills masks, with its own mask token."""
    default_examples = examples_for(entry)
    if entry.config.reads_signal or not task_of(entry.config).fills_masks:
        return default_examples
    try:
        return _with_mask_token(default_examples, open_checkpoint(entry.name, device).tokenizer)
    except HeadlightError:
        return default_examples


def _with_mask_token(examples: tuple[Example, ...], tokenizer: Tokenizer) -> tuple[Example, ...]:
    """The examples with the tokenizer's own mask token, such as RoBERTa's <mask>; other examples if it has none."""
    if tokenizer.mask_id is None:
        return TASKS["none"].examples
    mask_text = tokenizer.token_text(tokenizer.mask_id).strip()
    return tuple(
        replace(
            example, **{name: getattr(example, name).replace("[MASK]", mask_text) for name in ("text", "hint", "query")}
        )
        for example in examples
    )


def cache_owner(location: ModelLocation, *texts: str) -> str:
    """The visitor whose cache stores results of these texts; "" (shared by all) if all texts ship with the model.

    The speed of an answer from a shared cache would reveal what another visitor typed.
    """
    return "" if _shipped_texts(location).issuperset(texts) else current_request().visitor


@cached(LRUCache(128))
def _shipped_texts(location: ModelLocation) -> frozenset[str]:
    """The texts of a model's own examples, and of the examples of all tasks."""
    try:
        own = read_examples(location.folder)
    except HeadlightError:
        own = ()
    examples = (*own, *TRANSLATION_EXAMPLES, *(example for task in TASKS.values() for example in task.examples))
    return frozenset({"", *(text for example in examples for text in (example.text, example.source))})


def _target_key(checkpoint: Checkpoint, location: ModelLocation, source: ModelInput) -> tuple[Any, ...]:
    """A key without the model, which would otherwise stay in memory."""
    return location, source, cache_owner(location, source) if isinstance(source, str) else current_request().visitor


@cached(LRUCache(128), key=_target_key)
def write_target(checkpoint: Checkpoint, location: ModelLocation, source: ModelInput) -> str:
    """The text that a model as trained generates greedily for a source within MAX_PROCESSOR_SECONDS; may be empty.

    Raises HeadlightError if the model cannot generate, or not for this source.
    """
    generator = TextGenerator.from_text(
        checkpoint.model,
        checkpoint.tokenizer,
        "",
        source=source,
        sampling=SamplingConfig(temperature=0.0),
        keep=("logits",),
        prediction_row_only=True,
    )
    deadline = thread_time() + MAX_PROCESSOR_SECONDS
    limit = min(MAX_TARGET_TOKENS, checkpoint.model.config.context_length // 2)  # re-tokenized, they may be more
    generated: tuple[int, ...] = ()
    prefix: Prefix | None = None
    while len(generated) < limit and thread_time() < deadline:
        step, prefix = generator.step(generated, prefix)
        is_token = step.chosen_token < checkpoint.tokenizer.vocabulary_size  # the embedding may have more rows
        if generator.is_finished(step) or not is_token:
            break
        generated = (*generated, step.chosen_token)
    return checkpoint.tokenizer.decode(generated)
