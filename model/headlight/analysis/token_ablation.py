"""Token ablation: what a classifier of whole texts answers when a token is hidden, several tokens in one batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from headlight.array_types import Float
from headlight.cancellation import check_cancelled
from headlight.errors import ConfigError
from headlight.nn.transformer import Transformer
from headlight.tasks import task_of
from headlight.tracing.recompute import intervention_hook
from headlight.tracing.run import token_tensor
from headlight.tracing.trace import Trace, require_position

TOKENS_PER_BATCH = 2048


def require_text_classifier(model: Transformer) -> None:
    """Raise ConfigError for a model that does not label whole texts."""
    config = model.config
    if not task_of(config).whole_text or config.image.channels or config.has_cross_attention:
        raise ConfigError("This model labels no whole texts.")


@torch.inference_mode()
def ablate_tokens(model: Transformer, trace: Trace, positions: Sequence[int]) -> Float[np.ndarray, "position label"]:
    """The logits without each of some tokens: it keeps its place, but none attends to it and it is not pooled.

    Text and edits are those of the trace. Raises ConfigError for a model that does not label whole texts, TextError for
    a position that does not exist (Li et al. 2016, "erasure", with a token as the smallest unit).
    """
    require_text_classifier(model)
    length = len(trace.text.ids)
    for position in positions:
        require_position(position, length)
    ids, rows, found = token_tensor(trace.text, model), max(1, TOKENS_PER_BATCH // length), []
    for first in range(0, len(positions), rows):
        check_cancelled()
        hidden = torch.tensor(positions[first : first + rows], device=model.device)
        is_token = torch.arange(length, device=model.device) != hidden[:, None]
        logits = model(ids.expand(len(hidden), -1), padding_mask=is_token, hook=intervention_hook(trace))
        assert logits is not None  # `require_text_classifier` refuses models without an output head
        found.append(logits.float().cpu().numpy())
    return np.concatenate(found) if found else np.zeros((0, len(model.config.labels)), dtype=np.float32)
