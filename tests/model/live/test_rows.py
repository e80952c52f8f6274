"""Every row of the registries of a network: the engine computes what `run` computes, or there is no plan of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headlight.config import RopeConfig
from headlight.errors import ConfigError
from headlight.live.plan import plan_of
from headlight.nn.attention import QK_NORMS
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.layers import FEED_FORWARDS, NORMS
from headlight.nn.masks import mask_examples
from headlight.nn.output_heads import POOLINGS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.rope_scaling import ROPE_SCALINGS
from headlight.nn.stack import NORM_PLACEMENTS
from tests.model import toys
from tests.model.live.engine import Request, assert_engine_agrees

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("unchecked_shapes")]
LABELS: dict[str, Any] = {"output_head": "sequence-classifier", "labels": ("a", "b", "c")}
ROPE = {"original_context_length": 4, "factor": 2.0, "high_freq_factor": 4.0}
FACTORS = {"original_context_length": 4, "short_factor": (1.0, 2.0), "long_factor": (3.0, 4.0)}
# Masks of texts of one length (the page paints at the hook points of masks), and a pooling of pictures.
REFUSED: tuple[dict[str, Any], ...] = (
    {"masks": ("custom:100/110/111",)},
    {"masks": ("painted:3-1",)},
    LABELS | {"pooling": "mean-but-first"},
)


def choices() -> Iterator[Any]:
    """A choice of each row, and all unusual ones together."""
    rows: dict[str, Any] = {
        "positional_encoding": POSITIONAL_ENCODINGS,
        "attention_function": ATTENTION_FUNCTIONS,
        "norm": NORMS,
        "norm_placement": toys.NORMED_PLACEMENTS,
        "feed_forward": FEED_FORWARDS,
        "attention.qk_norm": QK_NORMS,
    }
    assert {*toys.NORMED_PLACEMENTS} < {*NORM_PLACEMENTS}
    for field, registry in rows.items():
        for name in registry:
            yield pytest.param({field: name}, id=f"{field}={name}")
    for mask in mask_examples():
        yield pytest.param({"masks": () if mask == "none" else (mask,)}, id=f"mask={mask}")
    for pooling in POOLINGS:
        yield pytest.param(LABELS | {"pooling": pooling}, id=f"pooling={pooling}")
    for scaling in ROPE_SCALINGS:
        rope = RopeConfig(scaling=scaling, **(FACTORS if scaling == "longrope" else ROPE))
        yield pytest.param({"positional_encoding": "rope", "rope": rope}, id=f"rope={scaling}")
    for number, several in enumerate((*toys.UNUSUAL, toys.HYBRID)):
        yield pytest.param(several, id=f"unusual {number}")


@pytest.mark.parametrize("chosen", [*choices()])
def test_a_row_is_computed_or_refused(chosen: dict[str, Any], tmp_path: Path) -> None:
    model = toys.encoder(**chosen) if "pooling" in chosen else toys.decoder(**chosen)
    tokenizer = toys.masked() if "pooling" in chosen else toys.causal()
    if chosen in REFUSED:
        with pytest.raises(ConfigError):
            plan_of(model)
        return
    stack = model.config.stacks[-1]
    edits = (f"{stack}.0.self.weights[0]=set:0", f"{stack}.1.self.mask[1]=set:1", f"{stack}.position_ids[1]=set:0")
    requests = [Request("the"), Request(toys.TEXT), Request(toys.SENTENCE, edits), Request(toys.TEXT, edits, "alibi")]
    assert_engine_agrees(plan_of(model, ("alibi",)), model, tokenizer, requests, tmp_path)
