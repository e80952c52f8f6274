"""Mixture of experts: a router chooses a few of many gated feed-forward networks for each token."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float
from headlight.config import Config
from headlight.errors import ConfigError
from headlight.nn.hooks import Hook, no_hook
from headlight.nn.layers import FEED_FORWARDS, make_norm


class MixtureOfExperts(nn.Module):
    """Each token's `per_token` best experts, weighted by the router (Shazeer et al. 2017; Jiang et al. 2024, eq. 2).

    An expert is a gated feed-forward network; the weights of all experts are stacked on a first axis. Groups of experts
    and a shared expert for every token: DeepSeek-AI 2024 (DeepSeek-V3), section 2.1.2.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        activation = FEED_FORWARDS[config.feed_forward].gate_activation
        if activation is None:
            raise ConfigError(f"Experts have a gate; the feed-forward {config.feed_forward!r} has none.")
        self.activation, self.experts = activation, config.experts
        count, d_model, d_ff = config.experts.count, config.d_model, config.experts.d_ff or config.d_ff
        self.router = nn.Linear(d_model, count, bias=config.experts.bias)
        self.gate, self.up = (nn.Parameter(torch.empty(count, d_ff, d_model)) for _ in range(2))
        self.down = nn.Parameter(torch.empty(count, d_model, d_ff))
        self.gate_bias, self.up_bias, self.down_bias = (
            nn.Parameter(torch.zeros(count, size)) if config.experts.bias else None for size in (d_ff, d_ff, d_model)
        )
        self.choice_bias = nn.Parameter(torch.zeros(count)) if config.experts.choice_bias else None
        self.shared_gate = nn.Linear(d_model, 1, bias=False) if config.experts.shared_gate else None
        has_norms = config.experts.own_norms
        shared_d_ff = config.d_ff if has_norms else config.experts.shared_d_ff
        shared = config.replace(d_ff=shared_d_ff or 1)
        self.shared = FEED_FORWARDS[config.feed_forward].make(shared) if shared_d_ff else None
        self.norm, self.output_norm, self.shared_norm, self.shared_output_norm = (
            make_norm(config, d_model) if has_norms else nn.Identity() for _ in range(4)
        )
        router_norm = nn.RMSNorm(d_model, config.norm_epsilon, elementwise_affine=False)
        self.router_norm = router_norm if has_norms else nn.Identity()

    def forward(self, x: Float[Tensor, "batch pos d_model"], hook: Hook) -> Float[Tensor, "batch pos d_model"]:
        """The sum over experts of the router's weight times the expert's output; a weight of 0 skips the expert.

        The output of the shared expert is added.
        """
        x = hook("input", x)
        weights = hook("router_weights", self.choose(hook("router_scores", self.router(self.router_norm(x)))))
        output = torch.zeros_like(x)
        if self.shared is not None:
            shared = self.shared_output_norm(self.shared(self.shared_norm(x), no_hook))
            shared = shared if self.shared_gate is None else self.shared_gate(x).sigmoid() * shared
            output = hook("shared_output", shared).clone()  # the experts are added in place
        if self.experts.own_norms:
            return hook("output", output + self.output_norm(self._routed(self.norm(x), weights, torch.zeros_like(x))))
        return hook("output", self._routed(x, weights, output))

    def _routed(
        self, x: Float[Tensor, "batch pos d_model"], weights: Float[Tensor, "batch pos expert"], output: Tensor
    ) -> Float[Tensor, "batch pos d_model"]:
        """`output`, to which the chosen experts of each token are added."""
        for number in self._used(weights):
            chosen = weights[..., number] != 0
            share = weights[..., number][chosen][:, None]
            if self.experts.share_of_input:
                output[chosen] += self.expert(number, share * x[chosen])
            else:
                output[chosen] += share * self.expert(number, x[chosen])
        return output

    def _used(self, weights: Float[Tensor, "batch pos expert"]) -> Iterable[int]:
        """The experts that some token is sent to; all of them in a compiled graph, which cannot branch on values."""
        if torch.compiler.is_compiling():
            return range(self.experts.count)
        used: list[int] = weights.flatten(0, -2).any(dim=0).nonzero().flatten().tolist()
        return used

    def choose(self, scores: Float[Tensor, "batch pos expert"]) -> Float[Tensor, "batch pos expert"]:
        """Each expert's share of a token: 0 except for the best ones, whose shares sum to 1 if `normalized`."""
        has_sigmoids = self.experts.scoring == "sigmoid"
        shares = scores.float().sigmoid() if has_sigmoids else scores.float().softmax(dim=-1)
        # Sigmoids of large scores are all 1; in Llama 4, which adds nothing to them, the scores decide.
        wanted = scores.float() if has_sigmoids else shares
        wanted = wanted if self.choice_bias is None else shares + self.choice_bias.float()
        places = self._within_groups(wanted).topk(self.experts.per_token, dim=-1).indices
        best = shares.gather(-1, places)
        if self.experts.normalized:
            best = best / best.sum(dim=-1, keepdim=True)
        return torch.zeros_like(shares).scatter(-1, places, best * self.experts.share_scale).to(scores.dtype)

    def _within_groups(self, wanted: Float[Tensor, "batch pos expert"]) -> Float[Tensor, "batch pos expert"]:
        """The choice scores, with minus infinity outside the groups that a token is sent to."""
        if self.experts.groups == 1:
            return wanted
        grouped = wanted.view(*wanted.shape[:-1], self.experts.groups, -1)
        together = grouped.topk(self.experts.group_best, dim=-1).values.sum(dim=-1)
        chosen = together.topk(self.experts.chosen_groups, dim=-1).indices
        allowed = torch.zeros_like(together, dtype=torch.bool).scatter(-1, chosen, True)
        return grouped.masked_fill(~allowed[..., None], -torch.inf).flatten(-2)

    def expert(self, number: int, x: Float[Tensor, "token d_model"]) -> Float[Tensor, "token d_model"]:
        """The output of one expert: down(activation(gate(x)) * (up(x) + offset)), with gate(x) and up(x) limited."""

        def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
            return functional.linear(x, weight[number], None if bias is None else bias[number])

        gate, up = linear(x, self.gate, self.gate_bias), linear(x, self.up, self.up_bias)
        if limit := self.experts.limit:
            gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
        return linear(self.activation(gate) * (up + self.experts.up_offset), self.down, self.down_bias)


def make_feed_forward(config: Config, layer: int) -> nn.Module | None:
    """The feed-forward network or the experts of a layer; None for blocks without either."""
    return MixtureOfExperts(config) if _has_experts(config, layer) else FEED_FORWARDS[config.feed_forward].make(config)


def normed_around(config: Config, layer: int) -> Config:
    """The config of the residual connection around the feed-forward network of a layer.

    Experts with norms of their own read the unnormed residual stream.
    """
    has_norms = config.experts.own_norms and _has_experts(config, layer)
    return config.replace(norm_placement="post-sublayer") if has_norms else config


def _has_experts(config: Config, layer: int) -> bool:
    return config.experts.count > 0 and layer not in config.experts.dense_layers
