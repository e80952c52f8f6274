"""Edits: their text form, every operation, and unaffected values."""

from string import Formatter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import EDIT_OPERATIONS, HOOK_POINTS, EditError, HeadlightError, Intervention, Trace, Transformer, run
from headlight.config import EmbeddingConfig
from tests.model import toys

TEXT = "the cat sat on the mat"
EDITED, LATER = "decoder.0.self.weights", "decoder.1.self.weights"


def run_edited(model: Transformer | None = None, *edits: str) -> Trace:
    """One run of the sentence, of seven tokens."""
    return run(model or toys.decoder(), toys.causal(), TEXT, edits)


def index_ranges() -> st.SearchStrategy[str]:
    """One axis of an index, in any allowed notation."""
    numbers = st.integers(0, 999).map(str)
    ranges = st.tuples(st.integers(0, 9), st.integers(1, 9)).map(lambda span: f"{span[0]}:{sum(span)}")
    open_ranges = st.one_of(st.just(":"), numbers.map("{}:".format), st.integers(1, 999).map(":{}".format))
    return st.one_of(numbers, ranges, open_ranges, numbers.map(" {} ".format))


@st.composite
def edit_texts(draw: st.DrawFn) -> str:
    """Any edit in its text form."""
    site = draw(st.sampled_from(sorted(HOOK_POINTS)))
    prefix = draw(st.sampled_from(["decoder.0.self.", "encoder.*.cross.", "decoder.", ""]))
    index = draw(st.lists(index_ranges(), max_size=len(HOOK_POINTS[site].axes)))
    operation = draw(st.sampled_from(sorted(EDIT_OPERATIONS)))
    number = f":{draw(st.floats(-1e38, 1e38))!r}"
    brackets = f"[{','.join(index)}]" if index else ""
    return f"{prefix}{site}{brackets}={operation}{number if EDIT_OPERATIONS[operation].takes_number else ''}"


@given(edit_texts())
def test_the_text_form_round_trips(text: str) -> None:
    edit = Intervention.parse(text)
    assert Intervention.parse(str(edit)) == edit
    assert str(Intervention.parse(str(edit))) == str(edit)


@given(
    st.text() | edit_texts().map(lambda text: text.replace("=", "==")) | st.from_regex(r"[a-z.]+\[[0-9:,]*\]=[a-z]+:.+")
)
def test_any_text_parses_or_raises_a_sentence(text: str) -> None:
    try:
        Intervention.parse(text)
    except HeadlightError as error:
        assert str(error).endswith(".")


@pytest.mark.parametrize(
    "text",
    [
        "decoder.1.self.weights[3]=set:0",
        "decoder.*.self.mask[:,5,2]=set:0",
        "decoder.1.self.weights[3]=uniform",
        "decoder.1.self.scale[3]=scale:0.5",
        "decoder.*.self.scale=set:1",
        "decoder.position_ids[5]=set:2.5",
        "decoder.2.feed_forward.output[4]=scale:0",
        "logits=mean",
    ],
)
def test_documented_edits_round_trip_unchanged(text: str) -> None:
    assert str(Intervention.parse(text)) == text


def test_an_edit_changes_only_its_head_and_no_later_run() -> None:
    model = toys.decoder()
    before, edited, after = run_edited(model), run_edited(model, f"{EDITED}[2]=set:0"), run_edited(model)
    others = [0, 1, 3]
    np.testing.assert_array_equal(edited[EDITED][others], before[EDITED][others])
    assert not edited[EDITED][2].any()
    assert not np.allclose(edited[LATER], before[LATER])
    for path, value in before.values.items():
        np.testing.assert_array_equal(after[path], value)


def test_values_before_the_edited_layer_do_not_change() -> None:
    before, edited = run_edited(), run_edited(None, "decoder.1.self.weights=set:0")
    for path in before.values:
        if path.startswith("decoder.0.") or path in ("decoder.1.self.scores", "decoder.1.residual"):
            np.testing.assert_array_equal(edited[path], before[path])


@pytest.mark.parametrize("path", sorted(run_edited().values))
def test_every_recorded_value_can_be_edited(path: str) -> None:
    before, edited = run_edited(), run_edited(None, f"{path}=set:0")
    assert not edited[path].any()
    assert np.isfinite(edited.probabilities()).all()
    if before[path].any():
        assert any(not np.array_equal(edited[other], before[other]) for other in before.values)


def test_set_scale_and_add_change_exactly_the_index() -> None:
    path = "decoder.0.self.v"
    before = run_edited()[path]
    for operation, wanted in (("set:2", 0 * before + 2), ("scale:-3", before * -3), ("add:0.5", before + 0.5)):
        edited = run_edited(None, f"{path}[1,2:4,0]={operation}")[path]
        np.testing.assert_allclose(edited[1, 2:4, 0], wanted[1, 2:4, 0], rtol=1e-6)
        untouched = np.ones(before.shape, bool)
        untouched[1, 2:4, 0] = False
        np.testing.assert_array_equal(edited[untouched], before[untouched])


@pytest.mark.parametrize("site", ["bias", "scores", "masked_scores", "weights"])
def test_mean_of_query_key_values_is_each_rows_mean_over_its_allowed_keys(site: str) -> None:
    model, path = toys.decoder(positional_encoding="alibi"), f"decoder.0.self.{site}"
    before, edited = run_edited(model)[path], run_edited(model, f"{path}[1]=mean")[path]
    for query in range(before.shape[1]):
        allowed = slice(0, query + 1)
        np.testing.assert_allclose(edited[1, query, allowed], before[1, query, allowed].mean(), rtol=1e-5)
        np.testing.assert_array_equal(edited[1, query, query + 1 :], before[1, query, query + 1 :])


def test_mean_of_other_values_is_the_mean_over_all_tokens() -> None:
    before = run_edited()["decoder.1.residual"]
    for index, rows in (("", slice(None)), ("[3]", slice(3, 4)), ("[2:5]", slice(2, 5))):
        edited = run_edited(None, f"decoder.1.residual{index}=mean")["decoder.1.residual"]
        np.testing.assert_allclose(edited[rows], np.broadcast_to(before.mean(0), edited[rows].shape), rtol=1e-5)


def test_uniform_gives_every_allowed_key_the_same_weight() -> None:
    edited = run_edited(toys.decoder(masks=("causal", "window:3")), f"{EDITED}[0]=uniform")[EDITED][0]
    for query, row in enumerate(edited):
        seen = min(query + 1, 3)
        np.testing.assert_allclose(row[query + 1 - seen : query + 1], 1 / seen, rtol=1e-6)
        assert row.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ("decoder.0.self.scale=mean", "'Score scale' has one number"),
        ("decoder.0.self.position_ids=set:1", r"Its position_ids are at decoder\.position_ids\.$"),
        ("decoder.0.weights[1]=set:1", r"Its weights are at decoder\.\*\.self\.weights \(layers 0 to 1\)"),
        ("decoder.0.self.scores=uniform", "for weights only"),
        ("decoder.0.self.mask=mean", "mean"),
        ("decoder.0.self.weights[4]=set:0", r"asks for head 4, but decoder\.0\.self\.weights has 4, counted from 0"),
        ("decoder.0.self.weights[0,2:9]=set:0", r"asks for query 2 to 8, but .* has 7, counted from 0"),
        ("decoder.0.self.weights[3:1]=set:0", r"'3:1' in .* is empty"),
        ("decoder.7.self.weights=set:0", r"no value decoder\.7\.self\.weights"),
        ("encoder.0.self.weights=set:0", r"no value encoder\.0\.self\.weights"),
        ("decoder.0.self.weights[1,2,3,4]=set:0", r"4 axes; .* has 3: head, query, key"),
        ("decoder.0.self.wieghts=set:0", r"no hook point 'wieghts'\. Did you mean 'weights'\? Known: .*weights"),
        ("decoder.0.self.weights=flip:0", r"no edit operation 'flip'\..* Known: add, .*mean, .*uniform"),
        ("decoder.0.self.weights=set", "needs a number"),
        ("decoder.0.self.weights=mean:3", "takes no number"),
        ("decoder.0.self.weights=set:nan", "is not a number between"),
        ("decoder.0.self.weights=set:1e300", "is not a number between"),
        ("decoder.0.self.weights[x]=set:0", "An edit has the form PATH"),
        ("decoder.0.self.weights[,]=set:0", "is not an index"),
        ("make it better", "An edit has the form PATH"),
    ],
)
def test_an_impossible_edit_gets_a_sentence(edit: str, message: str) -> None:
    with pytest.raises(HeadlightError, match=message) as caught:
        run_edited(None, edit)
    assert str(caught.value).endswith(".")


def test_an_index_with_more_axes_than_the_answer_of_a_whole_text_gets_a_sentence() -> None:
    model = toys.encoder(
        output_head="sequence-classifier", labels=("good", "bad"), embedding=EmbeddingConfig(tied=False)
    )
    with pytest.raises(HeadlightError, match=r"counts along 2 axes, but logits has 1 here\.$"):
        run(model, toys.masked(), "the cat", ["logits[:,0]=add:0"])


def test_a_star_edits_every_layer() -> None:
    edited = run_edited(None, "decoder.*.self.weights[1]=set:0")
    assert not edited[EDITED][1].any()
    assert not edited[LATER][1].any()
    assert edited.interventions == ("decoder.*.self.weights[1]=set:0",)


def test_a_forbidden_cell_gets_no_weight_and_its_row_still_sums_to_one() -> None:
    edited = run_edited(None, "decoder.0.self.mask[:,5,2]=set:0")[EDITED]
    assert not edited[:, 5, 2].any()
    np.testing.assert_allclose(edited.sum(-1), 1, rtol=1e-5)


def test_an_edit_can_allow_a_masked_cell() -> None:
    edited = run_edited(None, "decoder.0.self.mask[1,0,4]=set:1")[EDITED]
    assert edited[1, 0, 4] > 0
    assert not edited[0, 0, 4]
    assert edited[1, 0].sum() == pytest.approx(1)


def test_a_row_without_any_allowed_key_is_zero_and_nothing_is_nan() -> None:
    edited = run_edited(None, "decoder.*.self.mask[:,3]=set:0")
    assert not edited[EDITED][:, 3].any()
    assert all(np.isfinite(value).all() for value in edited.values.values())


def test_a_model_in_64_bits_is_edited_as_one_in_32() -> None:
    model, edits = toys.decoder(), ("decoder.0.residual[1]=set:0.5", "decoder.1.self.mask[:,5,2]=set:0")
    narrow, wide = run_edited(model, *edits), run_edited(model.double(), *edits)
    np.testing.assert_allclose(wide["logits"], narrow["logits"], rtol=1e-5, atol=1e-5)


def test_edits_of_one_value_apply_in_the_order_given() -> None:
    path = "decoder.0.self.q"
    before = run_edited()[path]
    one, other = (
        run_edited(None, f"{path}=add:1", f"{path}=scale:2"),
        run_edited(None, f"{path}=scale:2", f"{path}=add:1"),
    )
    np.testing.assert_allclose(one[path], (before + 1) * 2, rtol=1e-6)
    np.testing.assert_allclose(other[path], before * 2 + 1, rtol=1e-6)


def test_cross_attention_is_edited_as_self_attention_is() -> None:
    edits = ("decoder.0.cross.weights[1,:,2]=set:0", "decoder.*.cross.mask[:,:,0]=set:0")
    trace = run(toys.both(), toys.masked(), "a bird", edits, source=TEXT)
    weights = trace.attention("cross")
    assert not weights[0, 1, :, 2].any()
    assert not weights[..., 0].any()


@given(
    st.sampled_from(["scores", "masked_scores", "weights", "v", "input", "output"]),
    st.sampled_from(["set", "scale", "add"]),
    st.sampled_from([1e38, -1e38, 3e38, 1e-40, 1e20]),
    st.sampled_from(["softmax", "hardmax", "linear"]),
    st.sampled_from(["rmsnorm", "layernorm"]),
)
def test_huge_numbers_give_finite_values_or_a_sentence(
    site: str, operation: str, number: float, attention_function: str, norm: str
) -> None:
    model = toys.decoder(attention_function=attention_function, norm=norm)
    try:
        trace = run_edited(model, f"decoder.0.self.{site}={operation}:{number!r}")
    except EditError as error:
        assert str(error).endswith(".")
    else:
        assert np.isfinite(trace.probabilities()).all()


@pytest.mark.parametrize("name", HOOK_POINTS)
def test_sentences_of_edits_speak_of_operations_and_axes_that_there_are(name: str) -> None:
    for sentence in HOOK_POINTS[name].edit_sentences:
        assert sentence.operation in EDIT_OPERATIONS and {*sentence.indices} <= {*HOOK_POINTS[name].axes}
        placeholders = {field for _, field, _, _ in Formatter().parse(sentence.text) if field}
        assert placeholders <= {"number", "inverse", "place", "heads", "inside", "neurons", *sentence.indices}
