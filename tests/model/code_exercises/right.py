"""Correct solutions of the exercises in several styles."""

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


def with_axes(mask: Tensor, scores: Tensor) -> Tensor:
    """The mask reshaped to the axes of the scores."""
    mask = mask[:, None, :] if mask.dim() == 2 else mask
    return mask[:, None] if scores.dim() == 4 else mask


def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        mask = with_axes(mask, scores)
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask == 0, 0.0)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights


def attention_with_einsum(
    query: Tensor, key: Tensor, value: Tensor, mask: Any = None, dropout: Any = None
) -> tuple[Tensor, Tensor]:
    """By hand: the exponential, a product with the mask, and the sum."""
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    factors = (scores - scores.amax(-1, keepdim=True)).exp()
    if mask is not None:
        factors = factors * with_axes(mask, scores).float()
    weights = factors / factors.sum(-1, keepdim=True).clamp(min=1e-20)
    dropped = weights if dropout is None else functional.dropout(weights, dropout.p, dropout.training)
    return torch.einsum("...qk,...kd->...qd", dropped, value), weights


def attention_with_large_number(
    query: Tensor, key: Tensor, value: Tensor, mask: Any = None, dropout: Any = None
) -> list[Tensor]:
    """With -1e9 instead of minus infinity, as in the Annotated Transformer, and in float64."""
    query, key, value = (each.double() for each in (query, key, value))
    scores = torch.matmul(query, key.mT).div(query.shape[-1] ** 0.5)
    if mask is not None:
        scores.masked_fill_(~with_axes(mask, scores).bool(), -1e9)
    weights = functional.softmax(scores, dim=-1)
    if dropout:
        weights = dropout(weights)
    return [torch.matmul(weights, value), weights]


def attention_fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Any = None, dropout: Any = None
) -> tuple[Tensor, Tensor]:
    """PyTorch's own function; an identity matrix appended to the values gives the weights."""
    allowed = None if mask is None else with_axes(mask, query).bool()
    rate = dropout.p if dropout is not None and dropout.training else 0.0
    identity = torch.eye(key.shape[-2]).expand(*key.shape[:-1], -1)
    both = torch.cat((value, identity), -1)
    output = functional.scaled_dot_product_attention(query, key, both, allowed, dropout_p=rate)
    return output[..., : value.shape[-1]], output[..., value.shape[-1] :]


def scaled_dot_product_attention(Q: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(torch.bmm(Q, K.transpose(1, 2)) / Q.size(-1) ** 0.5, dim=2)
    return torch.bmm(weights, V), weights


class SingleHeadAttention(nn.Module):
    def __init__(self, embed_dim: int) -> None:
        super().__init__()
        self.value_proj = nn.Linear(embed_dim, embed_dim, bias=False)  # not the order of the exercise
        self.W_q = nn.Linear(embed_dim, embed_dim, bias=False)
        self.W_k = nn.Linear(embed_dim, embed_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        output, weights = scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.value_proj(x))
        self.attention_weights = weights.detach()
        return output


class MultiHeadedAttention(nn.Module):
    def __init__(self, h: int, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList(copy.deepcopy(nn.Linear(d_model, d_model)) for _ in range(4))
        for linear in self.linears:
            nn.init.normal_(linear.weight, std=0.5)  # type: ignore[arg-type]
        self.dropout = nn.Dropout(dropout)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        batch = query.size(0)
        query, key, value = (
            linear(x).view(batch, -1, self.h, self.d_k).transpose(1, 2)
            for linear, x in zip(self.linears, (query, key, value), strict=False)
        )
        x, _ = attention(query, key, value, mask, self.dropout)
        joined: Tensor = self.linears[-1](x.transpose(1, 2).contiguous().view(batch, -1, self.h * self.d_k))
        return joined


class FusedHeads(nn.Module):
    """With other layer names, `unflatten`, and PyTorch's own attention."""

    def __init__(self, h: int, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.h, self.p = h, dropout
        self.out_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model, bias=False)
        self.q_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        layers = ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        q, k, v = (layer(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for layer, x in layers)
        allowed = None if mask is None else with_axes(mask, q).bool()
        rate = self.p if self.training else 0.0
        x = functional.scaled_dot_product_attention(q, k, v, allowed, dropout_p=rate)
        projected: Tensor = self.out_proj(x.transpose(1, 2).flatten(2))
        return projected
