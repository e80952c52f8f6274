"""The Models page gets the right words and numbers about a checkpoint."""

import shutil
from pathlib import Path

import pytest

from headlight.config import AlternatingUpdatesConfig, ExpertsConfig, PerLayerConfig
from headlight_app.engine import contract
from headlight_app.engine.contract import ModelsRequest
from headlight_app.inference.model_listing import ListedModel, listed_models
from headlight_app.inference.model_pool import ModelPool
from headlight_app.models.answers import cards as subject
from headlight_app.models.answers.cards import (
    MODEL_TASKS,
    answer_model_card,
    answer_models,
    model_task,
    opening_problem,
)
from headlight_app.models.contract import ModelCardRequest
from tests.model import toys


def listed(name: str) -> ListedModel:
    return next(card for card in listed_models() if card.name == name)


def told(name: str) -> contract.ListedModel:
    """The list entry that the page gets for a model."""
    return next(model for model in answer_models(ModelsRequest()).answer.models if model.name == name)


def card_text(name: str) -> str:
    return answer_model_card(ModelCardRequest(model=name)).answer.text


@pytest.mark.parametrize("name", ["next", "masked", "both", "mood"])
def test_every_kind_of_model_opens_and_has_a_task(name: str) -> None:
    assert opening_problem(listed(name)) == "" and model_task(listed(name)) in MODEL_TASKS


def test_a_model_is_told_by_its_norm_feed_forward_and_pooling() -> None:
    config = listed("mood").metadata.config
    assert config is not None
    parts = {
        "norm": "layernorm",
        "norm_placement": "sandwich",
        "feed_forward": "geglu",
        "d_ff": 1_200,
        "pooling": "max",
    }
    details = subject._details(listed("mood"), config.replace(**parts))
    for name, value in {
        "Norm": "LayerNorm",
        "Norm placement": "Before and after each sublayer",
        "Feed-forward": "GEGLU, 1,200 neurons",
        "Pooling": "Maximum over all tokens",
    }.items():
        assert details[name] == value
    widths, streams = PerLayerConfig(d_ffs=(2_400, 1_200)), AlternatingUpdatesConfig(streams=3)
    unlike = config.replace(layers=2, per_layer=widths, **{"residual.alternating_updates": streams})
    details = subject._details(listed("mood"), unlike)
    assert details["Feed-forward"].endswith(", 1,200 or 2,400 neurons") and details["Residual streams"] == "3"
    for dense, words in (((), ""), ((1,), "1,200 neurons or ")):
        experts = ExpertsConfig(count=4, d_ff=300, dense_layers=dense)
        some = config.replace(layers=2, d_ff=1_200, experts=experts)
        wanted = f", {words}4 experts of 300 neurons, 2 for each token"
        assert subject._details(listed("mood"), some)["Feed-forward"].endswith(wanted)
    mixed = config.replace(layers=2, architecture="decoder", **toys.HYBRID)
    assert subject._details(listed("mood"), mixed)["Layers without maps"] == (
        "4 of linear attention; in the checkpoint, the others are 2, 4"
    )
    assert "Pooling" in told("mood").details and "Pooling" not in told("next").details


def test_a_model_that_needs_too_much_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    models = ModelPool(10_000)
    monkeypatch.setattr(subject, "model_pool", lambda: models)
    assert "10.0 kB are allowed here" in opening_problem(listed("next"))
    assert told("next").problem == opening_problem(listed("next"))


def test_the_card_of_a_model_comes_as_its_author_wrote_it(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(toys / "next", tmp_path / "next")
    (tmp_path / "next" / "README.md").write_text("# A <b>toy</b>")
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    assert card_text("next") == "# A <b>toy</b>"
    assert card_text(str(toys / "next")) == "", "a path is not a model name"
