"""Cards of checkpoints on the Models page, and the lists of models."""

from __future__ import annotations

from dataclasses import asdict

from headlight.checkpoints.load import read_card
from headlight.config import Config
from headlight.nn.layers import FEED_FORWARDS, NORMS
from headlight.nn.output_heads import pooling_title
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.tasks import TASKS, task_of
from headlight.views.words import format_bytes, format_count
from headlight_app.contract.reply import Reply
from headlight_app.engine import contract
from headlight_app.engine.contract import Done, ModelsAnswer, ModelsRequest, OwnModelsRequest, WarmUpRequest
from headlight_app.inference.model_listing import ListedModel, listed_models
from headlight_app.inference.open_models import model_pool, nonfinite_warning, open_checkpoint, own_models
from headlight_app.models.contract import (
    ModelCardAnswer,
    ModelCardRequest,
    WeightReportAnswer,
    WeightReportRequest,
)
from headlight_app.ui.model_summary import describe_heads

MODEL_TASKS = {
    **{name: task.title for name, task in TASKS.items()},
    "both": "Sequence to sequence",
    "images": "Reads images",
    "captions": "Describes images",
    "sounds": "Hears sounds",
    "transcripts": "Writes down sounds",
    "broken": "Cannot be opened",
}


def model_task(listed: ListedModel) -> str:
    """The task of a model, as a key of MODEL_TASKS."""
    config = listed.metadata.config
    if config is None:
        return "broken"
    if config.reads_image:
        return "images" if config.predicts_from_image else "captions"
    if config.reads_sound:
        return "sounds" if config.predicts_from_sound else "transcripts"
    return "both" if config.has_cross_attention and task_of(config).continues_text else config.output_head


def answer_models(request: ModelsRequest) -> Reply[ModelsAnswer]:
    """All models available to every visitor, including broken ones."""
    return Reply(ModelsAnswer(models=tuple(map(_listed_answer, listed_models(refresh=request.refresh)))))


def answer_own_models(request: OwnModelsRequest) -> Reply[ModelsAnswer]:
    """The models that the visitor of this request uploaded."""
    return Reply(ModelsAnswer(models=tuple(map(_listed_answer, own_models()))))


def answer_warm_up(request: WarmUpRequest) -> Reply[Done]:
    """Read the headers of all models and open the first one, before the first visitor asks."""
    openable = [one for one in listed_models() if one.metadata.config and not opening_problem(one)]
    if openable:
        open_checkpoint(openable[0].name)
    return Reply(Done())


def answer_model_card(request: ModelCardRequest) -> Reply[ModelCardAnswer]:
    """The model card of a model, as its author wrote it."""
    folders = [one.folder for one in (*listed_models(), *own_models()) if one.name == request.model]
    return Reply(ModelCardAnswer(text=read_card(folders[0]) if folders else ""))


def answer_weight_report(request: WeightReportRequest) -> Reply[WeightReportAnswer]:
    """How weights were loaded, and which are not finite. Raises CheckpointError if the model cannot be opened."""
    name, device = request.model, request.device
    notes = open_checkpoint(name, device).notes or ("All weights were loaded.",)
    return Reply(WeightReportAnswer(notes=tuple(notes), warning=nonfinite_warning(name, device)))


def _listed_answer(listed: ListedModel) -> contract.ListedModel:
    config, metadata = listed.metadata.config, listed.metadata
    return contract.ListedModel(
        name=listed.name,
        title=listed.title,
        kind=MODEL_TASKS[model_task(listed)],
        purpose=metadata.purpose or MODEL_TASKS[model_task(listed)],
        family=metadata.family,
        licence=metadata.licence,
        details=_details(listed, config) if config else {},
        problem=opening_problem(listed),
        config=asdict(config) if config else None,
        shipped=listed.shipped,
        own=listed.own,
        has_card=bool(read_card(listed.folder)),
        series=metadata.series,
    )


def opening_problem(listed: ListedModel) -> str:
    """Why a model cannot be opened; empty if it can."""
    allowed, needed = model_pool().budget, listed.metadata.memory_bytes
    if needed > allowed:
        return f"It takes {format_bytes(needed)} of memory; {format_bytes(allowed)} are allowed here."
    return listed.metadata.error


def _details(listed: ListedModel, config: Config) -> dict[str, str]:
    return {
        "Family": listed.metadata.family,
        "Size": f"{format_count(listed.metadata.parameter_count)} parameters",
        "Heads": describe_heads(config),
        **(
            {"Layers without maps": f"{sum(config.recurrence.counts)} of linear attention; {_in_checkpoint(config)}"}
            if config.has_recurrence
            else {}
        ),
        "Positions": POSITIONAL_ENCODINGS[config.positional_encoding].title,
        **(
            {"Residual streams": f"{config.residual.alternating_updates.streams}"} if config.has_several_streams else {}
        ),
        "Norm": NORMS[config.norm].title,
        "Norm placement": NORM_PLACEMENTS[config.norm_placement].title,
        "Feed-forward": _describe_feed_forward(config),
        **({"Pooling": pooling_title(config)} if task_of(config).whole_text else {}),
        **_input_details(listed.metadata.tokenizer, config),
        "Disk": format_bytes(listed.disk_bytes),
        "Memory": f"{format_bytes(listed.metadata.memory_bytes)} once open",
        "Licence": listed.metadata.licence or "not stated",
    }


def _in_checkpoint(config: Config) -> str:
    return f"in the checkpoint, the others are {', '.join(map(str, config.recurrence.numbers_in_file))}"


def _input_details(tokenizer: str, config: Config) -> dict[str, str]:
    """The details of a model's inputs: tokens of a text, patches of an image, or frames of a sound."""
    image = config.image
    images = {
        "Images": f"{image.height:,} × {image.width:,} pixels",
        "Patches": f"{image.patch_rows:,} × {image.patch_columns:,}",
    }
    words = {
        "Tokenizer": f"{tokenizer}, {config.vocabulary_size:,} tokens",
        "Context": f"{config.context_length:,} tokens",
    }
    if config.reads_sound:
        seconds = f" of {config.sound.frame_seconds * config.sound.frames:.0f} seconds" if config.sound.frames else ""
        images = {
            "Sounds": f"{config.sound.rate:,} samples a second",
            "Frames": f"one each {1_000 * config.sound.frame_seconds:.0f} ms{seconds}",
        }
    return (images if config.reads_signal else {}) | (words if "text" in config.modalities else {})


def _describe_feed_forward(config: Config) -> str:
    """The kind and the width of the feed-forward networks, and of experts."""
    if not config.has_feed_forward:
        return FEED_FORWARDS[config.feed_forward].title
    parallel = ", parallel to attention" if config.residual.parallel else ""
    ordinary = [layer for layer in range(config.layers) if layer not in config.expert_layers]
    widths = sorted({config.for_layer(layer).d_ff for layer in ordinary})
    widths = widths if config.layers else [config.d_ff]
    networks = [f"{' or '.join(f'{width:,}' for width in widths)} neurons"] if widths else []
    if config.expert_layers:
        experts = config.experts
        neurons = f"{experts.d_ff or config.d_ff:,} neurons"
        networks.append(f"{experts.count:,} experts of {neurons}, {experts.per_token:,} for each token")
    return f"{', '.join((FEED_FORWARDS[config.feed_forward].title, ' or '.join(networks)))}{parallel}"
