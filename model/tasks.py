"""What sits on top of a stack: language heads, classifiers of sequences and of tokens."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.config import Config
from model.errors import ConfigError
from model.layers import NORMS
from model.registry import Registry
from model.shapes import Bool, Float

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
        self.project = nn.Linear(config.width, config.vocabulary, bias=False)

    def forward(self, hidden: Float[Tensor, "*shape width"], real: Real = None) -> Float[Tensor, "*shape token"]:
        """hidden W_U."""
        logits: Tensor = self.project(hidden)
        return logits


class MaskedLanguageHead(nn.Module):
    """A logit for each token of the vocabulary: which was masked (Devlin et al. 2019, appendix A.1)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.transform = nn.Linear(config.width, config.width, bias=config.bias)
        self.norm = NORMS[config.norm](config.width, config.norm_epsilon, config.bias)
        self.project = nn.Linear(config.width, config.vocabulary, bias=True)

    def forward(self, hidden: Float[Tensor, "*shape width"], real: Real = None) -> Float[Tensor, "*shape token"]:
        """norm(gelu(hidden W)) W_U + b."""
        logits: Tensor = self.project(self.norm(functional.gelu(self.transform(hidden))))
        return logits


def _first(hidden: Tensor, real: Tensor) -> Tensor:
    return hidden[:, 0]


def _mean(hidden: Tensor, real: Tensor) -> Tensor:
    return (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True).clamp(min=1)


def _max(hidden: Tensor, real: Tensor) -> Tensor:
    return hidden.masked_fill(~real[..., None], torch.finfo(hidden.dtype).min).amax(1)


_POOL: Registry[Callable[[Tensor, Tensor], Tensor]] = Registry("pooling", {"first": _first, "mean": _mean, "max": _max})


def _to_labels(config: Config) -> nn.Linear:
    if not config.labels:
        raise ConfigError(f"The top {config.top!r} chooses among labels; name them in labels.")
    return nn.Linear(config.width, len(config.labels))


class SequenceClassifier(nn.Module):
    """One answer for a whole text, from its first token, the mean, or the maximum over its tokens."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.pool = _POOL[config.pooling]
        self.project = _to_labels(config)

    def forward(self, hidden: Float[Tensor, "batch pos width"], real: Real = None) -> Float[Tensor, "batch label"]:
        """pool(hidden) W + b; padding takes no part."""
        present = real if real is not None else torch.ones(hidden.shape[:2], dtype=torch.bool, device=hidden.device)
        logits: Tensor = self.project(self.pool(hidden, present))
        return logits


class TokenClassifier(nn.Module):
    """One answer for each token."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.project = _to_labels(config)

    def forward(self, hidden: Float[Tensor, "*shape width"], real: Real = None) -> Float[Tensor, "*shape label"]:
        """hidden W + b."""
        logits: Tensor = self.project(hidden)
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
