"""Layers of linear attention, which have a state instead of attention weights: the gated delta rule.

Yang et al. 2024, "Gated Delta Networks: Improving Mamba2 with Delta Rule". A model has them between its layers of
attention (Qwen3-Next).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Bool, Float
from headlight.config import Config
from headlight.nn.attention import KeysAndValues, KVCache, merge_heads, repeat_key_values, split_heads
from headlight.nn.experts import make_feed_forward
from headlight.nn.hooks import no_hook
from headlight.nn.layers import FEED_FORWARDS, Linear, RMSNorm, make_norm

TOKENS_AT_ONCE = 64  # of the rule: within them it is a triangular system, between them only the state counts
L2_EPSILON = 1e-6


def delta_rule(
    q: Float[Tensor, "batch head pos key_channel"],
    k: Float[Tensor, "batch head pos key_channel"],
    v: Float[Tensor, "batch head pos value_channel"],
    log_decay: Float[Tensor, "batch head pos"],
    strength: Float[Tensor, "batch head pos"],
) -> Float[Tensor, "batch head pos value_channel"]:
    """What each query reads from the state S of its head (Yang et al. 2024, equation 10).

    S_i = d_i S_{i-1} + k_i u_i^T with u_i = b_i (v_i - d_i S_{i-1}^T k_i): the state decays by d, and a share b of what
    it has for the key is replaced by the value. The updates u of a group of tokens solve a triangular system.
    """
    state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    read, whole = [], (q, k, v, log_decay, strength)
    # A compiled or exported graph is for texts of any length: it computes all tokens at once.
    is_whole = torch.compiler.is_compiling()
    groups = [whole] if is_whole else zip(*(torch.split(each, TOKENS_AT_ONCE, 2) for each in whole), strict=True)
    for q_, k_, v_, log_decay_, strength_ in groups:
        total = log_decay_.cumsum(-1)
        between = (total[..., :, None] - total[..., None, :]).tril().exp().tril()  # the decay from token to token
        since_start, share = total.exp()[..., None], strength_[..., None]
        system = share * (k_ @ k_.transpose(-2, -1)) * between
        wanted = share * (v_ - since_start * (k_ @ state))
        updates = torch.linalg.solve_triangular(system.tril(-1), wanted, upper=False, unitriangular=True)
        read.append(since_start * (q_ @ state) + ((q_ @ k_.transpose(-2, -1)) * between) @ updates)
        until_end = (total[..., -1:] - total).exp()[..., None]
        state = since_start[..., -1:, :] * state + (k_ * until_end).transpose(-2, -1) @ updates
    return torch.cat(read, dim=2)


class GatedDeltaNet(nn.Module):
    """Linear attention by the gated delta rule, after a short convolution over time (Yang et al. 2024, section 3.4)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.sizes = config.recurrence
        keys, values = (
            self.sizes.key_heads * self.sizes.key_channels,
            self.sizes.value_heads * self.sizes.value_channels,
        )
        self.parts = [keys, keys, values]
        self.query_key_value = Linear(config.d_model, sum(self.parts), bias=False)
        self.convolution = nn.Conv1d(
            sum(self.parts), sum(self.parts), self.sizes.kernel, groups=sum(self.parts), bias=False
        )
        activation = FEED_FORWARDS[config.feed_forward].gate_activation
        assert activation is not None  # Config wants a gated feed-forward network
        self.activation = activation
        self.decay, self.strength = (Linear(config.d_model, self.sizes.value_heads, bias=has) for has in (True, False))
        self.log_rate = nn.Parameter(torch.zeros(self.sizes.value_heads))
        self.gate = Linear(config.d_model, values, bias=False)
        self.norm = RMSNorm(self.sizes.value_channels, config.norm_epsilon)
        self.output = Linear(values, config.d_model, bias=False)

    def forward(self, x: Float[Tensor, "batch new d_model"], path: str, cache: KVCache | None) -> Tensor:
        """The output for new tokens; what was computed of earlier ones is in the cache at `path`."""
        projected = self.query_key_value(x)[:, None]
        gates = torch.cat((self.decay(x), self.strength(x)), dim=-1)[:, None]
        if cache is not None:
            projected, gates = cache.append(path, KeysAndValues(projected, projected, gates, path))
        values = self._read_state(projected[:, 0], gates[:, 0])
        values = values[:, :, -x.shape[1] :] if cache is None else cache.new_rows(values, x.shape[1])
        gate = functional.silu(split_heads(self.gate(x), self.sizes.value_heads))
        output: Tensor = self.output(merge_heads(self.norm(values.to(x.dtype)) * gate))
        return output

    def _read_state(
        self, projected: Float[Tensor, "batch pos channel"], gates: Float[Tensor, "batch pos gate"]
    ) -> Float[Tensor, "batch head pos value_channel"]:
        """What the queries of all tokens read, in single precision."""
        padded = functional.pad(projected.transpose(1, 2), (self.sizes.kernel - 1, 0))
        mixed = self.activation(self.convolution(padded)).transpose(1, 2).float()
        q, k, v = torch.split(mixed, self.parts, dim=-1)
        heads, group_size = self.sizes.key_heads, self.sizes.value_heads // self.sizes.key_heads
        q, k = (repeat_key_values(_unit(split_heads(each, heads)), group_size) for each in (q, k))
        decay, strength = gates.float().transpose(1, 2).chunk(2, dim=1)
        log_decay = -self.log_rate.float().exp()[:, None] * functional.softplus(decay)
        v = split_heads(v, self.sizes.value_heads)
        return delta_rule(q * self.sizes.key_channels**-0.5, k, v, log_decay, strength.sigmoid())


def _unit(x: Tensor) -> Tensor:
    """Vectors of length one."""
    return x * (x.square().sum(-1, keepdim=True) + L2_EPSILON).rsqrt()


class RecurrentLayer(nn.Module):
    """A layer whose tokens are mixed by linear attention: it has no attention weights."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.mixer_norm, self.feed_forward_norm = (make_norm(config, config.d_model) for _ in range(2))
        self.mixer = GatedDeltaNet(config)
        self.feed_forward = make_feed_forward(config, config.layers)

    def forward(
        self,
        x: Float[Tensor, "batch new d_model"],
        is_token: Bool[Tensor, "batch new"] | None,
        path: str,
        cache: KVCache | None,
    ) -> Float[Tensor, "batch new d_model"]:
        """The residual stream after this layer; linear attention reads zeros where there is no token."""
        h = self.mixer_norm(x)
        x = x + self.mixer(h if is_token is None else h * is_token[..., None], path, cache)
        if self.feed_forward is None:
            return x
        after: Tensor = x + self.feed_forward(self.feed_forward_norm(x), no_hook)
        return after
