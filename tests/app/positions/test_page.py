"""The Positions page: a positional encoding in words, its charts and losses as views, and its code."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from headlight.analysis.position_profile import position_profile
from headlight.config import PerLayerConfig
from headlight.errors import HeadlightError
from headlight.evaluation.length_extrapolation import Extrapolation, Loss, ModelLosses
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.paths import assets_dir
from headlight.views.kinds import (
    BarsView,
    ChoiceView,
    Equations,
    HeatMapView,
    InputView,
    LinesView,
    MatrixView,
    Verdict,
    View,
)
from headlight.views.rows import as_rows
from headlight_app.contract.state import State
from headlight_app.export.answers.views import digest_of
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve
from headlight_app.positions.answers import page
from headlight_app.positions.answers.charts import MOST_ADDED, SAMPLED_CHANNELS, chart_rows, sampled_channels
from headlight_app.positions.answers.losses import PLUS_MINUS, loss_table
from tests.app.asking import ask_page, ask_worker, make_question
from tests.app.pages import alone, component_data
from tests.model import toys
from tests.sampling import each_once

MODELS = ("next", "masked", "both")
SIMILARITY = ("Similarity of positions", "Similarity to position {middle}", "Position")
ADDED = ("What is added to each token", "Channels over positions", "Channels", *SIMILARITY)
ROTATED = ("Cosine of each rotation", "Rotation angles of channel pairs", "Pairs", *SIMILARITY)
HEADS = ("Bias over distance", "Bias of head 0", "Head")
BUCKETS = "Distances that share a learned row"
CHARTS = {
    "none": (),
    "sinusoidal": ADDED,
    "sinusoidal-halves": ADDED,
    "learned": ADDED,
    "rope": ROTATED,
    "rope-patches": ROTATED,
    "alibi": ("Bias over distance", "Slope of each head: decrease per token"),
    "relative": (*HEADS, BUCKETS),
    "relative-patches": HEADS,
    "disentangled": (BUCKETS, "Similarity of distances"),
}
CELLS = ("3.250 ± 0.010", "no such positions", "3.250 ± 0.010")
PATCHES = ("rope-patches", "relative-patches")
# What is saved of an encoding: the array of its profile, and what is drawn of it.
SAVED = {
    ("sinusoidal", "Embeddings"): lambda profile: profile.embeddings,
    ("sinusoidal", "Similarity of positions"): lambda profile: profile.similarity,
    ("rope", "Rotation angles"): lambda profile: profile.angles,
    ("rope", "Similarity of positions"): lambda profile: profile.similarity,
    ("alibi", "Bias over distance"): lambda profile: profile.bias[:, profile.bias.shape[-1] // 2],
    ("alibi", "Slopes"): lambda profile: profile.slopes,
    ("relative", "Bias over distance"): lambda profile: profile.bias[:, profile.bias.shape[-1] // 2],
    ("relative", "Rows that distances share"): lambda profile: profile.buckets,
    ("disentangled", "Rows that distances share"): lambda profile: profile.buckets,
    ("disentangled", "Similarity of distances"): lambda profile: profile.bucket_similarity,
}  # fmt: skip


@pytest.mark.parametrize(("model", "encoding"), each_once(MODELS, sorted(POSITIONAL_ENCODINGS)))
def test_of_every_positional_encoding_the_page_has_the_code(model: str, encoding: str) -> None:
    at = alone("positions", model=model, positional_encoding=encoding)
    assert not at.exception and at.get("bidi_component")
    assert at.code[-1].value.startswith(f"class {POSITIONAL_ENCODINGS[encoding].__name__}(")


def of_toy(encoding: str, **choices: Any) -> ResolvedQuestion:
    """A toy trained with an encoding, as if it were asked about; it reads images if the encoding is of patches."""
    model = (toys.seer if encoding in PATCHES else toys.model)(positional_encoding=encoding, **choices)
    known = resolve(make_question("next"))
    return replace(known, question=make_question(f"{encoding} {choices}"), model=model)


def shown_of(resolved: ResolvedQuestion, **choices: Any) -> list[View]:
    """The views of a page about the encoding itself."""
    rows = page.show_encoding(resolved, State(**choices)).rows
    views = [view for row in as_rows(rows) if not row.origin for view in row.views]
    return [view for view in views if not isinstance(view, InputView | MatrixView)]


@pytest.mark.parametrize("encoding", CHARTS)
def test_every_positional_encoding_that_was_learned_is_explained_and_drawn(encoding: str) -> None:
    resolved, row = of_toy(encoding), POSITIONAL_ENCODINGS[encoding]
    views = shown_of(resolved)
    assert row.description in [each.text for each in as_rows(page.show_encoding(resolved, State()).rows)]
    assert [view.lines for view in views if isinstance(view, Equations)] == ([(row.formula,)] if row.formula else [])
    assert not [view for view in views if isinstance(view, Verdict)], "it is the model's own"
    middle = resolved.config.context_length // 2
    titles = [view.title for view in views if not isinstance(view, Equations)]
    assert titles == [title.format(middle=middle) for title in CHARTS[encoding]]


@pytest.mark.parametrize(
    ("encoding", "words", "charts"),
    [
        ("learned", "a vector for each position", ()),
        ("relative", "a number for each head", (BUCKETS,)),
        ("disentangled", "a vector for each range of distances", (BUCKETS,)),
    ],
)
def test_what_was_never_learned_is_explained_and_only_its_layout_is_drawn(
    encoding: str, words: str, charts: tuple[str, ...]
) -> None:
    """The model was trained with rotations: any table that replaces them is untrained."""
    views = ask_page("positions", model="next", positional_encoding=encoding)
    (said,) = [view["text"] for view in views if view["kind"] == "verdict"]
    assert words in said and "without positional encoding" in said and f'positional_encoding = "{encoding}"' in said
    own = [view for view in views if view["kind"] not in ("verdict", "equations", "table")]
    assert tuple(view["title"] for view in own if not view["title"].startswith("Loss of")) == charts


def test_of_an_encoding_that_is_not_the_models_own_it_says_so() -> None:
    said = [
        view["text"]
        for view in ask_page("positions", model="next", positional_encoding="alibi")
        if view["kind"] == "verdict"
    ]
    assert said == [page.OF_ANOTHER]


@pytest.mark.parametrize("encoding", CHARTS)
def test_each_chart_has_a_sentence_with_its_conclusion(encoding: str) -> None:
    charts = [view for view in shown_of(of_toy(encoding)) if isinstance(view, HeatMapView | LinesView | BarsView)]
    assert all(view.note for view in charts), [view.title for view in charts if not view.note]
    losses = [view for view in titled("next").values() if view["title"].startswith("Loss of")]
    assert all("has the lowest loss" in view["note"] for view in losses)


def test_what_the_charts_of_distances_mean_is_said() -> None:
    for encoding in ("relative", "disentangled"):
        notes = {view.title: view.note for view in shown_of(of_toy(encoding))}
        assert "share one row of the learned table" in notes[BUCKETS]
    assert "depends on the query and the key" in notes["Similarity of distances"]


def test_each_layer_is_shown_where_layers_differ() -> None:
    unlike = of_toy("rope", per_layer=PerLayerConfig(positional_encodings=("rope", "none")))
    for layer, charts in ((-1, ROTATED), (0, ROTATED), (1, ()), (10**6, ())):
        (choice, *views) = (view for view in shown_of(unlike, layer=layer) if not isinstance(view, Equations))
        assert isinstance(choice, ChoiceView) and choice.title == "Layer" and choice.options == ("0", "1")
        assert choice.chosen == min(max(layer, 0), 1)
        assert [view.title for view in views] == [title.format(middle=12) for title in charts]
        shown = page.show_encoding(unlike, State(layer=layer))
        assert shown.about == f"decoder, layer {choice.chosen}, 24 positions"
        assert shown.program == {"length": 24, "stack": "decoder", "layer": choice.chosen}


def test_heads_too_narrow_for_a_rotation_have_no_pairs_to_draw() -> None:
    titles = [view.title for view in shown_of(of_toy("rope", heads=16)) if not isinstance(view, Equations)]
    assert titles == [title.format(middle=12) for title in SIMILARITY]
    assert sampled_channels(0) == ()


def titled(model: str, **fields: Any) -> dict[str, dict[str, Any]]:
    """The views of the page by their titles."""
    return {view["title"]: view for view in ask_page("positions", model=model, **fields)}


def tables(views: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The numbers that can be saved, by their titles."""
    return {title: table for view in views.values() for title, table in (view["tables"] or {}).items()}


@pytest.mark.parametrize(("encoding", "title"), SAVED)
def test_the_numbers_are_those_of_the_profile(encoding: str, title: str) -> None:
    resolved = of_toy(encoding)
    expected = SAVED[encoding, title](resolved.position_profile(resolved.config.context_length, "decoder"))
    (table,) = (view.tables[title] for view in shown_of(resolved) if view.tables and title in view.tables)
    np.testing.assert_array_equal(table.values, expected)
    assert tuple(map(len, table.axes.values())) == expected.shape
    if "distance" in table.axes:
        assert table.axes["distance"][expected.shape[-1] // 2] == "0"


def test_of_very_many_channels_some_are_mapped_and_all_are_saved() -> None:
    profile = position_profile(toys.model(d_model=2_100, positional_encoding="sinusoidal"), 3)
    (mapped,) = (view for row in chart_rows(profile, State(), only_layout=False) for view in row.views[:1]
                 if view.title == ADDED[0])  # fmt: skip
    assert isinstance(mapped, HeatMapView) and mapped.tables and profile.embeddings is not None
    np.testing.assert_array_equal(mapped.values, profile.embeddings[:, ::3])
    assert mapped.columns[:2] == ("0", "3") and len(mapped.columns) == 700
    assert mapped.note.endswith("The map shows one channel in 3; the saved numbers have all.")
    np.testing.assert_array_equal(mapped.tables["Embeddings"].values, profile.embeddings)


def test_what_is_chosen_is_drawn_and_what_does_not_exist_is_not() -> None:
    options = sampled_channels(8)
    chosen = titled("next", positional_encoding="sinusoidal", channels=[options[0], options[1], 10**6], position=1)
    assert list(chosen["Channels over positions"]["series"]) == [f"channel {channel}" for channel in options[:2]]
    assert "Similarity to position 1" in chosen
    views = titled("next", positional_encoding="sinusoidal", channels=[10**6], position=10**6)
    assert len(views["Channels over positions"]["series"]) > 0
    last = len(views["Similarity of positions"]["values"]) - 1
    assert f"Similarity to position {last}" in views and views["Position"]["chosen"] == last
    middle = (last + 1) // 2
    assert f"Similarity to position {middle}" in titled("next", positional_encoding="sinusoidal")
    assert views["Position"]["picks"][middle - 1 : middle + 1] == [{"position": middle - 1}, {"position": -1}]
    last = len(titled("both")["Head"]["options"]) - 1
    views = titled("both", bias_head=10**6, head=1)
    assert views["Head"]["chosen"] == last and f"Bias of head {last}" in views
    assert views["Head"]["picks"][1] == {"bias_head": 1}


def test_channels_that_an_address_names_can_be_chosen_and_are_drawn() -> None:
    (lines,) = (view for view in shown_of(of_toy("learned"), channels=(6, 9)) if isinstance(view, LinesView)
                and view.title == ADDED[1])  # fmt: skip
    assert list(lines.series) == ["channel 6", "channel 9"] and not {6, 9} <= {*sampled_channels(16)}
    choice = choice_of(shown_of(of_toy("learned"), channels=(6, 9)), "Channels")
    assert {"6", "9"} <= {*choice.options} and [*choice.options] == sorted(choice.options, key=int)
    assert choice.chosen == (choice.options.index("6"), choice.options.index("9"))
    everything = choice_of(shown_of(of_toy("learned", d_model=400), channels=tuple(range(400))), "Channels")
    assert len(everything.options) <= SAMPLED_CHANNELS + MOST_ADDED


def choice_of(views: list[View], title: str) -> ChoiceView:
    """The only choice with this title."""
    (found,) = (view for view in views if isinstance(view, ChoiceView) and view.title == title)
    return found


def test_another_stack_or_layer_begins_with_other_channels() -> None:
    stacks = choice_of(shown_of(resolve(make_question("both"))), "Stack")
    assert stacks.picks[0] == {"attention": "encoder.self", "channels": ()}
    unlike = of_toy("rope", per_layer=PerLayerConfig(positional_encodings=("rope", "none")))
    assert choice_of(shown_of(unlike), "Layer").picks[1] == {"layer": 1, "channels": ()}


def test_channels_are_sampled_densely_at_the_front() -> None:
    assert sampled_channels(3) == (0, 1, 2) and sampled_channels(1) == (0,)
    steps = np.diff(sampled_channels(192))
    assert sampled_channels(192)[-1] == 191 and (np.diff(steps[1:]) >= 0).all()


def test_of_an_encoder_decoder_the_stack_of_the_chosen_attention_is_shown() -> None:
    for attention, stack in (("", "decoder"), ("decoder.cross", "decoder"), ("encoder.self", "encoder")):
        meta, _ = ask_worker("views", page="positions", model="both", attention=attention)
        assert meta["program"]["stack"] == stack and meta["about"].startswith(stack)


def test_of_very_many_heads_fewer_positions_are_shown_if_they_have_biases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MAX_BIASES", 400)
    for encoding, length in (("alibi", 10), ("relative", 10), ("rope", 24), ("learned", 24), ("disentangled", 24)):
        assert page.show_encoding(of_toy(encoding), State()).program["length"] == length


def test_a_view_that_is_known_is_not_sent_again() -> None:
    meta, _ = ask_worker("views", page="positions", model="next", positional_encoding="sinusoidal")
    sent = [view for row in meta["rows"] for view in row["views"]]
    known = [view["digest"] for view in sent]
    assert len(set(known)) == len(known)
    again, _ = ask_worker(
        "views", page="positions", model="next", positional_encoding="sinusoidal", position=1, known=known
    )
    new = [view for row in again["rows"] for view in row["views"] if "kind" in view]
    assert [view["title"] for view in new] == ["Similarity to position 1", "Position"]
    assert again["rows"][-1]["views"] == [{"digest": digest} for digest in known[-2:]]
    with pytest.raises(HeadlightError, match="nowhere"):
        ask_worker("views", page="nowhere", model="next")


def test_the_component_is_given_what_the_address_says() -> None:
    data = component_data(alone("positions", model="next", channels="3;1", position="2", bias_head="1", head="3").main)
    told = {"attention": "", "layer": -1, "bias_head": 1, "channels": [1, 3], "position": 2, "order_text": ""}
    assert data["page"] == "positions" and data["state"] == told and data["question"]["text"] == ""


def test_a_model_that_does_not_open_is_told_of_once_by_the_views() -> None:
    at = alone("positions", model="next", positional_encoding="nothing")
    assert not at.exception and not at.info and not at.code and at.get("bidi_component")
    with pytest.raises(HeadlightError, match="nothing"):
        ask_worker("views", page="positions", model="next", positional_encoding="nothing")


def test_equal_views_have_equal_digests_and_others_do_not() -> None:
    one = HeatMapView("a", np.zeros((2, 2)), low=0.0)
    others = (
        *(replace(one, title="b"), replace(one, values=np.zeros((2, 2), np.float32)), replace(one, high=1.0)),
        *(replace(one, values=np.zeros((1, 4))), replace(one, values=torch.zeros(2, 2)), replace(one, rows=("a", "b"))),
        *(replace(one, values=np.array([[0.0, 0.0], [0.0, 1e-30]])), LinesView("a", range(2), {}, "x", "y")),
    )
    assert digest_of(one) == digest_of(replace(one, values=np.zeros((2, 2))))
    assert len({digest_of(one), *map(digest_of, others)}) == 1 + len(others)


def test_what_is_known_is_not_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    views = ask_page("positions", model="next", with_tables=False)
    monkeypatch.setattr(HeatMapView, "as_drawn", None)  # rounds the numbers that are sent
    known = [view["digest"] for view in views]
    meta, _ = ask_worker("views", page="positions", model="next", known=known)
    assert [view for row in meta["rows"] for view in row["views"]] == [{"digest": digest} for digest in known]


def test_what_was_measured_is_shown_as_it_stands_in_the_files() -> None:
    at = alone("positions", model="next")
    assert not at.exception
    shown = [view for view in ask_page("positions", model="next") if view["kind"] == "table"]
    files = sorted((assets_dir() / "positions").glob("*.json"))
    assert len(shown) == len(files) > 0
    for table, file in zip(shown, files, strict=True):
        measured = json.loads(file.read_text())
        for row, model in zip(table["rows"], measured["models"], strict=True):
            losses = (*model["losses"], model["shuffled"])
            title = POSITIONAL_ENCODINGS[model["positional_encoding"]].title
            assert row == [title, *(bits(loss) if loss else "no such positions" for loss in losses)]
        (saved,) = table["tables"].values()
        numbers = [
            [
                loss[name] / math.log(2) if loss else math.nan
                for loss in (*model["losses"], model["shuffled"])
                for name in ("mean", "standard_error")
            ]
            for model in measured["models"]
        ]
        np.testing.assert_allclose(np.array(saved["values"], float), numbers, rtol=1e-12)
        assert measured["command"] in [code.value for code in at.code]


def bits(loss: dict[str, float]) -> str:
    """A loss given in nats, as the page shows it in bits."""
    mean, error = (loss[name] / math.log(2) for name in ("mean", "standard_error"))
    return f"{mean:.3f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{error:.3f}"


def test_the_losses_of_encoders_are_those_of_masked_tokens() -> None:
    views = titled("next")
    notes = [view["note"] for view in views.values() if "are predicted" in view["note"]]
    (of_encoders,) = (note for note in notes if "masked tokens are predicted" in note)
    assert len(notes) == 2 and "Do not compare them with a decoder's" in of_encoders
    units = {name: list(table["axes"])[1] for name, table in tables(views).items() if name.startswith("Losses")}
    assert units == {"Losses of decoders": "bits per token", "Losses of encoders": "bits per masked token"}


def test_the_losses_name_the_models_that_they_are_of() -> None:
    meta, _ = ask_worker("views", page="positions", model="next")
    origins = [row["origin"] for row in meta["rows"] if row["origin"]]
    assert all(origin["words"].startswith("measured by headlight extrapolate") for origin in origins)
    assert [len(origin["models"]) for origin in origins] == [6, 6]


def test_the_open_model_is_marked_and_a_table_that_ends_says_so() -> None:
    loss = Loss(3.25 * math.log(2), 0.01 * math.log(2))
    row = ModelLosses("positions-decoder-learned", "learned", 1, (loss, None), loss)
    found = Extrapolation("", (128, 256), (replace(row, name="other"), row))
    table = loss_table("decoder", found, "positions-decoder-learned")
    assert (table.marked, table.marked_as) == (1, "open now") and [row[0] for row in table.rows] == ["Learned"] * 2
    assert table.rows[0][1:] == tuple(cell.replace(" ± ", PLUS_MINUS) for cell in CELLS)
    assert "“no such positions”: the model's table of positions ends where training ended." in table.note
    complete = replace(found, models=(replace(row, losses=(loss, loss)),))
    assert "no such positions" not in loss_table("decoder", complete, "next").note
    assert table.columns[2] == "256 tokens (2\u00a0×\u00a0as\u00a0long)" and "has not been measured yet" in table.note
    assert loss_table("decoder", found, "next").marked is None
