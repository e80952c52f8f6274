"""What sits on top of a stack: language heads, classifiers of sequences and of tokens."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from model.array_types import Bool, Float
from model.config import Config
from model.errors import ConfigError
from model.nn.feedforward import ACTIVATIONS
from model.nn.norms import make_norm, soft_cap
from model.registry import Registry

Real = Bool[Tensor, "batch pos"] | None


class NoTop(nn.Module):
    """A bare model: attention and hidden states, no answer."""

    def __init__(self, config: Config) -> None:
        super().__init__()

    def forward(self, hidden: Float[Tensor, "*shape width"], real: Real = None) -> None:
        """Nothing."""


class LanguageHead(nn.Module):
    """A logit for each token of the vocabulary: which comes next (Bengio et al. 2003)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.project = nn.Linear(config.token_width, config.vocabulary, bias=bool(config.answer.bias))
        self.scale, self.cap = config.answer.scale, config.answer.cap

    def forward(self, hidden: Float[Tensor, "*shape width"], real: Real = None) -> Float[Tensor, "*shape token"]:
        """hidden W_U."""
        return soft_cap(self.project(hidden * self.scale), self.cap)


class Transform(nn.Module):
    """What some classifiers do with hidden states first: a linear map, a bend, and maybe a norm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        kind = config.answer.transform or "none"
        there = kind != "none"
        self.activation = ACTIVATIONS[config.answer.activation if there else "linear"]
        bias = config.has_bias("transform")
        self.dense = nn.Linear(config.width, config.width, bias=bias) if there else nn.Identity()
        self.norm = make_norm(config, config.width) if kind == "dense-norm" else nn.Identity()

    def forward(self, hidden: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        """norm(activation(hidden W))."""
        transformed: Tensor = self.norm(self.activation(self.dense(hidden)))
        return transformed


class MaskedLanguageHead(nn.Module):
    """A logit for each token of the vocabulary: which was masked (Devlin et al. 2019, appendix A.1)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        there = config.answer.transform != "none"
        self.activation = ACTIVATIONS[config.answer.activation if there else "linear"]
        width, bias = config.token_width, config.has_bias("transform")
        self.transform = nn.Linear(config.width, width, bias=bias) if there else nn.Identity()
        self.norm = make_norm(config, width) if there else nn.Identity()
        self.project = nn.Linear(width, config.vocabulary, bias=config.answer.bias is not False)

    def forward(self, hidden: Float[Tensor, "*shape width"], real: Real = None) -> Float[Tensor, "*shape token"]:
        """norm(activation(hidden W)) W_U + b, or hidden W_U + b where there is no transform."""
        logits: Tensor = self.project(self.norm(self.activation(self.transform(hidden))))
        return logits


def _first(hidden: Tensor, real: Tensor) -> Tensor:
    return hidden[:, 0]


def _mean(hidden: Tensor, real: Tensor) -> Tensor:
    return (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True).clamp(min=1)


def _last(hidden: Tensor, real: Tensor) -> Tensor:
    places = torch.arange(hidden.shape[1], device=hidden.device)
    return hidden[torch.arange(len(hidden)), (places * real).argmax(1)]


def _max(hidden: Tensor, real: Tensor) -> Tensor:
    return hidden.masked_fill(~real[..., None], torch.finfo(hidden.dtype).min).amax(1)


_POOL: Registry[Callable[[Tensor, Tensor], Tensor]] = Registry(
    "pooling", {"first": _first, "mean": _mean, "max": _max, "last": _last}
)


def _to_labels(config: Config) -> nn.Linear:
    if not config.labels:
        raise ConfigError(f"The top {config.top!r} chooses among labels; name them in labels.")
    return nn.Linear(config.width, len(config.labels), bias=config.answer.bias is not False)


class SequenceClassifier(nn.Module):
    """One answer for a whole text, from its first or last token, the mean, or the maximum over its tokens."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.pool = _POOL[config.pooling]
        self.transform = Transform(config)
        self.project = _to_labels(config)

    def forward(self, hidden: Float[Tensor, "batch pos width"], real: Real = None) -> Float[Tensor, "batch label"]:
        """transform(pool(hidden)) W + b; padding takes no part."""
        present = real if real is not None else torch.ones(hidden.shape[:2], dtype=torch.bool, device=hidden.device)
        logits: Tensor = self.project(self.transform(self.pool(hidden, present)))
        return logits


class TokenClassifier(nn.Module):
    """One answer for each token."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.transform = Transform(config)
        self.project = _to_labels(config)

    def forward(self, hidden: Float[Tensor, "*shape width"], real: Real = None) -> Float[Tensor, "*shape label"]:
        """transform(hidden) W + b."""
        logits: Tensor = self.project(self.transform(hidden))
        return logits


TOPS: Registry[Callable[[Config], nn.Module]] = Registry(
    "top",
    {
        "none": NoTop,
        "language": LanguageHead,
        "masked-language": MaskedLanguageHead,
        "sequence-classifier": SequenceClassifier,
        "token-classifier": TokenClassifier,
    },
)
