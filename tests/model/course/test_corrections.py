"""Sentences and formulas of the course that were once wrong, each compared with computed values."""

import re

import pytest
import torch

from headlight import find_checkpoint, load
from headlight.checkpoints.load import Checkpoint
from headlight.course import timing
from headlight.course.architectures.model_tables import CHOICES, well_known_configs, which_task
from headlight.course.attention_by_hand.words import dot_result, in_sentence
from headlight.course.block.recurrence.path_length import NETWORKS, PATH_LENGTH, accuracy, train
from headlight.course.block.residual import residual
from headlight.course.chapters import CHAPTERS
from headlight.course.tokens.learning_screens import NEXT_WORD
from headlight.course.variants.functions import temperature_in_model
from headlight.nn.positional_encodings import Alibi
from headlight.questions.asking import ask_best
from headlight.tracing.run import run
from headlight.views.encoding import plain
from headlight.views.kinds import BarsView, Equations, HeatMapView, MatrixView, TableView, TokensView, Verdict
from headlight.views.rows import as_rows
from tests.model import toys
from tests.model.course.shown import compute, sentences, tensor, views

ALL = {f"{chapter}/{name}": screen for chapter, row in CHAPTERS.items() for name, screen in row.screens.items()}


@pytest.mark.parametrize(
    ("placement", "title"),
    [("pre", "x + f(x)"), ("post", "norm(x + f(x))"), ("post-sublayer", "x + norm(f(x))")],
)
def test_what_the_stream_becomes_is_named_as_the_model_computes_it(placement: str, title: str) -> None:
    model = Checkpoint(toys.decoder(norm_placement=placement), toys.causal(), "")
    answer = as_rows(residual(model, toys.SENTENCE, 0, 1))
    x, added, after = (tensor(view.values) for view in views(answer, MatrixView))
    shown = views(answer, MatrixView)[-1]
    assert answer[0].text == "The first 6 of 16 channels."
    assert shown.title == title
    is_sum = torch.allclose(x + added, after, atol=1e-4)
    assert is_sum == (title == "x + f(x)") == (shown.before == "=")
    trace = run(model.model, model.tokenizer, toys.SENTENCE)
    assert after[0].tolist() == pytest.approx(trace["decoder.0.residual_after_self"][1][:6].tolist())


@pytest.mark.parametrize(
    ("path", "said"),
    {
        "architectures/three-shapes": "itself and the tokens before it",
        "architectures/changed-word": "their own token and those before it",
        "block/attention-alone": "convolutional, as ByteNet",
        "tokens/merges": "characters (Sennrich",
        "block/averages": "with the same weights",
    }.items(),
)
def test_a_lesson_says_what_holds(path: str, said: str) -> None:
    assert said in ALL[path].lesson


def test_a_state_is_multiplied_by_w_and_a_token_by_u() -> None:
    for path in ("block/recurrence", "block/path-length"):
        assert re.search(r"W h_\{t-1\} \+ U x_t", " ".join(ALL[path].formulas))


def test_a_letter_of_the_sinusoid_has_one_meaning() -> None:
    for chapter in ("positions", "errors"):
        for screen in CHAPTERS[chapter].screens.values():
            if not screen.model_controls:
                said = [*screen.formulas, screen.lesson, str(plain(compute(screen)))]
                assert not [text for text in said if re.search(r"2i|\bi (counts|taken)", text)]


def test_models_are_said_to_do_what_they_do() -> None:
    configs = well_known_configs()
    answers = {name: CHOICES["answers"](config) for name, config in configs.items()}
    assert answers["ViT"] == "Labels images"
    assert answers["T5"] == answers["Transformer"] == "Writes a target from a source"
    biases = {name: CHOICES["biases"](config) for name, config in configs.items()}
    assert biases == {"Transformer": "yes", "BERT": "yes", "GPT-2": "yes", "T5": "no", "ViT": "yes"}


def test_a_decoder_without_a_mask_is_not_listed_under_those_that_see_only_what_was_written() -> None:
    listed = [str(row[-1]) for table in views(which_task(1), TableView) for row in table.rows]
    assert "ladder-5-mask" in listed and not [name for name in listed if name.startswith(("ladder-1", "ladder-4"))]


def test_alibi_says_which_slopes_the_formula_does_not_give() -> None:
    screen = ALL["positions/alibi"]
    (said,) = views(compute(screen, heads="6"), Verdict)
    assert "first 4 heads have the slopes of 4" in said.text and "other 2 every second slope of 8" in said.text
    slopes = Alibi(toys.decoder(heads=6, d_model=24).config).slopes()
    assert slopes.tolist() == pytest.approx([2 ** (-2 * head) for head in (1, 2, 3, 4)] + [2**-1, 2**-3])
    assert not views(compute(screen, heads="8"), Verdict)


def test_a_difference_within_the_noise_decides_nothing() -> None:
    losses = {"a": 3.702, "b": 3.698, "c": 4.2}
    assert "noise" in ask_best("?", losses, 0.017).right and ask_best("?", losses, 0.001).right == "b"
    question = next(row.question for row in compute(ALL["positions/measured"]) if row.question)
    assert question and "noise" in question.right


def test_one_head_becomes_as_many_as_there_are_examples() -> None:
    answer = compute(ALL["masks/broadcast"], batch="3", heads="1")
    assert len(tensor(views(answer, MatrixView)[1].values)) == 3
    (said,) = views(answer, Verdict)
    assert "The 1 head has become 3" in said.text and said.good is False
    assert "RuntimeError" not in views(compute(ALL["masks/broadcast"], batch="1", heads="4"), Verdict)[0].text


@pytest.mark.parametrize("path", ["attention/content", "attention/position",
                                  "beyond-text/sequences", "beyond-text/protein", "beyond-text/graph"])  # fmt: skip
def test_scores_that_are_not_scaled_are_said_to_be_so(path: str) -> None:
    assert any(r"1 / \sqrt{d_k}" in formula for formula in ALL[path].formulas)


@pytest.mark.parametrize(("dim", "times"), [("512", "98.2"), ("16", "56.2")])
def test_how_much_shorter_the_slowest_wave_is_depends_on_the_width(dim: str, times: str) -> None:
    assert f"{times} times shorter" in views(compute(ALL["positions/waves"], dim=dim), Verdict)[0].text


def test_recurrence_learns_what_is_near_and_loses_what_is_far() -> None:
    distance, steps = (int(PATH_LENGTH.controls[name].default) for name in ("distance", "steps"))
    found = {}
    for name in ("recurrent", "recurrent with gates"):
        torch.manual_seed(1)
        network = NETWORKS[name].make(1)
        train(network, distance, steps, 1)
        found[name] = [accuracy(network, each, 1) for each in (1, distance)]
    assert found["recurrent"][0] > 0.9 > 0.5 > found["recurrent"][1]
    assert min(found["recurrent with gates"]) > 0.9


def test_a_busy_moment_does_not_change_a_measured_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, readings = [0.0], [0]

    def read() -> float:
        """A clock: actions take 1 and 2 ms, but 50 times longer in the third round, as on a busy machine."""
        number, begins = divmod(readings[0], 2)
        readings[0] += 1
        if begins:
            clock[0] += (1 + number % 2) * (0.05 if number // 2 == 2 else 0.001)
        return clock[0]

    monkeypatch.setattr(timing, "perf_counter", read)
    assert timing.median_times({"short": list, "long": list}) == pytest.approx({"short": 1.0, "long": 2.0})


@pytest.mark.full
def test_the_word_nearest_to_cat_is_an_animal() -> None:
    nearest = views(compute(NEXT_WORD), TableView)[0]
    assert {row[0]: str(row[2]).split()[0] for row in nearest.rows}["cat"] in ("dog", "horse", "mouse", "bird")


def test_one_thing_is_not_called_several() -> None:
    for path, inputs in {"heads/cut": {"tokens": "1", "d_model": "4", "heads": "1"}}.items():
        titles = str(plain(compute(ALL[path], **inputs)))
        assert not re.search(r"\b1 (tokens|heads)\b", titles)


def test_the_tokens_that_a_question_counts_are_those_that_are_shown() -> None:
    rows = compute(ALL["training/shifted-targets"], text="the cat sat")
    read, targets = views(rows[1:], TokensView)
    question = rows[1].question
    assert question and f"these {len(views(rows[:1], TokensView)[0].tokens)} tokens" in question.text
    assert question.right == str(len(read.tokens)) == str(len(targets.tokens))


def test_a_score_is_made_of_the_query_that_is_shown() -> None:
    question = compute(ALL["attention/look-up"])[0].question
    assert question and question.because == "Its score, 2 × (1·1 + 0.5·0) = 2, is the largest."
    assert dict(question.mistakes)["entry 1"].startswith("Its score is 2 × (1·0 + 0.5·1) = 1;")
    question = compute(ALL["attention/look-up"], query="0.333,0.5")[0].question
    assert question and "2 × (0.33·1 + 0.5·0) ≈ 0.67" in dict(question.mistakes)["entry 0"]


def test_scores_and_scaled_scores_are_drawn_on_one_axis_and_maps_say_which_they_are_of() -> None:
    rows = compute(ALL["attention/scale"])
    plain, scaled = views(rows[1:2], BarsView)
    assert (plain.labels, plain.high) == (scaled.labels, scaled.high)
    widest = [sum(float(share) > 0.01 for share in tensor(view.series["share"])) for view in (plain, scaled)]
    assert widest[0] > 2 * widest[1]
    maps = views(rows, HeatMapView)
    assert [each.title for each in maps] == ["Weights without the scale", "Weights, scores divided by √64"]
    assert tensor(maps[0].values).amax(1).mean() > 1.5 * tensor(maps[1].values).amax(1).mean()


def test_conventions_are_compared_where_they_differ() -> None:
    columns, rows, transposed = (
        tensor(view.values) for view in views(compute(ALL["attention/projections"]), MatrixView)[-3:]
    )
    assert torch.equal(columns, transposed) and not torch.allclose(columns, rows, atol=1)
    assert not torch.allclose(rows, rows.T), "nor is it a chance that each pair looks at each other alike"
    assert "differs by" not in sentences(compute(ALL["attention/projections"]))


def test_the_numbers_of_a_lesson_do_not_refute_it() -> None:
    screen = ALL["tokens/one-hot"]
    assert "belong to similar words" not in screen.lesson
    model = load(find_checkpoint("stories-causal"))
    found = sentences(compute(screen, model))
    nearest = {bars.title: bars.labels[0] for bars in views(compute(screen, model), BarsView)}
    assert f"“queen” – “{nearest['Nearest to “queen”']}” (" in found


def test_titles_say_what_is_shown_and_one_number_has_one_colour() -> None:
    shown = views(compute(ALL["masks/before-after"]), MatrixView)
    assert [view.title for view in shown[2:4]] == ["The scores as they are", "Weights set to 0 after the softmax"]
    assert not views(compute(ALL["masks/before-after"]), BarsView), "the sums of the rows say it, in other decimals"
    signed = [view for view in views(compute(ALL["masks/added"]), MatrixView) if view.colours == "signed"]
    largest = max(float(tensor(view.values).nan_to_num(neginf=0).abs().max()) for view in signed)
    assert len(signed) == 2 and [view.least_scale for view in signed] == pytest.approx([largest] * 2)


def test_an_equation_says_whether_its_written_numbers_give_its_result() -> None:
    assert in_sentence(dot_result(torch.tensor([1.0, 0.5]), torch.tensor([2.0, -1.0]))) == "1·2 + 0.5·(−1) = 1.5"
    assert in_sentence(dot_result(torch.tensor([1 / 3]), torch.tensor([10.0]))) == "0.33·10 ≈ 3.33"
    lines = [
        line for view in views(compute(ALL["attention/steps"], v="10,0;0,10;7,3"), Equations) for line in view.lines
    ]
    assert any("≈" in line for line in lines if line.startswith("o_"))


def test_the_temperature_of_a_head_is_asked_where_the_answer_is_not_noise() -> None:
    checkpoint = Checkpoint(toys.decoder(), toys.causal(), "")
    for temperature, answer in ((0.05, "lower"), (20.0, "higher"), (1.0, "nearly the same")):
        rows = as_rows(temperature_in_model(checkpoint, toys.SENTENCE, 0, 0, temperature))
        question = next(row.question for row in rows if row.question)
        assert question and question.right == answer
