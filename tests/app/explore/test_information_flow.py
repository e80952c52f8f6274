"""The view of the information flow: its columns, edges, what a click chooses, and the numbers that are saved."""

from typing import Any

import numpy as np
import pytest

from headlight.analysis.information_flow import information_flow
from headlight.errors import HeadlightError
from headlight.views.words import in_line
from headlight_app.explore.answers.layer_analysis import extended_trace
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_views, ask_worker, make_question

TEXT = "the cat sat on the mat"
MODEL = "positions-decoder-rope"  # a trained one, whose heads write more than a hundredth of a stream
KIND, ROW, SOURCE, TARGET, SHARE, NOTE, PICK = range(7)


def flow(model: str = "next", text: str = TEXT, **fields: Any) -> dict[str, Any]:
    slider, graph = ask_views("information_flow", model=model, text=text, **fields)
    assert slider["form"] == "slider"
    return graph


def test_the_edges_are_those_of_the_analysis_down_to_the_asked_token() -> None:
    graph = flow(MODEL, query=4, least_share=2)
    question = resolve(make_question(MODEL, TEXT))
    found = information_flow(question.model, extended_trace(question), 4, 0.02)
    assert len(graph["edges"]) == len(found) and graph["note"].startswith(f"{len(found)} shares.")
    told = [(graph["tokens"][edge[SOURCE]][1], graph["tokens"][edge[TARGET]][1]) for edge in graph["edges"]]
    assert told == [(edge.source, edge.target) for edge in found]
    assert [edge[SHARE] for edge in graph["edges"]] == pytest.approx([edge.importance for edge in found], abs=1e-4)
    assert graph["tokens"][graph["end"]] == ["text", 4] and max(position for _, position in graph["tokens"]) == 4
    assert graph["columns"][graph["end"]] == in_line(question.trace.text.token_texts[4])
    assert graph["rows"] == ["emb.", "L0", "L1", "L2"]
    assert set(graph["kinds"]) == {"residual", "self", "feed_forward"}


def test_a_line_of_attention_chooses_its_largest_head_and_other_edges_nothing() -> None:
    edges = flow(MODEL, query=4)["edges"]
    assert {edge[KIND] for edge in edges} == {"residual", "self", "feed_forward"}
    for edge in edges:
        if edge[KIND] == "self":
            assert edge[PICK] == {"attention": "decoder.self", "layer": edge[ROW], "head": int(edge[NOTE].split()[1])}
        else:
            assert edge[PICK] == {} and edge[NOTE] == ""


def test_tokens_of_the_source_have_columns_of_their_own_in_front() -> None:
    graph = flow("both", source="the dog lay", query=2, least_share=1)
    sides = [side for side, _ in graph["tokens"]]
    assert sides == sorted(sides) and set(sides) == {"source", "text"}
    crossing = [edge for edge in graph["edges"] if edge[KIND] == "cross"]
    assert crossing and all(sides[edge[SOURCE]] == "source" for edge in crossing)


def test_the_likeliest_answer_stands_under_the_last_node() -> None:
    question = resolve(make_question("next", TEXT))
    probabilities = question.trace_of("logits").probabilities(4)
    best = in_line(question.tokenizer.token_text(int(probabilities.argmax())))
    assert flow(query=4)["end_text"] == f"{best} {100 * probabilities.max():.1f} %"
    beside = flow("masked", "the cat [MASK] on the mat", query=2)
    assert beside["end_text"] == "", "with a mask in the text nothing is predicted of other tokens"


def test_the_shares_are_saved_in_full_under_the_names_of_their_tokens() -> None:
    graph = flow(query=4)
    (saved,) = graph["tables"].values()
    first = graph["edges"][0]
    tokens = resolve(make_question("next", TEXT)).trace.text.token_texts
    source, target = (tokens[graph["tokens"][first[end]][1]] for end in (SOURCE, TARGET))
    assert saved["axes"]["edge"][0] == f"layer {first[ROW]} {first[KIND]}: {source} → {target}"
    assert np.array(saved["values"])[:, 0] == pytest.approx([edge[SHARE] for edge in graph["edges"]], abs=1e-4)


def test_without_a_share_this_large_the_last_node_stands_alone() -> None:
    graph = flow(MODEL, least_share=100)
    assert graph["edges"] == [] and len(graph["columns"]) == 1 and "lower the least share" in graph["note"]
    assert next(iter(graph["tables"].values()))["values"] == []


def test_a_share_between_the_steps_of_the_slider_is_the_step_below() -> None:
    slider, graph = ask_views("information_flow", model="next", text=TEXT, least_share=13)
    assert slider["picks"][slider["chosen"]] == {"least_share": 12} and "at least 12 %" in graph["title"]
    slider, _ = ask_views("information_flow", model="next", text=TEXT, least_share=12)
    assert slider["chosen"] is None, "the page finds the one that is chosen"


def test_a_long_text_has_the_same_flow_without_kept_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    edits = ["decoder.1.self.weights[3]=set:0"]
    before = flow(query=3, edits=edits, least_share=1)
    monkeypatch.setattr("headlight_app.inference.resolved_question.MAX_WEIGHTS_BYTES", 0)
    after = flow(query=3, edits=edits, least_share=1)
    assert [edge[:4] for edge in after["edges"]] == [edge[:4] for edge in before["edges"]]
    shares = [[edge[SHARE] for edge in graph["edges"]] for graph in (before, after)]
    assert shares[0] == pytest.approx(shares[1], abs=2e-4)


@pytest.mark.parametrize("share", [0, 101, "many", True])
def test_a_share_that_is_none_gets_a_sentence(share: Any) -> None:
    with pytest.raises(HeadlightError, match="least_share"):
        ask_worker("analysis", analysis="information_flow", model="next", text=TEXT, choice={"least_share": share})
