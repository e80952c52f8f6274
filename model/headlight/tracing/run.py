"""run(): one forward pass over a text, an image or a sound, recorded as a Trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch

from headlight.nn.transformer import Transformer
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.inputs import ModelInput
from headlight.tracing.interventions import InterventionLike
from headlight.tracing.live_edits import LiveHook
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_request
from headlight.tracing.trace import Trace


@torch.inference_mode()
def run(
    model: Transformer,
    tokenizer: Tokenizer,
    text: ModelInput,
    interventions: Sequence[InterventionLike] = (),
    *,
    source: ModelInput | None = None,
    masked_positions: Sequence[int] = (),
    keep: Sequence[str] | None = None,
    hook: LiveHook | None = None,
    runs: Mapping[str, Trace] = MappingProxyType({}),
) -> Trace:
    """The trace of one forward pass over a text, a processed image or a processed sound, with edits.

    An encoder-decoder reads `source`, one of these, with its encoder and `text` (which may be empty) with its decoder;
    one that labels whole texts reads the source with both if the text is empty. `masked_positions` get the mask token.
    `keep` lists patterns of paths to record. None records everything, or only RECOMPUTE_FROM if the query x key values
    would exceed ATTENTION_BYTES_BUDGET; these can be recomputed from it.

    `hook` is called with the path of every value and the value itself, without its batch axis; the pass continues with
    the value that it returns or changes in place. An edit `decoder.2.residual[5]=from:B[3]` takes the value from the
    trace B of `runs`. Edits may use the names of TransformerLens, `blocks.1.attn.hook_pattern[3]=set:0`, with its order
    of axes. Raises TextError, ImageError, SoundError or EditError for an invalid text, image, sound or edit.
    """
    request = RunRequest.encode(model, tokenizer, text, interventions, source, masked_positions, keep, hook, runs)
    return run_request(model, request, continuable=False).trace


def run_texts(
    model: Transformer, tokenizer: Tokenizer, texts: Sequence[str], interventions: Sequence[InterventionLike] = ()
) -> list[Trace]:
    """A trace of each text, with the same edits. Raises like `run`."""
    return [run(model, tokenizer, text, interventions) for text in texts]
