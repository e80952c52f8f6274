"""A model with layers of linear attention on the page: every answer is right or explains why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight.checkpoints import save
from headlight.errors import ConfigError
from headlight.views.words import in_line
from tests.app.asking import ask_steps, ask_views, ask_worker
from tests.model import toys

OTHER = toys.TEXT.replace("cat", "dog")
TRACE = toys.traced(toys.decoder(**toys.HYBRID))
LAST = len(TRACE.text.ids) - 1


@pytest.fixture(autouse=True)
def hybrid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "hybrid", toys.decoder(**toys.HYBRID), toys.causal(), dtype="float32")
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))


def ask(route: str, **body: Any) -> tuple[dict[str, Any], np.ndarray]:
    meta, numbers = ask_worker(route, model="hybrid", text=toys.TEXT, **body)
    return meta, np.frombuffer(numbers, "<f4" if len(numbers) % 4 == 0 else "u1")


def test_the_layers_of_attention_are_shown_and_predict_what_a_run_predicts() -> None:
    meta, _ = ask("trace")
    assert [group["layers"] for group in meta["attention_groups"]] == [2]
    assert "the others, its layers 2, 4, are numbered from 0 here." in meta["notes"][0]
    table, *_ = ask_views("logit_lens", model="hybrid", text=toys.TEXT, query=LAST)
    wanted = int(TRACE["logits"][LAST].argmax())
    assert len(table["rows"]) == 3 + 1 and table["texts"][2][-1] == in_line(toys.causal().token_text(wanted))


def test_a_head_off_is_what_a_run_without_it_gives() -> None:
    views, _ = ask_steps("head_ablation", model="hybrid", text=toys.TEXT, query=LAST)
    changes = np.array(views["matrix"]["values"][1])
    assert len(changes) == 4 and np.isfinite(changes).all() and np.abs(changes).max() > 1e-3


@pytest.mark.parametrize(
    ("route", "asked", "sentence"),
    [
        (
            "analysis",
            {"analysis": "information_flow", "query": LAST},
            "layers of linear attention, .* information flow is not available",
        ),
        ("logit_attribution", {"query": LAST}, "a decomposition of the residual stream is not available"),
        (
            "long_analysis",
            {"analysis": "head_removal", "layer": 1, "head": 2, "query": LAST},
            "a decomposition of the",
        ),
        (
            "analysis_step",
            {"analysis": "patching", "choice": {"patch_from": OTHER, "patch": "direct_heads", "query": LAST}},
            "patching of a direct path is not",
        ),
        ("head_view", {"layer": 1, "quantity": "rollout"}, "attention rollout is not available"),
        ("head_view", {"layer": 1, "quantity": "moved"}, "A gate changes what the heads of this model move"),
        ("trace", {"measure": "moved"}, "so only their weights can be shown"),
    ],
)
def test_what_counts_on_attention_alone_is_refused_by_a_sentence(
    route: str, asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        ask(route, **asked)
