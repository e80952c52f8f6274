"""What a decoder has: a mask always, cross-attention only where there is an encoder."""

from __future__ import annotations

import torch

from headlight.checkpoints import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import TablePicture, row, verdict_row, weights_map
from headlight.course.questions import ask_whether
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import token_labels, value
from headlight.errors import InputError
from headlight.nn.masks import MASKS
from headlight.nn.stack import Block
from headlight.nn.transformer import variant
from headlight.tracing.run import run
from headlight.tracing.trace import Trace


def later_weight(trace: Trace, path: str) -> float:
    """The largest weight that any head gives to a later token."""
    weights = value(trace, path)
    return float(weights.triu(1).amax()) if weights.shape[-1] > 1 else 0.0


def decoder_parts(model: Checkpoint, source: str, text: str) -> Answer:
    """The attentions of each layer of a decoder, and what its self-attention gives to later tokens."""
    network, config = model.model, model.model.config
    if not text.strip():
        raise InputError("The text of the decoder is empty. Type something.")
    given = source if config.architecture == "encoder-decoder" else None
    own, lifted = (
        run(each, model.tokenizer, text, source=given, keep=("decoder.*.weights",))
        for each in (network, variant(network, masks="none"))
    )
    paths = [path for path in own.values if path.endswith(".weights")]
    masked, cross = ([path for path in paths if f".{kind}." in path] for kind in ("self", "cross"))
    rows = tuple(
        (_title(path), *map(str, own[path].shape), *_later(own, lifted, path, path in masked)) for path in paths
    )
    with_mask, without = (max(later_weight(each, path) for path in masked) for each in (own, lifted))
    labels = token_labels(own.text)
    first = [(masked[0], labels), *((path, token_labels(own.source)) for path in cross[:1] if own.source)]
    return (
        row(
            *(weights_map(f"{_title(path)}, head 0", torch.tensor(own[path][0]), labels, keys) for path, keys in first),
            question=ask_whether(
                "Has this decoder cross-attention?",
                bool(cross),
                "A decoder by itself has no encoder to look into."
                if not cross
                else "It has an encoder, and looks into what that has read.",
            ),
        ),
        row(
            TablePicture(
                title="Every attention of the decoder",
                columns=("attention", "heads", "queries", "keys", "most on a later token", "with the mask lifted"),
                rows=rows,
            )
        ),
        verdict_row(
            f"{len(masked)} self-attentions, {len(cross)} cross-attentions. No self-attention gives a later "
            f"token more than {with_mask:.2f}; without its mask it would be up to {without:.2f}. "
            + (
                "Cross-attention may look at the whole source: nothing of it is a secret."
                if cross
                else "There is no encoder, so there is nothing to cross over to: a decoder by itself has no "
                "cross-attention."
            ),
            good=with_mask == 0,
        ),
    )


def _title(path: str) -> str:
    _, layer, kind, _ = path.split(".")
    return f"layer {layer}, {kind}-attention"


def _later(own: Trace, lifted: Trace, path: str, is_masked: bool) -> tuple[str, str]:
    if not is_masked:
        return "—", "—"
    return f"{later_weight(own, path):.2f}", f"{later_weight(lifted, path):.2f}"


DECODERS = Screen(
    title="What makes a decoder?",
    lesson="One note has a decoder as an encoder with cross-attention added, and forgets its mask; another gives every "
    "decoder cross-attention. The mask makes a decoder. Cross-attention is there only where an encoder is.",
    controls={
        "model": ModelControl(default="dates", needs="masked-decoder"),
        "source": TextControl(title="Source (for an encoder)", default="third of March 2021"),
        "text": TextControl(title="Text of the decoder", default="2021-03-03"),
    },
    compute=decoder_parts,
    formulas=(MASKS["causal"].formula,),
    code=(later_weight, Block, variant),
    explore=link("model", "source", "text"),
)
