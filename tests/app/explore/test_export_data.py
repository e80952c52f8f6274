"""Numbers as files, read back with common tools."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from headlight.errors import EditError, UnknownNameError
from headlight.nn.hooks import AXIS_SIZES, HOOK_POINTS
from headlight_app.contract.state import State
from headlight_app.explore.answers.arrays import MAX_COMPUTED, displayed_array, value_array
from headlight_app.explore.answers.export.code import python_code
from headlight_app.explore.answers.head_view import head_view
from headlight_app.export.answers.number_files import FILE_FORMATS, LabelledArray
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve
from tests.app.asking import make_question
from tests.app.inference.signal_models import save_seers

TEXT = "the cat sat on the mat"
QUESTION = make_question("next", TEXT)
MOST = FILE_FORMATS["npz"].max_values
MADE_FROM = {"model": "=toy, or so", "text": 'a,=1+1,"b\n# c'}
anything = arrays.arrays(np.float32, (3, 4), elements=st.floats(width=32))


def named(values: np.ndarray) -> LabelledArray:
    labels = tuple(tuple(f'{place} =x,"\n' for place in range(size)) for size in values.shape)
    return LabelledArray("name", "about", ("head", "query", "key")[-values.ndim :], labels, values)


def rows(content: bytes) -> list[list[str]]:
    """The lines as a spreadsheet reads them."""
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))


@given(anything)
def test_csv_holds_every_digit(values: np.ndarray) -> None:
    *_, (corner, *columns), _, _, _ = lines = rows(FILE_FORMATS["csv"].write(named(values), MADE_FROM))
    assert corner == "query / key" and columns == [f'{place} =x,"\n' for place in range(4)]
    np.testing.assert_array_equal(np.array([line[1:] for line in lines[-3:]], dtype=np.float32), values)


@given(anything)
def test_pandas_reads_back_a_table_with_its_comment_lines(values: np.ndarray) -> None:
    labels = ("##ing", "a,b", '"#'), ("#", " x ", "1", "é日")
    table = LabelledArray("name", "about", ("query", "key"), labels, values)
    content = FILE_FORMATS["csv"].write(table, MADE_FROM)
    read = pandas.read_csv(io.BytesIO(content), comment="#", index_col=0)
    assert (tuple(read.index), tuple(read.columns)) == labels
    np.testing.assert_array_equal(read.to_numpy(np.float32), values)


def test_what_made_a_table_is_no_formula_of_a_spreadsheet() -> None:
    lines = rows(FILE_FORMATS["csv"].write(named(np.zeros((2, 2), np.float32)), MADE_FROM))
    assert lines[:2] == [["# model: =toy", " or so"], ["# text: a", " =1+1", ' "b # c']]


@given(anything)
def test_json_holds_every_digit_and_null_where_there_is_no_number(values: np.ndarray) -> None:
    document = json.loads(FILE_FORMATS["json"].write(named(values), MADE_FROM))
    assert document["provenance"] == MADE_FROM
    assert document["axes"] == ["query", "key"] and len(document["labels"]["key"]) == 4
    read = np.array(document["values"], dtype=np.float32)
    np.testing.assert_array_equal(read, np.where(np.isfinite(values), values, np.nan))


@given(anything)
def test_npz_holds_every_bit_and_needs_no_pickle(values: np.ndarray) -> None:
    with np.load(io.BytesIO(FILE_FORMATS["npz"].write(named(values), MADE_FROM)), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["values"], values)
        assert str(file["model"]) == "=toy, or so"
        assert file["axes"].tolist() == ["query", "key"] and file["labels_query"].shape == (3,)


def test_three_axes_are_a_line_for_each_number() -> None:
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    head, *lines = rows(FILE_FORMATS["csv"].write(named(values), MADE_FROM))[2:]
    assert head == ["head", "query", "key", "value"]
    assert [line[-1] for line in lines] == [str(float(number)) for number in range(24)]


def test_the_picture_is_what_is_shown() -> None:
    state = State(layer=1, head=2, quantity="scores", hide="first")
    found, made = displayed_array(resolve(QUESTION), state, MOST), head_view(resolve(QUESTION), state)
    np.testing.assert_array_equal(found.values, made.values)
    assert found.name == "layer1-head2-scores"
    assert found.labels[0][-1].endswith(" mat")
    assert np.isnan(displayed_array(resolve(QUESTION), State(), MOST).values[0, 1]), "the cell is masked"


@pytest.mark.parametrize(
    ("path", "axes"),
    [
        ("decoder.1.self.weights[3]", ("query", "key")),
        ("decoder.1.self.weights", ("head", "query", "key")),
        ("decoder.1.self.mask[3]", ("query", "key")),
        ("decoder.0.self.q[1]", ("query", "head_dim")),
        ("decoder.0.self.k[:,2:4]", ("key_value_head", "pos", "head_dim")),
        ("decoder.1.feed_forward.neurons", ("pos", "d_ff")),
        ("decoder.residual[2]", ("d_model",)),
        ("decoder.1.self.scores[3,5,2]", ("key",)),
        ("logits", ("pos", "token")),
    ],
)
def test_any_value_can_be_had_by_its_path(path: str, axes: tuple[str, ...]) -> None:
    found = value_array(resolve(QUESTION), path, MOST)
    assert found.axes == axes
    assert found.values.shape == tuple(len(names) for names in found.labels)
    name, _, index = path.partition("[")
    whole = resolve(QUESTION).value(name)
    if name.endswith("mask"):
        whole = np.broadcast_to(whole, (4, *whole.shape[1:]))
    places = tuple(slice(*map(int, part.split(":"))) if part[1:] else int(part) if part != ":" else slice(None)
                   for part in index.rstrip("]").split(",")) if index else ()  # fmt: skip
    np.testing.assert_array_equal(found.values, np.reshape(whole[places], found.values.shape))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("blocks.1.attn.hook_pattern[2]", "decoder.1.self.weights[2]"),
        ("blocks.0.attn.hook_q[3,1]", "decoder.0.self.q[1,3]"),
        ("blocks.0.attn.hook_z[3]", "decoder.0.self.weighted_values[:,3]"),
        ("blocks.1.hook_resid_post", "decoder.residual"),
    ],
)
def test_a_value_can_be_had_by_its_name_in_transformer_lens(name: str, path: str) -> None:
    found, wanted = (value_array(resolve(QUESTION), each, MOST) for each in (name, path))
    assert found.axes == wanted.axes
    np.testing.assert_array_equal(found.values, wanted.values)


def test_tokens_name_the_places_of_either_text() -> None:
    both = make_question("both", "the rug", source="the dog lay on the rug")
    target, source = resolve(both).trace.text.token_texts, resolve(both).trace.source
    found = value_array(resolve(both), "decoder.1.cross.weights[0]", MOST)
    assert source and found.labels == tuple(
        tuple(f"{place} {piece}" for place, piece in enumerate(pieces)) for pieces in (target, source.token_texts)
    )
    assert len(value_array(resolve(both), "decoder.1.cross.v[0]", MOST).labels[0]) == len(source.ids)
    assert len(value_array(resolve(both), "encoder.final_residual", MOST).labels[0]) == len(source.ids)


def test_a_classifiers_answer_is_for_the_text() -> None:
    assert value_array(resolve(make_question("mood", TEXT)), "logits", MOST).values.shape == (2,)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("weights of head 3", "is not a value"),
        ("decoder.1.self.weights[x]", "is not a value"),
        ("decoder.1.self.weights[1,2,3,4]", "is not a value"),
        ("decoder.9.self.weights", "no value decoder.9.self.weights"),
        ("decoder.*.self.weights", "no value"),
        ("decoder.1.self.weights[4]", "has no head 4; there are 4"),
        ("decoder.1.self.weights[0,99]", "has no query 99"),
    ],
)
def test_what_is_not_there_gets_a_sentence(path: str, said: str) -> None:
    with pytest.raises(EditError) as caught:
        value_array(resolve(QUESTION), path, MOST)
    assert said in str(caught.value)


def test_an_unknown_site_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="weights"):
        value_array(resolve(QUESTION), "decoder.1.self.attention", MOST)


def test_too_much_for_one_file_is_said_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EditError, match="at most 10"):
        value_array(resolve(QUESTION), "decoder.1.self.weights", 10)
    with pytest.raises(EditError, match="at most 10"):
        displayed_array(resolve(QUESTION), State(), 10)
    monkeypatch.setattr("headlight_app.explore.answers.arrays.MAX_COMPUTED", 100)
    monkeypatch.setattr(ResolvedQuestion, "value", lambda resolved, path: pytest.fail("it was computed"))
    with pytest.raises(EditError, match="are computed"):
        value_array(resolve(QUESTION), "logits", MOST)
    assert MAX_COMPUTED > 12 * 1_024**2


def test_every_axis_has_a_size_and_pixels_can_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    axes = {axis for hook_point in HOOK_POINTS.values() for axis in hook_point.axes}
    assert axes - set(AXIS_SIZES) == {"pos", "query", "key"}
    monkeypatch.setenv("HEADLIGHT_MODELS", str(save_seers(tmp_path)))
    found = value_array(resolve(make_question("seer", "", image="house")), "pixels[0]", MOST)
    assert found.axes == ("pixel_row", "pixel_column") and found.values.shape == (32, 32)


@pytest.mark.parametrize(
    "path", ["decoder.1.self.weights[3]", "decoder.0.self.scores[1,2:5]", "decoder.1.self.mask[0]"]
)
def test_one_head_of_a_long_text_is_computed_alone(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = value_array(resolve(QUESTION), path, MOST)
    picture = displayed_array(resolve(QUESTION), State(layer=1, head=2), MOST)
    monkeypatch.setattr("headlight_app.inference.resolved_question.MAX_WEIGHTS_BYTES", 0)
    monkeypatch.setattr(ResolvedQuestion, "value", lambda resolved, path: pytest.fail("a whole layer was computed"))
    resolved = resolve(make_question("next", TEXT + " and"))
    with pytest.raises(EditError, match="at most 10"):
        value_array(resolved, path, 10)
    made = value_array(resolve(QUESTION), path, MOST)
    assert made.axes == usual.axes and made.labels == usual.labels
    np.testing.assert_allclose(made.values, usual.values, atol=1e-5)
    np.testing.assert_allclose(
        displayed_array(resolve(QUESTION), State(layer=1, head=2), MOST).values, picture.values, atol=1e-5
    )
    assert "numbers_of(1, 2)" in python_code(resolve(QUESTION), State(layer=1, head=2))
