"""The guided tour switches heads off that matter, and a large change leads to the analyses that explain it."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from headlight.attention_groups import attention_groups
from headlight.checkpoints.catalog import card_head, card_tour
from headlight.paths import assets_dir
from headlight_app.explore.answers.explanations.offer import LARGE
from headlight_app.inference.head_selection import default_head, opening_head
from headlight_app.inference.open_models import find_model
from tests.app.asking import ask_views, ask_worker
from tests.bench.tour import most_attended

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

MODELS = sorted(path.parent.name for path in (assets_dir() / "models").glob("*/config.json"))
# Without a mask, a token sees itself or the next one; sort compares a number with itself.
LOOKS_AT_ITSELF = {"ladder-2-positions", "ladder-3-heads", "ladder-4-feed-forward", "sort"}
BEN = "decoder.5.self.weights[5]=set:0"  # without it stories-causal is less sure of Ben
STORY: dict[str, Any] = {"model": "stories-causal", "text": "Anna and Ben had a red ball. One day Anna and"}


@cache
def page_of(model: str) -> dict[str, Any]:
    return ask_worker("explore_page", model=model)[0]


def edits_of(tour: dict[str, Any]) -> list[str]:
    """The edits that a tour makes."""
    attentions = [each["attention"].split(".") for each in tour["heads"]]
    return [
        f"{stack}.{each['layer']}.{kind}.weights[{each['head']}]=set:0"
        for each, (stack, kind) in zip(tour["heads"], attentions, strict=True)
    ]


@pytest.mark.parametrize("model", MODELS)
def test_without_the_heads_of_the_tour_the_first_answer_is_another_or_moves_by_20_points(model: str) -> None:
    opening, tour = page_of(model)["opening"], page_of(model)["tour"]
    question = {"model": model, "text": opening["text"], "source": opening["source"], "query": tour["query"]}
    shown = ask_worker("trace", **question, edits=edits_of(tour))[0]["predictions"][0]["candidates"]
    before, after = (max(shown, key=lambda one: one[side]) for side in ("before", "after"))
    assert before["id"] != after["id"] or abs(before["before"] - before["after"]) >= LARGE


@pytest.mark.parametrize("model", MODELS)
def test_the_page_opens_with_the_first_head_of_the_tour_if_it_shows_that_attention(model: str) -> None:
    first, opened = page_of(model)["tour"]["heads"][0], attention_groups(find_model(model).config)[0].name
    of_tour = [first["layer"], first["head"]] if first["attention"] == opened else page_of(model)["default_head"]
    assert page_of(model)["opening_head"] == of_tour


@pytest.mark.parametrize("model", sorted(set(MODELS) - LOOKS_AT_ITSELF))
def test_the_first_head_of_the_tour_looks_at_another_token_than_its_own(model: str) -> None:
    opening, tour = page_of(model)["opening"], page_of(model)["tour"]
    question = {"model": model, "text": opening["text"], "source": opening["source"]}
    shown, first = ask_worker("trace", **question, query=tour["query"])[0]["predictions"][0], tour["heads"][0]
    groups = {group.name: group for group in attention_groups(find_model(model).config)}
    place = groups[first["attention"]], first["layer"], first["head"]
    assert most_attended(question, place, shown["position"]).strip()
    assert max(shown["candidates"], key=lambda one: one["after"])["text"].strip(), "an answer that can be read"


@pytest.mark.parametrize(
    ("card", "tour"),
    [
        ("---\ntour: decoder.5.self[5]\n---\n", ((("decoder.5.self", 5),), -1)),
        (
            "---\ntour: decoder.0.cross[1], decoder.2.cross[3] at 4\n---\n",
            ((("decoder.0.cross", 1), ("decoder.2.cross", 3)), 4),
        ),
        ("---\nlicense: mit\n---\ntour: decoder.5.self[5]", ((), -1)),
        ("---\ntour: decoder.5.self[5], decoder.5.self[5\n---\n", ((("decoder.5.self", 5),), -1)),
        ("---\ntour: decoder.5.self[5], decoder.5.self[5] at 1\n---\n", ((("decoder.5.self", 5),), 1)),
        (f"---\ntour: {'decoder.5.self[5], ' * 30}decoder.0.self[1] at 12\n---\n", ((), -1)),
    ],
)
def test_a_card_names_the_heads_of_its_tour(card: str, tour: object) -> None:
    assert card_tour(card) == tour


@pytest.mark.parametrize(
    ("card", "head"),
    [
        ("---\nhead: encoder.1.self[7]\n---\n", ("encoder.1.self", 7)),
        ("---\nhead: encoder.1.self\n---\n", None),
        ("---\nhead: encoder.1.self[7], encoder.1.self[8]\n---\n", None),
        ("---\nlicense: mit\n---\nhead: encoder.1.self[7]", None),
    ],
)
def test_a_card_names_the_head_shown_first(card: str, head: object) -> None:
    assert card_head(card) == head


def test_an_address_without_a_head_shows_the_same_one_whatever_the_first_example_is() -> None:
    assert default_head(find_model("sentiment")) == (1, 7)
    assert opening_head(find_model("sentiment")) == (1, 6)


def test_a_head_that_moves_the_answer_much_leads_to_what_explains_it() -> None:
    (row,) = ask_worker("analysis", analysis="offer", **STORY, edits=[BEN])[0]["rows"]
    assert row["text"].startswith("Without layer 5, head 5 \u2068“Ben”\u2069 falls from 87.5 % to 58.5 %.")
    (offered,) = row["views"]
    assert offered["options"] == ["See what reacts", "Find the heads that change the answer"]
    for pick in offered["picks"]:
        assert (pick["tab"], pick["attention"], pick["layer"], pick["head"]) == ("layers", "decoder.self", 5, 5)
        assert pick["toggle_edits"] == [BEN], "with the head off, there would be nothing left to explain"
    assert [pick["analysis"] for pick in offered["picks"]] == ["head_removal", "head_search"]


@pytest.mark.parametrize(
    "edits",
    [[], ["decoder.0.self.weights[0]=set:0"], [BEN, "decoder.1.residual[2]=scale:2"], [BEN.replace("0", "0.5")]],
)
def test_a_small_change_and_one_of_other_edits_lead_nowhere(edits: list[str]) -> None:
    assert ask_views("offer", **STORY, edits=edits) == []


def test_of_several_masks_the_chosen_one_leads_to_what_explains_it() -> None:
    question: dict[str, Any] = {"model": "stories-masked", "text": "The girl [MASK] that [MASK] was tired."}
    off = {"edits": ["encoder.5.self.weights[1]=set:0"]}
    first, second = (one["position"] for one in ask_worker("trace", **question)[0]["predictions"])
    assert ask_views("offer", **question, **off, query=first) == ask_views("offer", **question, **off) == []
    (row,) = ask_worker("analysis", analysis="offer", **question, **off, query=second)[0]["rows"]
    assert "\u2068“she”\u2069 falls" in row["text"]
