"""Output heads: language models, and classifiers of sequences and of tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headlight.array_types import Bool, Float
from headlight.config import Config
from headlight.errors import ConfigError
from headlight.nn.layers import ACTIVATIONS, Linear, make_norm, soft_cap
from headlight.registry import Registry

PaddingMask = Bool[Tensor, "batch pos"] | None


class NoHead(nn.Module):
    """No head: a model that ends with its hidden states."""

    def __init__(self, config: Config) -> None:
        super().__init__()

    def forward(self, hidden_states: Float[Tensor, "*shape d_model"], padding_mask: PaddingMask = None) -> None:
        """Returns None."""


class PredictionHead(nn.Module, ABC):
    """An output head with logits: projects the `transformed` hidden states, with one row of weights for each answer."""

    projection: nn.Linear
    logit_soft_cap = 0.0

    def forward(
        self, hidden_states: Float[Tensor, "*shape d_model"], padding_mask: PaddingMask = None
    ) -> Float[Tensor, "*shape answer"]:
        """The projection of the `transformed` hidden states, softly capped if there is a cap."""
        return soft_cap(self.projection(self.transformed(hidden_states)), self.logit_soft_cap)

    @abstractmethod
    def transformed(self, hidden_states: Float[Tensor, "*shape d_model"]) -> Float[Tensor, "*shape embedding_dim"]:
        """The input of the projection."""


class LanguageModelHead(PredictionHead):
    """Logits of the next token (Bengio et al. 2003)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.projection = Linear(
            config.embedding_dim, config.vocabulary_size, bias=bool(config.output_head_config.bias)
        )
        self.logit_scale, self.logit_soft_cap = (
            config.output_head_config.logit_scale,
            config.output_head_config.logit_soft_cap,
        )

    def transformed(self, hidden_states: Float[Tensor, "*shape d_model"]) -> Float[Tensor, "*shape d_model"]:
        """The hidden states times the scale of the logits."""
        return hidden_states * self.logit_scale


class HeadTransform(nn.Module):
    """The transform of hidden states in some classifiers: a linear map with an activation, a norm, or both."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        transform = config.output_head_config.transform or "none"
        has_dense = transform.startswith("dense")
        self.activation = ACTIVATIONS[config.output_head_config.activation if has_dense else "linear"]
        bias, (before, self.dim) = config.has_bias("transform"), _transform_dims(config)
        self.dense = Linear(before, self.dim, bias=bias) if has_dense else nn.Identity()
        self.norm = make_norm(config, self.dim) if transform.endswith("norm") else nn.Identity()

    def forward(self, hidden_states: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape transform_dim"]:
        """norm(activation(hidden W))."""
        transformed: Tensor = self.norm(self.activation(self.dense(hidden_states)))
        return transformed


def _transform_dims(config: Config) -> tuple[int, int]:
    """The channels before and after the transform of a classifier."""
    head = config.output_head_config
    pools_twice = config.output_head == "sequence-classifier" and head.second_pooling
    before = config.d_model * (2 if pools_twice else 1)
    return before, (head.transform_dim if (head.transform or "none").startswith("dense") else 0) or before


class MaskedLanguageModelHead(PredictionHead):
    """Logits of the masked token (Devlin et al. 2019, appendix A.1)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        has_transform = config.output_head_config.transform != "none"
        self.activation = ACTIVATIONS[config.output_head_config.activation if has_transform else "linear"]
        dim, bias = config.embedding_dim, config.has_bias("transform")
        self.transform = Linear(config.d_model, dim, bias=bias) if has_transform else nn.Identity()
        self.norm = make_norm(config, dim) if has_transform else nn.Identity()
        self.projection = Linear(dim, config.vocabulary_size, bias=config.output_head_config.bias is not False)

    def transformed(self, hidden_states: Float[Tensor, "*shape d_model"]) -> Float[Tensor, "*shape embedding_dim"]:
        """norm(activation(hidden W)), or the hidden states if there is no transform."""
        transformed: Tensor = self.norm(self.activation(self.transform(hidden_states)))
        return transformed


def _first_token(hidden_states: Tensor, padding_mask: Tensor) -> Tensor:
    return hidden_states[:, 0]


def _second_token(hidden_states: Tensor, padding_mask: Tensor) -> Tensor:
    has_second = padding_mask[:, :2].sum(1) > 1  # a text of one token has no second one
    return torch.where(has_second[:, None], hidden_states[:, :2][:, -1], hidden_states[:, 0])


def _mean_pool(hidden_states: Tensor, padding_mask: Tensor) -> Tensor:
    return (hidden_states * padding_mask[..., None]).sum(1) / padding_mask.sum(1, keepdim=True).clamp(min=1)


def _mean_but_first(hidden_states: Tensor, padding_mask: Tensor) -> Tensor:
    is_only = ~padding_mask[:, 1:].any(1, keepdim=True)  # a text of one token has nothing else to pool
    return _mean_pool(hidden_states, torch.cat((padding_mask[:, :1] & is_only, padding_mask[:, 1:]), dim=1))


def _last_token(hidden_states: Tensor, padding_mask: Tensor) -> Tensor:
    texts, positions = (torch.arange(size, device=hidden_states.device) for size in hidden_states.shape[:2])
    return hidden_states[texts, (positions * padding_mask).argmax(1)]


def _max_pool(hidden_states: Tensor, padding_mask: Tensor) -> Tensor:
    return hidden_states.masked_fill(~padding_mask[..., None], torch.finfo(hidden_states.dtype).min).amax(1)


@dataclass(frozen=True)
class Pooling:
    """A way to pool the hidden states x of n tokens into one: title, formula, and the function (of x and the mask)."""

    title: str
    formula: str
    pool: Callable[[Tensor, Tensor], Tensor]


POOLINGS: Registry[Pooling] = Registry(
    "pooling",
    {
        "first": Pooling("First token", "x_{0}", _first_token),
        "second": Pooling("Second token", "x_{1}", _second_token),
        "mean": Pooling("Mean of all tokens", "Σ_{i} x_{i} / n", _mean_pool),
        "mean-but-first": Pooling("Mean of all but the first token", "Σ_{i>0} x_{i} / (n−1)", _mean_but_first),
        "max": Pooling("Maximum over all tokens", "max_{i} x_{i}", _max_pool),
        "last": Pooling("Last token", "x_{n−1}", _last_token),
    },
)


def pooling_names(config: Config) -> tuple[str, ...]:
    """The keys of the poolings of a classifier of whole texts, one or two."""
    return (config.pooling, *filter(None, [config.output_head_config.second_pooling]))


def pooling_title(config: Config) -> str:
    """The title of a classifier's pooling, or of both."""
    return " · ".join(POOLINGS[name].title for name in pooling_names(config))


def _label_projection(config: Config) -> nn.Linear:
    if not config.labels:
        raise ConfigError(f"The output head {config.output_head!r} needs labels.")
    return Linear(_transform_dims(config)[1], len(config.labels), bias=config.output_head_config.bias is not False)


class LabelHead(PredictionHead):
    """Logits of labels: transform(hidden) W + b."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.transform = HeadTransform(config)
        self.projection = _label_projection(config)

    def transformed(self, hidden_states: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape transform_dim"]:
        """The transform of each token, or of the pooled tokens."""
        transformed: Tensor = self.transform(hidden_states)
        return transformed


class TokenClassifier(LabelHead):
    """Logits of the labels of each token."""


class SequenceClassifier(LabelHead):
    """Logits of the labels of a whole text, from its pooled tokens."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.poolings = [POOLINGS[name] for name in pooling_names(config)]
        self.skipped_tokens = config.output_head_config.skipped_tokens

    def pool(
        self, hidden_states: Float[Tensor, "batch pos d_model"], padding_mask: Bool[Tensor, "batch pos"]
    ) -> Float[Tensor, "batch dim"]:
        """The pooled vector, or two beside each other; tokens to skip are treated as padding."""
        positions = torch.arange(padding_mask.shape[1], device=padding_mask.device)
        pooled = padding_mask & ((positions < 1) | (positions > self.skipped_tokens))
        return torch.cat([pooling.pool(hidden_states, pooled) for pooling in self.poolings], dim=-1)

    def forward(
        self, hidden_states: Float[Tensor, "batch pos d_model"], padding_mask: PaddingMask = None
    ) -> Float[Tensor, "batch label"]:
        """transform(pool(hidden)) W + b."""
        if padding_mask is None:
            padding_mask = torch.ones(hidden_states.shape[:2], dtype=torch.bool, device=hidden_states.device)
        return super().forward(self.pool(hidden_states, padding_mask))


def _next_token_head(config: Config) -> nn.Module:
    """The head of a decoder; that of a masked language model if it has its transform (BERT as a decoder)."""
    has_transform = config.output_head_config.transform == "dense-norm"
    return MaskedLanguageModelHead(config) if has_transform else LanguageModelHead(config)


OUTPUT_HEADS: Registry[Callable[[Config], nn.Module]] = Registry(
    "output head",
    {
        "none": NoHead,
        "language-model": _next_token_head,
        "masked-language-model": MaskedLanguageModelHead,
        "ctc": LanguageModelHead,  # the same map, of each frame (Graves et al. 2006)
        "sequence-classifier": SequenceClassifier,
        "token-classifier": TokenClassifier,
    },
)
LABEL_HEADS = ("sequence-classifier", "token-classifier")  # the heads that need labels
