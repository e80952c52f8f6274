"""The similarity of a text and an image from the two towers of CLIP, and the effect of each head on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.ablation import KEEP
from headlight.analysis.sentences.similarity import HeadEffect, strongest_first, without_each_head
from headlight.array_types import Float
from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.load import Checkpoint, load
from headlight.checkpoints.source import TOWERS, open_source
from headlight.errors import CheckpointError, TextError
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.vision.image import ProcessedImage

PROJECTIONS = ("text_projection.weight", "visual_projection.weight")
OLD_END_TOKEN = 2  # in configs with a wrong end token: the largest id of a text marks its end


@dataclass(frozen=True, eq=False)
class Towers:
    """A model with two towers, and the projections into their common vector space.

    `projections` map the last hidden states of a text's end token (without one, its first token) and of an image's
    class token to vectors; `temperature` is the factor on cosines when several texts share a softmax.
    """

    text: Checkpoint
    image: Checkpoint
    projections: tuple[Float[Tensor, "vector text_channel"], Float[Tensor, "vector image_channel"]]
    temperature: float
    end_token: int | None


def load_towers(folder: Path, name: str, device: str = "auto") -> Towers:
    """The towers of a folder. Raises CheckpointError for a model that is not of CLIP's family or lacks tensors."""
    source = open_source(folder, name)
    model_type = source.config_json.get("model_type")
    if model_type not in ("clip", "chinese_clip"):
        raise CheckpointError(
            f"{name} is a {model_type}; a text and an image are compared by a model of CLIP's family."
        )
    tensors = source.open_tensors()
    if missing := [each for each in (*PROJECTIONS, "logit_scale") if each not in tensors]:
        raise CheckpointError(f"{name}: missing tensors: {', '.join(missing)}.")
    text, image = (load(folder / tower, name=f"{name}/{tower}", device=device) for tower in TOWERS)
    to_vector, to_vector_of_image = (tensors[each].double() for each in PROJECTIONS)
    for projection, tower in ((to_vector, text), (to_vector_of_image, image)):
        if projection.dim() != 2 or projection.shape != (len(to_vector), tower.model.config.d_model):
            raise CheckpointError(f"{name}: its projections do not fit its towers.")
    scale = tensors["logit_scale"]
    if scale.numel() != 1:
        raise CheckpointError(f"{name}: its logit_scale holds {scale.numel()} numbers; it must hold one.")
    inner = ConfigReader(source.config_json, name).nested("text_config") or ConfigReader({}, name)
    end_token = inner.integer("eos_token_id", 49_407) if model_type == "clip" else None
    return Towers(text, image, (to_vector, to_vector_of_image), float(scale.exp()), end_token)


@dataclass(frozen=True)
class ImageTextSimilarity:
    """The comparison of a text and an image by two towers; `score` is the cosine times the temperature.

    `vectors` have the length 1; they are projections of the hidden states at the tokens `places`.
    """

    traces: tuple[Trace, Trace]
    places: tuple[int, int]
    vectors: Float[np.ndarray, "2 vector"]
    cosine: float
    score: float


def image_text_similarity(towers: Towers, text: str, image: ProcessedImage) -> ImageTextSimilarity:
    """Compare a text and an image. Raises TextError for a text without its end token, or one that is too long."""
    traces = (
        run(towers.text.model, towers.text.tokenizer, text, keep=KEEP),
        run(towers.image.model, towers.image.tokenizer, image, keep=KEEP),
    )
    places = (0 if towers.end_token is None else _end_of(traces[0], towers.end_token), 0)
    states = [
        torch.from_numpy(trace[f"{trace.config.stacks[-1]}.final_residual"].copy())[place]
        for trace, place in zip(traces, places, strict=True)
    ]
    one, other = (_vectors(state, projection) for state, projection in zip(states, towers.projections, strict=True))
    cosine = float(one @ other)
    vectors = torch.stack((one, other)).numpy()
    return ImageTextSimilarity(traces, places, vectors, cosine, cosine * towers.temperature)


def _end_of(trace: Trace, end_token: int) -> int:
    """The position of a text's end token."""
    ids = trace.text.ids
    if end_token == OLD_END_TOKEN:
        return ids.index(max(ids))
    if end_token not in ids:
        raise TextError(f"This text has no end token ({end_token}), whose hidden state represents the text.")
    return ids.index(end_token)


def _vectors(states: Float[Tensor, "*batch channel"], projection: Tensor) -> Float[Tensor, "*batch vector"]:
    return torch.nn.functional.normalize(states.detach().cpu().double() @ projection.T, dim=-1)


@torch.inference_mode()
def image_text_without_heads(towers: Towers, found: ImageTextSimilarity) -> tuple[HeadEffect, ...]:
    """The cosine without each single head of both towers, the largest change first."""
    effects = []
    for side, (tower, name) in enumerate(zip((towers.text, towers.image), TOWERS, strict=True)):
        other = torch.from_numpy(found.vectors[1 - side])
        for path, first, (final,) in without_each_head(tower.model, (found.traces[side],)):
            cosines = (_vectors(final[:, found.places[side]], towers.projections[side]) @ other).tolist()
            effects += [HeadEffect(f"{name}: {path}", first + row, cosine) for row, cosine in enumerate(cosines)]
    return strongest_first(effects, found.cosine)
