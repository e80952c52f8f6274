"""Attention by content alone: without trained weights, what is alike attends to what is alike."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import normalize

from headlight.array_types import Bool, Float
from headlight.course.attention import HeadValues, attend
from headlight.course.controls import NumberControl

SHARPNESS = NumberControl(title="Sharpness (multiplies the queries)", default="8", low=0, high=40, step=0.5)
NO_WEIGHTS = (
    "No weights are trained here: queries and keys are the vectors themselves, less their mean and of length 1, so "
    "that a score is the cosine of two vectors times the sharpness. The sharpness stands in place of 1/√d_k."
)
UNSCALED = r"\text{scores without } 1 / \sqrt{d_k}: \text{ the length of the query sets how sharply it chooses}"


def attend_by_similarity(
    vectors: Float[Tensor, "pos channel"], sharpness: float, allowed: Bool[Tensor, "pos pos"] | None = None
) -> HeadValues:
    """One head whose W_Q is `sharpness` times the identity, on centred vectors of length 1; the values are `vectors`.

    Raises InputError for matrices that do not fit together.
    """
    directions = normalize(vectors - vectors.mean(0), dim=-1)
    return attend(sharpness * directions, directions, vectors, allowed=allowed, scale=False)
