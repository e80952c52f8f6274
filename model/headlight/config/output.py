"""OutputHeadConfig: options of the output head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ProblemTypeName = Literal["single-label", "multi-label", "regression"]


@dataclass(frozen=True, kw_only=True)
class OutputHeadConfig:
    """Options of the output head."""

    # What the logits of labels mean (`headlight.problem_types`).
    problem_type: ProblemTypeName = "single-label"
    # What precedes the projection; None: "dense-norm" for a masked language model, else "none".
    transform: Literal["none", "dense", "norm", "dense-norm"] | None = None
    activation: str = "gelu"  # of the transform
    logit_scale: float = 1.0  # multiplies the logits of a language model
    logit_soft_cap: float = 0.0  # limits the logits of a language model smoothly (Gemma 2); 0: no limit
    bias: bool | None = None  # of the projection; None: masked language models and classifiers have one
    pad_token_id: int | None = None  # pooling skips these tokens, as it skips padding
    second_pooling: str = ""  # key of POOLINGS: a classifier of whole texts reads this vector, too, beside the first
    skipped_tokens: int = 0  # after the first; pooling skips them, as it skips padding (registers of images)
    transform_dim: int = 0  # channels after the transform's linear map; 0: as before it
    contact_end_id: int | None = None  # ends a protein; with it a contact head reads the weights of all heads (ESM)
