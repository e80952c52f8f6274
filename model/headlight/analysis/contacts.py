"""Contacts between the amino acids of a protein, predicted from all heads at once (Rao et al. 2021, section 3)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Float
from headlight.errors import ConfigError
from headlight.nn.transformer import Transformer
from headlight.tracing.recording import to_numpy
from headlight.tracing.trace import Trace


@torch.inference_mode()
def predict_contacts(model: Transformer, trace: Trace) -> Float[np.ndarray, "query key"]:
    """The probability that two residues touch; 0 for the first and the last token, which are not residues.

    It is a logistic regression on the weights of every head, made symmetric and corrected for each residue's average
    over all others (Dunn et al. 2008). Raises ConfigError for a model without a contact head.
    """
    head = model.contact_head
    if head is None:
        raise ConfigError("This model has no contact head to predict contacts in a protein; ESM has one.")
    weights = torch.tensor(trace.attention()).flatten(0, 1)
    counted = torch.tensor([number != model.config.output_head_config.contact_end_id for number in trace.text.ids])
    inner = (weights * (counted[:, None] & counted))[:, 1:-1, 1:-1]
    both = inner + inner.transpose(1, 2)
    expected = both.sum(2, keepdim=True) * both.sum(1, keepdim=True) / both.sum((1, 2), keepdim=True)
    logits: Tensor = head((both - expected.nan_to_num()).permute(1, 2, 0).to(head.weight))
    return to_numpy(functional.pad(logits[..., 0].sigmoid(), (1, 1, 1, 1)))
