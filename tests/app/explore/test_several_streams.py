"""A model with several residual streams on the page: every answer is right or explains why there is none."""

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

LAST = len(toys.traced(toys.decoder(**toys.STREAMS)).text.ids) - 1


@pytest.fixture(autouse=True)
def streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "streams", toys.decoder(**toys.STREAMS), toys.causal(), dtype="float32")
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))


def ask(route: str, **body: Any) -> tuple[dict[str, Any], np.ndarray]:
    meta, numbers = ask_worker(route, model="streams", text=toys.TEXT, **body)
    return meta, np.frombuffer(numbers, "<f4")


def test_the_last_depth_of_the_lens_is_the_answer_and_the_map_is_told() -> None:
    meta, _ = ask("analysis", analysis="logit_lens", query=LAST)
    (lens,) = (row for row in meta["rows"] if row["text"])
    table = lens["views"][0]
    wanted = int(toys.traced(toys.decoder(**toys.STREAMS))["logits"][LAST].argmax())
    assert len(table["rows"]) == 5 + 1 and table["texts"][4][-1] == in_line(toys.causal().token_text(wanted))
    assert (
        "each layer: the streams are merged into one; then the final norm and the language-model head" in lens["text"]
    )


def test_the_parts_of_the_answer_add_up_to_it() -> None:
    meta, logits = ask("logit_attribution", query=LAST)
    assert logits.sum(dtype=np.float64) == pytest.approx(meta["logit"], abs=1e-4)
    meta, _ = ask_worker("analysis", analysis="logit_attribution", model="streams", text=toys.TEXT, query=LAST)
    assert "The mixing weights and scales of the residual streams" in meta["rows"][-1]["text"]


def test_a_head_off_is_what_a_run_without_it_gives() -> None:
    views, _ = ask_steps("head_ablation", model="streams", text=toys.TEXT, query=LAST)
    changes = np.array(views["matrix"]["values"][1])
    _, shown = ask_views("head_removal", model="streams", text=toys.TEXT, layer=1, head=2, query=LAST)
    assert shown["start"][1] + sum(dict(shown["parts"]).values()) == pytest.approx(shown["end"][1], abs=1e-4)
    assert len(changes) == 4 and np.isfinite(changes).all()


def test_what_only_one_stream_has_is_refused_with_a_sentence_or_left_out() -> None:
    with pytest.raises(ConfigError, match="several residual streams side by side; information flow is not available"):
        ask("analysis", analysis="information_flow", query=LAST)
    _, scores, *_ = ask_views("token_rankings", model="streams", text=toys.TEXT, query=LAST)
    assert "Leave one out" in scores["rows"] and "ALTI-Logit" not in scores["rows"]
