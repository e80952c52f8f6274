"""The card of a checkpoint on the Models page."""

from __future__ import annotations

from html import escape

from app.services.model_listing import ListedModel
from app.services.open_models import model_pool, open_checkpoint
from model.config import Config
from model.nn.block import NORM_PLACEMENTS
from model.nn.feed_forward import FEED_FORWARDS
from model.nn.norms import NORMS
from model.nn.output_heads import POOLINGS
from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from model.tasks import TASKS, task_of

MODEL_TASKS = {
    **{name: task.title for name, task in TASKS.items()},
    "both": "Sequence to sequence",
    "images": "Reads images",
    "broken": "Cannot be opened",
}


def model_task(listed: ListedModel) -> str:
    """What a model does, as a key of MODEL_TASKS."""
    config = listed.metadata.config
    if config is None:
        return "broken"
    if config.image.channels:
        return "images"
    return "both" if config.has_cross_attention and task_of(config).continues_text else config.output_head


def card_html(listed: ListedModel, *, open_now: bool) -> str:
    """A card as HTML; names from the checkpoint are escaped."""
    badge_flags = [("your upload", listed.own), ("shipped", listed.shipped), ("open now", open_now)]
    badges = "".join(f"<span>{badge}</span>" for badge, holds in badge_flags if holds)
    config = listed.metadata.config
    details = f"<dl>{_detail_rows(listed, config)}</dl>" if config else ""
    message = opening_problem(listed)
    problem_html = f"<p class='problem'>{escape(message)}</p>" if message else ""
    return (
        f"<article class='headlight-model' data-testid='model'><h3>{escape(listed.title)}</h3>"
        f"<p class='what'>{MODEL_TASKS[model_task(listed)]}{badges}</p>{details}{problem_html}</article>"
    )


def opening_problem(listed: ListedModel) -> str:
    """Why a model cannot be opened; empty where it can."""
    allowed, needed = model_pool().budget, listed.metadata.memory_bytes
    if needed > allowed:
        return f"It takes {format_bytes(needed)} of memory; {format_bytes(allowed)} are allowed here."
    return listed.metadata.error


def _detail_rows(listed: ListedModel, config: Config) -> str:
    details = {
        "Family": listed.metadata.family,
        "Size": f"{format_count(listed.metadata.parameter_count)} parameters",
        "Heads": describe_heads(config),
        "Positions": POSITIONAL_ENCODINGS[config.positional_encoding].title,
        "Norm": NORMS[config.norm].title,
        "Norm placement": NORM_PLACEMENTS[config.norm_placement].title,
        "Feed-forward": _describe_feed_forward(config),
        **({"Pooling": POOLINGS[config.pooling].title} if task_of(config).whole_text else {}),
        **_input_details(listed.metadata.tokenizer, config),
        "Disk": format_bytes(listed.disk_bytes),
        "Memory": f"{format_bytes(listed.metadata.memory_bytes)} once open",
        "Licence": listed.metadata.licence or "not stated",
    }
    return "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in details.items())


def _input_details(tokenizer: str, config: Config) -> dict[str, str]:
    """The tokens of a text, or the patches of an image, as the model reads them."""
    image = config.image
    if image.channels:
        return {
            "Images": f"{image.height:,} × {image.width:,} pixels",
            "Patches": f"{image.patch_rows:,} × {image.patch_columns:,}",
        }
    return {
        "Tokenizer": f"{tokenizer}, {config.vocabulary_size:,} tokens",
        "Context": f"{config.context_length:,} tokens",
    }


def describe_heads(config: Config) -> str:
    """The numbers of layers and heads, of both stacks in an encoder-decoder."""
    if not config.has_cross_attention:
        return f"{config.layers} layers × {config.heads} heads"
    encoder = config.for_stack("encoder")
    if encoder.heads == config.heads:
        return f"{encoder.layers} + {config.layers} layers × {config.heads} heads"
    return f"{encoder.layers} × {encoder.heads} + {config.layers} × {config.heads} layers × heads"


def _describe_feed_forward(config: Config) -> str:
    """The kind and the width of the feed-forward networks."""
    parallel = ", parallel to attention" if config.parallel_residual else ""
    return f"{FEED_FORWARDS[config.feed_forward].title}, {config.d_ff:,} neurons{parallel}"


def format_count(number: int) -> str:
    """A large number in three digits: 6.57 M."""
    return _format_unit(number, (("B", 10**9), ("M", 10**6), ("k", 10**3), ("", 1)))


def format_bytes(number: int) -> str:
    """Bytes in three digits: 13.2 MB."""
    return _format_unit(number, (("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1)))


def _format_unit(number: int, units: tuple[tuple[str, int], ...]) -> str:
    unit, size = next(((unit, size) for unit, size in units if number >= size), units[-1])
    value = number / size
    digits = 0 if size == 1 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}".strip()


def weight_report(name: str, device: str = "auto") -> tuple[str, ...]:
    """What became of a model's weights, in sentences. Raises CheckpointError where it cannot be opened."""
    return open_checkpoint(name, device).notes or ("All weights were loaded.",)
