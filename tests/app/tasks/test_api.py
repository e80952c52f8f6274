"""The views of the Tasks page get what the model computes."""

import json
import re
import shutil
from dataclasses import replace as replace_field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from headlight import run
from headlight.errors import ConfigError, TextError
from headlight.generation.generate import beam_search
from headlight.nn.output_heads import SequenceClassifier
from headlight.problem_types import softmax
from headlight.tasks import label_text
from headlight.views.words import percent, quoted
from headlight_app.contract.state import MAX_BEAMS
from headlight_app.engine.requests import decode_request
from headlight_app.explore.contract import LongAnalysisRequest
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.open_models import open_checkpoint
from headlight_app.inference.resolved_question import resolve
from headlight_app.tasks.answers.alignment import TOO_MANY, alignment
from headlight_app.tasks.answers.classify import Effects, label_bars, label_effects
from headlight_app.tasks.answers.shown_weights import NOT_KEPT, NOTHING_WRITTEN, ShownWeights
from headlight_app.tasks.answers.similar import compare, largest_pairs
from headlight_app.tasks.answers.sort import answer_note, missed_numbers, read_words
from headlight_app.tasks.answers.tag import label_kinds
from headlight_app.tasks.answers.transcribe import middle_half
from tests.app.asking import ask_views, ask_worker, body, make_question

NUMBERS, OFF = "17 4 99 4", "encoder.2.self.weights=set:0"


def ask(route: str, **fields: Any) -> dict[str, Any]:
    return ask_worker(route, **fields)[0]


def sorted_views(text: str = NUMBERS, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The alignment of a text's numbers, and the verdict."""
    lines, verdict = ask_views("sort", model="sort", text=text, **fields)
    return lines, verdict


def test_every_token_of_sort_gets_its_number_and_what_it_looked_at() -> None:
    lines, verdict = sorted_views(choice={"layer": 2, "head": 1})
    assert (lines["answer"], lines["wrong"]) == (["4", "4", "17", "99"], [])
    assert (verdict["text"], verdict["good"]) == ("All 4 numbers are in order.", True)
    weights = resolve(make_question("sort", NUMBERS)).trace["encoder.2.self.weights"][1]
    assert np.array(lines["weights"]) == pytest.approx(weights, abs=1e-6)
    assert np.array(lines["tables"]["Alignment weights"]["values"]) == pytest.approx(weights, abs=1e-6)
    assert lines["title"] == "Attention weights from the answer to what was read: layer 2, head 1"
    assert lines["note"] == "Point at a token to see only its lines."


def test_labels_are_those_of_the_edited_model_beside_those_as_trained() -> None:
    lines, verdict = sorted_views(edits=[OFF], choice={"layer": 2, "head": 1})
    checkpoint = open_checkpoint("sort")
    edited = run(checkpoint.model, checkpoint.tokenizer, NUMBERS, [OFF])["logits"]
    now = [label_text(checkpoint.model.config, int(label)) for label in edited.argmax(-1)]
    trained = ["4", "4", "17", "99"]
    assert lines["answer"] == now != trained
    wrong = [place for place, (one, other) in enumerate(zip(now, trained, strict=True)) if one != other]
    assert lines["wrong"] == wrong
    assert [lines["notes"][place] for place in wrong] == [f"was {trained[place]}" for place in wrong]
    assert verdict["text"] == f"{4 - len(wrong)} of 4 places are right. The others are marked."
    assert lines["note"] == "All weights are 0: layer 2, head 1."
    for name, logits in (("", edited), (" as trained", run(checkpoint.model, checkpoint.tokenizer, NUMBERS)["logits"])):
        shares = np.array(verdict["tables"][f"Label probabilities{name}"]["values"])
        np.testing.assert_allclose(shares, softmax(logits), atol=1e-6)


def test_a_right_answer_has_its_probability_and_one_that_a_change_made_wrong_what_it_was() -> None:
    trained, _ = sorted_views()
    logits = resolve(make_question("sort", NUMBERS)).value("logits")
    assert trained["notes"] == [percent(float(share)) for share in softmax(logits).max(-1)]
    changed, _ = sorted_views(edits=["encoder.0.self.weights[1]=set:0"])
    wanted = ["4", "4", "17", "99"]
    for place, (note, answer) in enumerate(zip(changed["notes"], changed["answer"], strict=True)):
        assert (place in changed["wrong"]) == (answer != wanted[place])
        assert note.startswith("was ") == (answer != wanted[place])


def test_a_note_says_what_an_answer_was_or_should_be() -> None:
    assert answer_note("3", "4", "5", "90 %") == "was 3"
    assert (answer_note("4", "4", "5", "90 %"), answer_note("4", "4", "", "90 %")) == ("not 5", "90 %")


def test_a_sorted_answer_is_compared_with_the_numbers_in_order() -> None:
    assert missed_numbers(["17", "4", "99", "4"], ["4", "04", "99", "99"]) == {2: "17"}, "labels may have leading zeros"
    assert missed_numbers(["[UNK]", "4"], ["4", "4"]) is None, "nothing is right or wrong if not all are numbers"


def test_a_note_reports_the_tokens_if_they_differ_from_the_typed_numbers() -> None:
    assert re.search(r"not the numbers you typed.* read 1, 5, 0, 2\.$", read_words("1.5 0.2", ["1", "5", "0", "2"]))
    assert read_words("9 100", ["9", "[UNK]"]).endswith("read 9, [UNK], where [UNK] is unknown text.")
    assert read_words(" 3  17\n4 ", ["3", "17", "4"]) == ""


def test_a_long_answer_has_no_lines_and_a_very_long_one_only_its_numbers() -> None:
    for count, has_lines, has_weights in ((40, True, True), (41, False, True), (129, False, False)):
        tokens = tuple(map(str, range(count)))
        view = alignment(ShownWeights(np.eye(count), "layer 0, head 0"), tokens, tokens, "looks at")
        assert view.tables is not None
        assert (view.lines, view.note == TOO_MANY) == (has_lines, not has_lines)
        assert bool(np.asarray(view.weights).size) == has_weights
        assert np.array_equal(np.asarray(view.tables["Alignment weights"].values), np.eye(count))
    without = alignment(None, ("1",), ("1",), "looks at")
    assert (without.answer, without.note, without.tables) == (("1",), NOT_KEPT, None)


def test_a_target_is_shown_up_to_the_chosen_step() -> None:
    fields: dict[str, Any] = {"model": "dates", "source": "March 5 1987", "text": "1987-03-05"}
    steps, lines, _ = ask_views("translate", **fields, choice={"query": 6})
    assert steps["options"][steps["chosen"]] == "7 of 10 tokens written" and lines["written"] == 7
    assert steps["picks"][-2:] == [{"query": 8}, {"query": 10}], "the query after the last token is the whole target"
    assert "".join(lines["answer"]) == "1987-03-05"
    resolved = resolve(make_question("dates", "1987-03-05", source="March 5 1987"))
    weights = resolved.trace["decoder.0.cross.weights"][0][:10]
    assert np.array(lines["weights"]) == pytest.approx(weights, abs=1e-6)
    assert len(lines["tables"]["Alignment weights"]["values"]) == 7, "the numbers are those of the figure"
    assert [pick["query"] for pick in lines["picks"]] == [0, 1, 2, 3, 4, 5, 10, 7, 8, 9]
    whole, _, _ = ask_views("translate", **fields)
    assert whole["options"][whole["chosen"]] == "10 tokens written"
    nothing, _ = ask_views("translate", model="dates", source="March 5 1987", text="")
    assert nothing["text"] == NOTHING_WRITTEN


def test_a_span_is_the_middle_half_of_the_weights_however_sharp_they_are() -> None:
    rows = ([0, 0, 1, 0], [0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0, 0.4, 0.1], [0, 0, 0])
    assert [middle_half(np.array(row, float)) for row in rows] == [(2, 2), (0, 2), (1, 3), (0, 0)]


def effects(model: str = "mood", token: int = -1, **fields: Any) -> Effects:
    return label_effects(resolve(make_question(model, "the cat sat", **fields)), token)


def log_odds(logits: np.ndarray, label: int) -> float:
    others = np.delete(logits.astype(np.float64), label)
    return float(logits[label] - np.logaddexp.reduce(others))


def test_a_label_loses_what_it_loses_without_each_token_and_each_head() -> None:
    found = effects(token=1)
    checkpoint = open_checkpoint("mood")
    model, tokenizer = checkpoint.model, checkpoint.tokenizer

    def without(*edits: str) -> float:
        return log_odds(run(model, tokenizer, "the cat sat", edits)["logits"], 1)

    assert (found.label, found.heads.shape) == (1, (2, 4))
    assert found.all == pytest.approx(without(), abs=1e-4)
    for position, number in zip(found.positions, found.tokens, strict=True):
        # With first-token pooling, hiding a token means masking it for all others.
        assert number == pytest.approx(without(f"encoder.*.self.mask[:,:,{position}]=set:0"), abs=1e-4)
    for (layer, head), number in np.ndenumerate(found.heads):
        assert number == pytest.approx(without(f"encoder.{layer}.self.weights[{head}]=set:0"), abs=1e-4)


def test_the_likeliest_label_is_meant_where_none_is_chosen_and_edits_hold() -> None:
    edit = "encoder.0.self.weights[1]=set:0"
    found = effects(edits=(edit,))
    checkpoint = open_checkpoint("mood")
    logits = run(checkpoint.model, checkpoint.tokenizer, "the cat sat", [edit])["logits"]
    assert found.label == logits.argmax()
    assert found.all == pytest.approx(log_odds(logits, found.label), abs=1e-4)


def test_a_certain_label_still_loses_something_without_each_token() -> None:
    """Its probability rounds to 1, with and without any token."""
    found = effects(token=1, edits=("logits=scale:1000",))
    numbers = np.array([found.all, *found.tokens, *found.heads.ravel()])
    assert np.abs(numbers).max() > 40
    assert len(set(numbers.round(3).tolist())) == len(numbers)


def test_the_views_of_a_label_have_its_losses() -> None:
    found = effects(token=1)
    bars, poolings, tokens, heads = ask_views("classify", model="mood", text="the cat sat", choice={"target_token": 1})
    assert (bars["labels"], bars["marked"], bars["picks"][1]) == (["glad", "sad"], 1, {"target_token": 1})
    assert poolings["picks"][0] == {"variant.pooling": ""} and "as trained" in poolings["options"][0]
    lost = found.all - found.tokens
    assert [token.strip() for token in tokens["tokens"]] == ["the", "cat", "sat"]
    assert np.sign(tokens["shades"]).tolist() == np.sign(lost).tolist()
    table = tokens["tables"]["What each token adds"]
    assert np.array(table["values"])[:, 0] == pytest.approx(lost, abs=1e-5)
    np.testing.assert_allclose(np.array(table["values"])[:, 1], 1 / (1 + np.exp(-found.tokens)), atol=1e-5)
    assert np.array(heads["values"]) == pytest.approx(found.all - found.heads, abs=1e-5)
    assert heads["picks"][1][2] == {"attention": "encoder.self", "layer": 1, "head": 2}
    assert heads["titles"][1][2] == "Without layer 1, head 2"
    share = 100 / (1 + np.exp(-found.heads[1, 2]))
    assert f"has {share:.1f} % instead of" in heads["details"][1][2]


def test_a_text_without_a_token_to_leave_out_still_has_its_label_and_heads() -> None:
    assert [view["kind"] for view in ask_views("classify", model="mood", text=" ")] == ["bars", "choice", "matrix"]


def test_a_label_beyond_those_that_are_listed_marks_none_of_them() -> None:
    resolved = resolve(make_question("mood", "the cat sat"))
    (shown,) = predictions(resolved, -1)
    listed = replace(shown, candidates=shown.candidates[:1])
    assert [label_bars(resolved, listed, chosen).marked for chosen in (-1, listed.candidates[0].id, 1)] == [
        0,
        0,
        None if listed.candidates[0].id != 1 else 0,
    ]


def test_another_pooling_is_another_label_and_means_nothing_to_a_model_without_one() -> None:
    resolved = resolve(make_question("mood", "the cat sat", pooling="mean"))
    hidden = resolved.value("encoder.final_residual").mean(0)
    head = resolved.model.output_head
    assert isinstance(head, SequenceClassifier)
    expected = hidden @ head.projection.weight.numpy().T + head.projection.bias.numpy()
    assert resolved.logits(0) == pytest.approx(expected, abs=1e-5)
    assert resolved.is_changed and resolved.as_trained.logits(0) != pytest.approx(expected, abs=1e-5)
    assert not resolve(make_question("next", "the cat sat", pooling="mean")).is_changed


def test_only_a_label_of_the_whole_text_rests_on_tokens() -> None:
    with pytest.raises(ConfigError, match="does not label whole texts"):
        ask_views("classify", model="tags", text="the cat sat")


def test_a_model_that_labels_no_tokens_says_so() -> None:
    with pytest.raises(TextError, match="does not label tokens"):
        ask_views("sort", model="mood", text="the dog")
    with pytest.raises(TextError, match="does not label tokens"):
        ask_views("tag", model="mood", text="the dog")


def test_each_token_has_its_label_and_where_it_looked() -> None:
    edit = "encoder.0.self.weights=set:0"
    (view,) = ask_views("tag", model="tags", text="the dog sat", edits=[edit], choice={"layer": 1, "head": 2})
    resolved = resolve(make_question("tags", "the dog sat", edits=(edit,)))
    names, logits = resolved.config.labels, resolved.value("logits")
    places = [place for _, place in view["places"]]
    labels = [names[int(logits[place].argmax())] for place in places]
    assert view["labels"] == labels and view["picks"] == [{"query": place} for place in places]
    before = resolved.as_trained.value("logits")
    for place, label, note in zip(places, labels, view["below"], strict=True):
        was = names[int(before[place].argmax())]
        assert (note == f"was {was}") == (was != label)
    weights = resolved.trace["encoder.1.self.weights"][2]
    most = resolved.trace.text.token_texts[int(weights[places[0]].argmax())]
    assert (
        f"In layer 1, head 2 it looked at {quoted(most)} {percent(float(weights[places[0]].max()))}"
        in (view["details"][0])
    )
    for name, logits_of in (("", logits), (" as trained", before)):
        shares = np.array(view["tables"][f"Label probabilities{name}"]["values"])
        np.testing.assert_allclose(shares, softmax(logits_of), atol=1e-6)


def test_several_heads_are_read_as_one_and_another_attention_leaves_the_last_layer() -> None:
    for fields, where in (
        ({"heads": ["0.1", "1.2"], "head_reduction": "max"}, "In the largest weights of 2 heads it looked at"),
        ({"attention": "decoder.cross"}, "In the mean of the heads of layer 1 it looked at"),
    ):
        (view,) = ask_views("tag", model="tags", text="the dog sat", choice=fields)
        assert where in view["details"][0]
    assert view["title"] == "The likeliest label of each token, and its probability"


def test_labels_of_a_kind_share_a_colour_and_o_has_none() -> None:
    assert label_kinds(["O", "B-PER", "I-PER", "B-LOC", "NOUN"]) == ["PER", "LOC", "NOUN"]


@pytest.mark.parametrize("width", [1, 3])
def test_the_beams_are_those_of_the_search(width: int) -> None:
    source, edits = "third of March 2021", ["encoder.0.self.weights[0]=set:0"]
    fields = {"source": source, "text": "ignored", "choice": {"beam_width": width}}
    views = {view["kind"]: view for view in ask_views("translate", model="dates", edits=edits, **fields)}
    checkpoint = open_checkpoint("dates")
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    expected = list(beam_search(model, tokenizer, "", edits, source=source, beams=width, steps=64))
    final = expected[-1]
    texts = [tokenizer.decode(beam.tokens[:-1] if beam.is_finished else beam.tokens) for beam in final]
    assert [row[0] for row in views["table"]["rows"]] == texts
    assert views["table"]["picks"] == [{"text": text} for text in texts]
    numbers = np.array(views["table"]["tables"]["Beams"]["values"])
    assert numbers[:, 1] == pytest.approx([beam.log_probability for beam in final])
    if width == 1:
        assert "tree" not in views
        return
    steps = views["tree"]["steps"]
    assert [len(nodes) for nodes in steps] == [len(kept) for kept in expected]
    for rank, beam in enumerate(final):
        tokens, place = [], rank
        for nodes in reversed(steps):
            place, token = nodes[place]
            tokens.append(token)
        assert [token for token in reversed(tokens) if token] == [tokenizer.token_text(id) for id in beam.tokens]


def test_greedy_writing_without_changes_stands_on_the_page_already() -> None:
    *_, widths = ask_views("translate", model="dates", source="4/3/1987", text="1987-04-03")
    assert widths["picks"][1] == {"beam_width": 2}


def test_a_search_writes_under_the_edits_and_keeps_to_its_limits() -> None:
    asked = {"model": "dates", "source": "4/3/1987", "edits": ["decoder.*.cross.weights=set:0"]}
    *_, table = ask_views("translate", **asked, choice={"beam_width": MAX_BEAMS})
    assert len(table["rows"]) == MAX_BEAMS
    assert table["rows"][0][0] != "1987-04-03"
    too_wide = msgspec.json.encode(
        body("long_analysis", analysis="translate", **asked, choice={"beam_width": MAX_BEAMS + 1})
    )
    with pytest.raises(TextError, match="beam_width is 9; expected a number from 1 to 8"):
        decode_request(msgspec.json.Decoder(LongAnalysisRequest), too_wide)


def test_a_model_that_writes_nothing_has_no_beams() -> None:
    with pytest.raises(TextError, match="does not continue a text"):
        ask_views("translate", model="mood", text="the dog", choice={"beam_width": 2})


ONE, OTHER = "the cat sat on the mat", "the dog lay on the rug"


def compared(**fields: Any) -> dict[str, dict[str, Any]]:
    """The views of two compared sentences, by their titles."""
    choice = {"other_text": fields.pop("other_text", OTHER)}
    views = ask_views("similar", **{"model": "masked", "text": ONE, **fields}, choice=choice)
    return {view["title"] or view["kind"]: view for view in views}


@pytest.mark.parametrize("edits", [[], ["encoder.0.self.weights[1]=set:0"]])
def test_pairs_of_tokens_sum_to_the_cosine_of_the_means(edits: list[str]) -> None:
    views = compared(edits=edits)
    one, other = (resolve(make_question("masked", text, edits=tuple(edits))).trace for text in (ONE, OTHER))
    means = [trace["encoder.final_residual"].astype(float).mean(0) for trace in (one, other)]
    cosine = means[0] @ means[1] / np.prod([np.linalg.norm(mean) for mean in means])
    assert views["verdict"]["text"].startswith(f"Cosine {cosine:.4f} with")
    pairs = views["What each pair of tokens adds to the cosine"]
    assert np.array(pairs["values"]).sum() == pytest.approx(cosine, abs=1e-5)
    assert np.array(pairs["values"]).shape == (len(one.text.ids), len(other.text.ids))
    largest = views["The largest pairs"]
    assert sum(part for _, part in largest["parts"]) == pytest.approx(cosine, abs=1e-5) == largest["end"][1]
    assert abs(largest["parts"][0][1]) == pytest.approx(np.abs(pairs["values"]).max())


def test_a_heads_effect_on_the_cosine_is_that_of_switching_it_off() -> None:
    heads = compared()["The change of the cosine without each head"]
    assert np.array(heads["values"]).shape == (2, 4)
    for layer, head in ((0, 1), (1, 3)):
        off = compared(edits=[f"encoder.{layer}.self.weights[{head}]=set:0"])
        assert off["verdict"]["text"].startswith(f"Cosine {heads['details'][layer][head]} with")


def test_pooling_is_that_of_the_models_own_files(toys: Path) -> None:
    folder = toys / "masked"
    rows = [{"type": f"sentence_transformers.models.{kind}"} for kind in ("Transformer", "Pooling", "Normalize")]
    (folder / "1_Pooling").mkdir()
    try:
        (folder / "modules.json").write_text(json.dumps(rows))
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
        meta = ask("analysis", analysis="similar", model="masked", text=ONE, choice={"other_text": OTHER})
    finally:
        shutil.rmtree(folder / "1_Pooling")
        (folder / "modules.json").unlink()
    _, verdict, pairs = meta["rows"]
    assert verdict["text"] == ("Pooling specified in the model's files: cls, vectors of length 1.")
    values = np.array(pairs["views"][0]["values"])
    assert [name for name, _ in pairs["views"][1]["parts"]] == ["“[CLS]” and “[CLS]”"], "no other pair adds anything"
    assert verdict["views"][0]["text"].startswith(f"Cosine {values[0, 0]:.4f} with") and not values.ravel()[1:].any()


def test_sentences_that_cannot_be_compared_get_a_sentence_and_keep_their_box() -> None:
    field, verdict = compared(other_text=" ").values()
    assert (field["field"], field["text"]) == ("other_text", " ") and "Type two sentences" in verdict["text"]
    for problem, fields in (
        ("reads one text", {"model": "both", "source": ONE}),
        ("tokens", {"other_text": "the cat " * 200}),
    ):
        field, verdict = compared(**fields).values()
        assert field["text"] == fields.get("other_text", OTHER) and problem in verdict["text"]


def test_the_one_pair_that_is_left_is_not_counted() -> None:
    found = compare(resolve(make_question("masked", ONE)), OTHER)
    few = replace_field(found, pairs=found.pairs.ravel()[:9][None], cosine=float(found.pairs.ravel()[:9].sum()))
    assert largest_pairs(few)[-1][0] == "The other pair"


def test_pairs_that_differ_by_rounding_alone_are_in_the_order_of_the_text() -> None:
    found = compare(resolve(make_question("masked", ONE)), OTHER)
    equal = np.full(found.pairs.shape, 0.1)
    equal[-1, -1] += 1e-9
    (first, _), *_ = largest_pairs(replace_field(found, pairs=equal, cosine=float(equal.sum())))
    assert first == "“[CLS]” and “[CLS]”"


def test_until_a_second_sentence_is_typed_it_is_another_example() -> None:
    example = compared(other_text="")["and"]["text"]
    assert example and example != ONE
    assert compared(other_text="", text=example)["and"]["text"] not in ("", example)
