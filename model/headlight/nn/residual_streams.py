"""Extensions of the residual stream: several streams side by side, and a low-rank map parallel to a sublayer.

AltUp (Baykal et al. 2023, "Alternating Updates for Efficient Transformers") and LAuReL (Menghani et al. 2024), as in
Gemma 3n. The mixing is linear in the streams except for a few coefficients and norms. A stream that is decomposed into
components can be mixed component by component: `total` then computes the stream from them, for coefficients and norms.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from headlight.array_types import Float
from headlight.config import Config
from headlight.nn.layers import Linear, make_norm

SMALLEST_MEAN_SQUARE = 1e-5  # lower bound of a projection's mean square, a divisor
Total = Callable[[Tensor], Tensor]


def undecomposed(x: Tensor) -> Tensor:
    """The total of a value that is not decomposed: the value itself."""
    return x


class LowRankMap(nn.Module):
    """A low-rank map with a norm, x + norm(right(left(x))) (LAuReL, the low-rank variant)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.left = Linear(config.d_model, config.residual.laurel_rank, bias=False)
        self.right = Linear(config.residual.laurel_rank, config.d_model, bias=False)
        self.norm = make_norm(config, config.d_model)

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos d_model"]:
        """The map of x."""
        mapped: Tensor = x + self.norm(self.right(self.left(x)))
        return mapped


class AlternatingUpdates(nn.Module):
    """The update of the streams in a block: each is predicted from all, then corrected by the block's output."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        choices = config.residual.alternating_updates
        self.active, self.streams = choices.active, choices.streams
        self.router_norm = make_norm(config, config.d_model)
        self.router = Linear(config.d_model, choices.streams, bias=False)
        self.prediction = Linear(choices.streams, choices.streams**2, bias=False)
        self.correction = Linear(choices.streams, choices.streams, bias=False)
        self.output_scale = nn.Parameter(torch.ones(config.d_model)) if choices.output_scale else None

    def predict(
        self, streams: Float[Tensor, "*shape stream d_model"], total: Total = undecomposed
    ) -> Float[Tensor, "*shape stream d_model"]:
        """Each stream plus a mixture of all, with coefficients computed from the active one."""
        mixture = self._coefficients(self.prediction, total(streams[..., self.active, :]))
        return streams + mixture.view(*mixture.shape[:-1], self.streams, self.streams) @ streams

    def correct(
        self,
        predicted: Float[Tensor, "*shape stream d_model"],
        read: Float[Tensor, "*shape d_model"],
        written: Float[Tensor, "*shape d_model"],
        total: Total = undecomposed,
    ) -> Float[Tensor, "*shape stream d_model"]:
        """Each predicted stream plus its share of the block's change, `written` - `read`."""
        shares = 1 + self._coefficients(self.correction, total(written))
        before, after = predicted[..., : self.active, :], predicted[..., self.active + 1 :, :]
        streams = torch.cat((before, read[..., None, :], after), dim=-2)  # an edit may have changed `read`
        return streams + shares[..., None] * (written - read)[..., None, :]

    def output(self, streams: Float[Tensor, "*shape stream d_model"]) -> Float[Tensor, "*shape d_model"]:
        """The active stream, scaled for the gate of the layer embedding."""
        active = streams[..., self.active, :]
        return active if self.output_scale is None else active * self.output_scale

    def _coefficients(self, linear: Linear, x: Float[Tensor, "*shape d_model"]) -> Float[Tensor, "*shape coefficient"]:
        coefficients: Tensor = linear(torch.tanh(self.router(self.router_norm(x) / x.shape[-1])))
        return coefficients


class ResidualStreams(nn.Module):
    """Splits one stream into several and merges them again, with a projection for each but the first."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.split_projections, self.merge_projections = (
            nn.ModuleList(
                Linear(config.d_model, config.d_model, bias=False)
                for _ in range(1, config.residual.alternating_updates.streams)
            )
            for _ in range(2)
        )

    def split(
        self, x: Float[Tensor, "*shape d_model"], total: Total = undecomposed
    ) -> Float[Tensor, "*shape stream d_model"]:
        """The stream, and projections of it with the same norm."""
        others = (_rescaled(project(x), x, total) for project in self.split_projections)
        return torch.stack((x, *others), dim=-2)

    def merge(
        self, streams: Float[Tensor, "*shape stream d_model"], total: Total = undecomposed
    ) -> Float[Tensor, "*shape d_model"]:
        """The mean of the first stream and of projections of the others with the same norm."""
        first, *others = streams.unbind(-2)
        projected = (
            _rescaled(project(other), first, total)
            for project, other in zip(self.merge_projections, others, strict=True)
        )
        return torch.stack((first, *projected)).mean(0)


def _rescaled(
    x: Float[Tensor, "*shape d_model"], like: Float[Tensor, "*shape d_model"], total: Total
) -> Float[Tensor, "*shape d_model"]:
    """x, scaled so that its total has the norm of the total of `like`."""
    norm, target = (total(each).square().mean(-1, keepdim=True) for each in (x, like))
    return x * (target / norm.clamp(min=SMALLEST_MEAN_SQUARE)).sqrt()
