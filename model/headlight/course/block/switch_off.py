"""Parts of a trained model switched off, one at a time, and the loss on a sentence."""

from __future__ import annotations

from math import log

from headlight.cancellation import check_cancelled
from headlight.checkpoints.load import Checkpoint
from headlight.course.block.sublayer_switches import SublayerSwitches, can_separate
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import BarsPicture, ScreenLink, TablePicture, row, verdict_row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import sentence_batch, target_loss
from headlight.nn.hooks import Hook
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.nn.transformer import Transformer
from headlight.tracing.interventions import InterventionHook
from headlight.tracing.run import parse_interventions
from headlight.training.objectives.batch import Batch

Part = tuple[str, str, str]  # its name, the edit that switches it off (or ""), and how that reads


def switch_off(model: Checkpoint, text: str) -> Answer:
    """The loss with each part off in all layers, and with attention and feed-forward off in each."""
    network = model.model
    _, batch = sentence_batch(model, text)
    whole = target_loss(network, batch)
    parts = losses_without_parts(network, batch)
    layers = losses_by_layer(network, batch)
    worst = max(parts, key=lambda name: parts[name])
    return (
        row(
            BarsPicture(
                title="Loss on this sentence, with one part off in all layers (nats for each token predicted)",
                labels=("everything on", *(f"no {name}" for name in parts)),
                series={"": [whole, *parts.values()]},
                note=f"{batch.target_count} tokens are predicted; guessing at random costs "
                f"{log(network.config.vocabulary_size):.2f}.",
            ),
            question=ask_largest("Without which part will this trained model predict worst?", parts),
        ),
        row(
            BarsPicture(
                title="Off in one layer only: what is added to the loss",
                labels=tuple(f"layer {layer}" for layer in range(len(layers["attention"]))),
                series={name: [loss - whole for loss in losses] for name, losses in layers.items()},
            )
        ),
        verdict_row(
            f"Most is lost without {worst}: {parts[worst] - whole:+.2f} nats. The model was trained with all "
            "of its parts: this tells what it relies on, not how a model that was trained without one would do."
        ),
        row(_edits(network), title="How each is switched off"),
    )


def losses_without_parts(model: Transformer, batch: Batch) -> dict[str, float]:
    """The loss without each part, in all layers."""
    losses = {}
    for name, edit, _ in _parts(model):
        hook: Hook = (
            _edit_hook(edit)
            if edit
            else SublayerSwitches(model, residual="residual" not in name, norm="norm" not in name)
        )
        losses[name] = target_loss(model, batch, hook)
        check_cancelled()
    return losses


def losses_by_layer(model: Transformer, batch: Batch) -> dict[str, list[float]]:
    """The loss with attention, or the feed-forward network, off in one layer."""
    stack, losses = model.config.stacks[-1], {}
    kinds = {"attention": "self"} | ({"feed-forward": "feed_forward"} if model.config.has_feed_forward else {})
    for name, module in kinds.items():
        edits = [f"{stack}.{layer}.{module}.output=set:0" for layer in range(model.config.num_layers(stack))]
        losses[name] = [target_loss(model, batch, _edit_hook(edit)) for edit in edits]
        check_cancelled()
    return losses


def _edit_hook(edit: str) -> Hook:
    return InterventionHook(parse_interventions((edit,)))


def _parts(model: Transformer) -> tuple[Part, ...]:
    """The parts that the model has and that can be switched off in it."""
    config, stack = model.config, model.config.stacks[-1]
    placement, separable = NORM_PLACEMENTS[config.norm_placement], can_separate(config)
    has = {
        "feed-forward": config.has_feed_forward,
        "positions": config.positional_encoding != "none",
        "1/√d": config.scale,
        "norms": separable and (placement.norm_before or placement.norm_after),
        "residual connections": separable and placement.has_residual,
    }
    parts = (
        ("attention", f"{stack}.*.self.output=set:0", "an edit: its output is 0"),
        ("feed-forward", f"{stack}.*.feed_forward.output=set:0", "an edit: its output is 0"),
        ("positions", f"{stack}.position_ids=set:0", "an edit: every token stands at position 0"),
        ("1/√d", f"{stack}.*.self.scale=set:1", "an edit: scores are not scaled"),
        ("norms", "", "a hook: no norm in any layer; a final norm after them stays"),
        ("residual connections", "", "a hook: a sublayer's output is added to nothing"),
    )
    return tuple(part for part in parts if has.get(part[0], True))


def _edits(model: Transformer) -> TablePicture:
    rows = tuple((name, edit or "—", text) for name, edit, text in _parts(model))
    note = (
        "Norms and residual connections cannot be taken apart in this model." if not can_separate(model.config) else ""
    )
    return TablePicture(columns=("part", "edit", "what it does"), rows=rows, note=note)


SWITCH_OFF = Screen(
    title="Switch each part off",
    lesson=(
        "A trained model reads your sentence, once whole and once without each of its parts. The loss tells how "
        "surprised it is by the words that follow (or that are masked, in a model that fills masks: here every fourth)."
    ),
    controls={
        "model": ModelControl(default="stories-causal", needs="predicts-tokens"),
        "text": TextControl(title="Sentence", default="Once upon a time there was a little girl. She loved to play."),
    },
    compute=switch_off,
    formulas=(r"L = -\frac{1}{n} \sum_i \log p(\mathrm{token}_i)",),
    code=(target_loss, SublayerSwitches),
    explore=link("model", "text", fixed={"tab": "model"}),
    see_also=(ScreenLink("training", "ladder"),),
)
