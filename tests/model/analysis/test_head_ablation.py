"""Batched head ablation equals one run per head with the edit; a search finds heads that change the answer."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from headlight import ConfigError, EditError, TextError, Transformer
from headlight.analysis import ablation as subject
from headlight.analysis.ablation import (
    AnswerLead,
    HeadSearch,
    ablate_heads,
    advance_search,
    all_heads,
    heads_per_batch,
)
from headlight.problem_types import PROBLEM_TYPES
from tests.model import toys
from tests.model.toys import traced

ONE_ANSWER = PROBLEM_TYPES["single-label"]


def one_run_per_head(
    model: Transformer, attention: str, position: int, token: int, edits: list[str], **more: Any
) -> list[float]:
    """The log-probability after a separate run for each head."""
    found = []
    for head in range(4):
        trace = traced(model, *edits, f"{attention}.weights[{head}]=set:0", **more)
        logits = trace["logits"][position] if trace["logits"].ndim == 2 else trace["logits"]
        logits = logits.astype(np.float64)
        found.append(float(logits[token] - np.log(np.exp(logits).sum())))
    return found


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("attention_function", ["softmax", "linear"])
def test_a_batch_of_heads_equals_one_run_for_each(layer: int, attention_function: str) -> None:
    model = toys.decoder(attention_function=attention_function, key_value_heads=2)
    found = ablate_heads(model, traced(model), f"decoder.{layer}.self", 3, 7, 0, 4)
    assert found == pytest.approx(one_run_per_head(model, f"decoder.{layer}.self", 3, 7, []), abs=1e-5)
    assert len(set(found.round(4))) == 4  # each head matters


@pytest.mark.parametrize("layer", range(4))
@pytest.mark.parametrize(
    ("parts", "edits"),
    [
        (toys.UNLIKE, ["decoder.1.self.v[0,2]=scale:3"]),
        (toys.STREAMS, ["decoder.1.self.v[0,2]=scale:3", "decoder.2.residual=scale:2"]),
        (toys.STREAMS, ["decoder.*.residual_streams[1:3,0]=scale:2", "decoder.1.residual_after_feed_forward=add:1"]),
    ],
)
def test_heads_are_ablated_in_layers_of_unusual_parts(parts: dict[str, Any], edits: list[str], layer: int) -> None:
    model, path = toys.decoder(**parts), f"decoder.{layer}.self"
    found = ablate_heads(model, traced(model, *edits), path, 3, 7, 0, 4)
    assert found == pytest.approx(one_run_per_head(model, path, 3, 7, edits), abs=1e-5)
    assert len(set(found.round(4))) == 4


@pytest.mark.parametrize(
    "edit",
    [
        "decoder.0.self.weights[1]=uniform",
        "decoder.1.residual[2]=mean",
        "decoder.0.residual[1]=add:0.5",
        "logits[3,5]=add:2",
        "decoder.*.self.mask[:,3,1]=set:0",
    ],
)
def test_heads_are_ablated_after_the_edits(edit: str) -> None:
    model = toys.decoder()
    found = ablate_heads(model, traced(model, edit), "decoder.0.self", 3, 7, 0, 4)
    assert found == pytest.approx(one_run_per_head(model, "decoder.0.self", 3, 7, [edit]), abs=1e-5)


@pytest.mark.parametrize("attention", ["decoder.1.self", "decoder.0.cross", "encoder.2.self"])
def test_every_attention_of_an_encoder_decoder_can_be_ablated(attention: str) -> None:
    for model in (toys.both(), toys.captioner(), toys.listener(), toys.reader(), toys.summarizer()):
        source = toys.source(model, "a small bird")
        found = ablate_heads(model, traced(model, source=source), attention, 2, 9, 0, 4)
        assert found == pytest.approx(one_run_per_head(model, attention, 2, 9, [], source=source), abs=1e-5)


def test_labels_of_a_text_are_predictions_too() -> None:
    model = toys.decoder(output_head="sequence-classifier", labels=("good", "bad"), pooling="mean")
    found = ablate_heads(model, traced(model), "decoder.1.self", 0, 1, 0, 4)
    assert found == pytest.approx(one_run_per_head(model, "decoder.1.self", 0, 1, []), abs=1e-5)


def test_some_heads_of_a_layer() -> None:
    model = toys.decoder()
    trace = traced(model)
    whole = ablate_heads(model, trace, "decoder.0.self", -1, 7, 0, 4)
    assert ablate_heads(model, trace, "decoder.0.self", -1, 7, 1, 2) == pytest.approx(whole[1:3], abs=1e-5)


def test_a_long_text_has_fewer_heads_per_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = traced(toys.decoder())
    length = len(trace.text.ids)
    monkeypatch.setattr(subject, "TOKENS_PER_BATCH", 3 * length + 1)
    assert heads_per_batch(trace) == 3
    monkeypatch.setattr(subject, "TOKENS_PER_BATCH", 1)
    assert heads_per_batch(trace) == 1


def test_heads_layers_positions_and_tokens_out_of_range_get_a_sentence() -> None:
    model = toys.decoder()
    trace = traced(model)
    with pytest.raises(EditError, match="no heads 3 to 5"):
        ablate_heads(model, trace, "decoder.0.self", 0, 1, 3, 3)
    for attention in ("decoder.7.self", "decoder.0.cross", "encoder.0.self", "decoder.0.self.weights", ""):
        with pytest.raises(EditError, match="no attention"):
            ablate_heads(model, trace, attention, 0, 1, 0, 1)
    for position, token in ((99, 1), (0, 10_000)):
        with pytest.raises(TextError, match=r"no (token|answer)"):
            ablate_heads(model, trace, "decoder.0.self", position, token, 0, 1)
    bare = toys.decoder(output_head="none")
    with pytest.raises(ConfigError, match="without an output head"):
        ablate_heads(bare, traced(bare), "decoder.0.self", 0, 1, 0, 1)


def edit_of(path: str, head: int) -> str:
    return f"{path}.weights[{head}]=set:0"


def answer(model: Transformer, position: int, edits: list[str], **more: str) -> int:
    """The answer of a separate run."""
    logits = traced(model, *edits, **more)["logits"]
    return int((logits[position] if logits.ndim == 2 else logits).argmax())


def searched(model: Transformer, position: int, edits: list[str], most: int = 8, /, **more: str) -> HeadSearch:
    """A completed search for the answer after the edits."""
    search, token = HeadSearch(), answer(model, position, edits, **more)
    while not search.is_done(most):
        search = advance_search(model, traced(model, *edits, *search.edits, **more), search, position, token)
    return search


def smallest_sets(model: Transformer, position: int, edits: list[str], most: int) -> list[set[str]]:
    """All smallest sets of heads whose removal changes the answer, by brute force."""
    heads, before = [edit_of(*head) for head in all_heads(model)], answer(model, position, edits)
    for size in range(1, most + 1):
        sets = [set(off) for off in combinations(heads, size) if answer(model, position, [*edits, *off]) != before]
        if sets:
            return sets
    return []


@pytest.mark.parametrize(("seed", "bonus", "size"), [(0, 0, 1), (2, 2, 2), (2, 4, 3)])
def test_a_search_finds_a_smallest_set_of_heads(seed: int, bonus: int, size: int) -> None:
    model = toys.decoder(seed=seed)
    edits = [f"logits[5,{answer(model, 5, [])}]=add:{bonus}"]  # the answer depends on several heads
    search = searched(model, 5, edits)
    assert search.is_changed and len(search.heads) == size
    assert set(search.edits) in smallest_sets(model, 5, edits, size)


@pytest.mark.parametrize(
    ("model", "edits", "more"),
    [
        (toys.decoder(), [], {}),
        (toys.decoder(), ["decoder.1.self.weights[2]=set:0", "decoder.0.feed_forward.output=scale:0.5"], {}),
        (toys.encoder(), [], {}),
        (toys.both(), [], {"source": "a small bird"}),
        (toys.decoder(output_head="sequence-classifier", labels=("good", "bad", "odd"), pooling="mean"), [], {}),
    ],
    ids=["next token", "after edits", "masked token", "encoder-decoder", "label"],
)
@pytest.mark.parametrize("position", [2, 4])
def test_what_a_search_says_is_what_runs_with_its_edits_answer(
    model: Transformer, edits: list[str], more: dict[str, str], position: int
) -> None:
    search, before = searched(model, position, edits, **more), answer(model, position, edits, **more)
    answers = [
        answer(model, position, [*edits, *search.edits[:count]], **more) for count in range(len(search.heads) + 1)
    ]
    assert [lead.likeliest for lead in search.leads] == answers
    assert set(answers[:-1]) <= {before}  # the search ends when the answer changes
    assert search.is_changed == (answers[-1] != before)
    margins = [lead.margin for lead in search.leads]
    assert margins == sorted(margins, reverse=True)
    assert [head.margin for head in search.heads] == pytest.approx(margins[1:], abs=1e-4)
    assert len(set(search.edits)) == len(search.edits)


def test_each_head_of_a_search_leaves_the_smallest_margin() -> None:
    model = toys.decoder()
    search, token = searched(model, 5, []), answer(model, 5, [])
    for count, chosen in enumerate(search.heads):
        margins = {
            edit_of(*head): AnswerLead.of(
                traced(model, *search.edits[:count], edit_of(*head))["logits"][5], token, ONE_ANSWER
            ).margin
            for head in all_heads(model)
        }
        assert margins[chosen.edit] == pytest.approx(min(margins.values()), abs=1e-4)


def test_a_search_ends_where_heads_do_not_matter_or_too_few_may_go() -> None:
    model = toys.decoder()
    for name, parameter in model.named_parameters():
        if "attention.output" in name:
            parameter.zero_()
    search = searched(model, 3, [])
    assert search.stuck and not search.is_changed and search.heads == ()
    patient = searched(toys.decoder(), 5, [], 0)
    assert patient.is_done(0) and not patient.is_changed and not patient.stuck


def test_an_answer_without_another_beside_it_gets_a_sentence() -> None:
    with pytest.raises(TextError, match="only one answer"):
        AnswerLead.of(np.ones(1), 0, ONE_ANSWER)
    with pytest.raises(TextError, match="no finite logit"):
        AnswerLead.of(np.array([np.nan, 1.0]), 1, ONE_ANSWER)
