"""Encoder, decoder and both: the screens agree with the modules."""

from functools import lru_cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from headlight import find_checkpoint, load
from headlight.checkpoints import Checkpoint
from headlight.config import Config
from headlight.course.architectures.asked_decoder import prompt_bits
from headlight.course.architectures.cross_attention import CUT, cross_attention, write
from headlight.course.architectures.encoder_beside_decoder import (
    SAME,
    ask_decoder,
    ask_encoder,
    changed_word,
    last_tokens,
    same_gap,
    sentence_scores,
    vector_distances,
)
from headlight.course.architectures.model_tables import (
    at_size,
    configurations,
    count_parameters,
    well_known_configs,
    which_task,
)
from headlight.course.architectures.output_heads import (
    EXAMPLES,
    fit_classifier,
    fit_tagger,
    marked_tokens,
    parse_lines,
    read,
)
from headlight.course.architectures.three_shapes import ARCHITECTURES, drawn_shapes, run_shapes, with_architecture
from headlight.course.attention import attend_with_weights
from headlight.course.cards import card_section, card_table
from headlight.errors import InputError
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.rendering.model_diagram import model_diagram
from headlight.views.kinds import HeatMapView, TableView
from headlight.views.rows import as_rows
from tests.model import toys
from tests.model.course.shown import sentences, tensor, views
from tests.sampling import each_once

LENGTHS = st.integers(1, 6)
PUBLISHED = {"BERT": 109_514_298, "GPT-2": 124_439_808, "T5": 60_506_624, "ViT": 86_567_656}  # in the files themselves
CARD = (
    "# x\n\n## Training\n\nWords.\n\n| text | what |\n|---|---:|\n| one | old |\n| two | new |\n\n## Limits\n\nNone.\n"
)


@lru_cache(maxsize=3)
def opened(name: str) -> Checkpoint:
    return load(find_checkpoint(name))


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_encoder_of_its_own_width_is_drawn_as_it_runs(architecture: str, projected: bool) -> None:
    config = with_architecture(toys.summarizer(**{"encoder.projected": projected}).config, architecture)
    source = 9 if config.has_cross_attention else 0
    _, shapes = run_shapes(config, source, 7)
    assert drawn_shapes(model_diagram(config, 7, source)).items() <= shapes.items()


@pytest.mark.parametrize(("architecture", "positional_encoding"), each_once(ARCHITECTURES, POSITIONAL_ENCODINGS))
def test_a_drawing_of_each_shape_has_the_shapes_of_its_run(architecture: str, positional_encoding: str) -> None:
    own = Config(
        vocabulary_size=50, context_length=16, d_model=16, layers=2, heads=4, positional_encoding=positional_encoding
    )
    config = with_architecture(own, architecture)
    source = 9 if config.has_cross_attention else 0
    model, shapes = run_shapes(config, source, 7)
    assert drawn_shapes(model_diagram(config, 7, source)).items() <= shapes.items()
    attentions = [path for path in shapes if path.endswith(".weights")]
    assert (
        len(attentions)
        == (6 if config.has_cross_attention else 2)
        == sum(type(module).__name__ == "Attention" for module in model.modules())
    )
    if config.has_cross_attention:
        assert shapes["decoder.1.cross.weights"] == (4, 7, 9)


@given(queries=LENGTHS, keys=LENGTHS, channels=st.integers(1, 4), seed=st.integers(0, 99))
def test_cross_attention_by_hand_is_what_torch_computes(queries: int, keys: int, channels: int, seed: int) -> None:
    torch.manual_seed(seed)
    x, memory = torch.randn(queries, channels), torch.randn(keys, channels)
    w_q, w_k, w_v = torch.randn(3, channels, 2)
    values = attend_with_weights(x, memory, w_q, w_k, w_v)
    assert values["weights"].shape == (1, 1, queries, keys)
    expected = functional.scaled_dot_product_attention((x @ w_q)[None], (memory @ w_k)[None], (memory @ w_v)[None])
    torch.testing.assert_close(values["weighted_values"][0], expected, atol=1e-5, rtol=1e-4)


def test_the_answer_of_dates_depends_on_its_source_through_cross_attention_alone() -> None:
    dates = opened("dates")
    assert write(dates, "third of March 2021") == "2021-03-03"
    assert write(dates, "4 May 1999", CUT) == write(dates, "third of March 2021", CUT)
    answer = as_rows(cross_attention(dates, "third of March 2021", 0, 2))
    cross, own = (one for row in answer for one in row.views if isinstance(one, HeatMapView))
    length = len(tensor(own.values))
    assert tensor(cross.values).shape == (length, len(cross.columns)) and len(cross.columns) != length
    assert "instead of “2021-03-03”" in sentences(answer)
    (table,) = (one for row in answer for one in row.views if isinstance(one, TableView))
    forbidden = {line[0]: line[4].split(" of ")[0] for line in table.rows if isinstance(line[4], str)}
    assert forbidden == {
        "encoder self-attention": "0", "decoder self-attention": str(length * (length - 1) // 2), "cross-attention": "0"
    }  # fmt: skip
    with pytest.raises(InputError, match="no head 4"):
        cross_attention(dates, "4 May 1999", 0, 4)


def test_the_same_gap_under_an_encoder_and_a_decoder() -> None:
    encoder, decoder = opened("stories-masked"), opened("stories-causal")
    sure = ask_encoder(encoder, "She ", " the bread with a knife.").fate("cut")
    guessed = ask_decoder(decoder, "She ").fate("cut")
    assert sure.rank == 1 and guessed.rank > 10 and sure.probability > 10 * guessed.probability
    scores = sentence_scores(decoder, "She ", " the bread with a knife.", ("cut", "is"))
    assert scores[0] > 10 * scores[1], "the whole sentence is enough for the decoder, too"
    for text in ("[MASK] is first.", "There is none.", "Two [MASK] of [MASK]."):
        with pytest.raises(InputError, match="once"):
            same_gap(encoder, decoder, text, "cut")


def test_a_decoder_has_computed_what_comes_before_an_exchanged_word() -> None:
    one, other = "The dog saw the unbelievable cat there", "The dog saw the unbelievable rabbit there"
    of_encoder = vector_distances(opened("stories-masked"), one, other)
    of_decoder = vector_distances(opened("stories-causal"), one, other)
    assert of_encoder.min() > SAME
    assert of_decoder[:5].max() == 0 and of_decoder[5:].min() > SAME
    tokenizer = opened("stories-causal").tokenizer
    encoded = tokenizer.encode(one)
    ends = [encoded.offsets[at][1] for at in last_tokens(encoded)]
    assert [one[:end].split()[-1] for end in ends] == one.split()
    for sentence, said in ((one, "the same"), ("The dog", "words")):
        with pytest.raises(InputError, match=said):
            changed_word(opened("stories-masked"), opened("stories-causal"), one, sentence)


def test_the_well_known_models_have_as_many_parameters_as_their_files() -> None:
    configs = well_known_configs()
    assert {name: count_parameters(configs[name]) for name in PUBLISHED} == PUBLISHED
    d, hidden, layers = 512, 2048, 6
    attention, feed_forward, norm = 4 * (d * d + d), 2 * d * hidden + d + hidden, 2 * d
    blocks = layers * (3 * attention + 2 * feed_forward + 5 * norm)
    assert count_parameters(configs["Transformer"]) == blocks + 37_000 * d
    for config in configs.values():
        assert at_size(config, 128, 2, 2).d_ff == 512


def test_what_differs_between_two_configs_is_told() -> None:
    causal = opened("stories-causal")
    answer = as_rows(configurations(causal, 2, "128", "BERT", "GPT-2"))
    _, choices, sizes = (one for row in answer for one in row.views if isinstance(one, TableView))
    assert {"architecture", "masks", "norm_placement", "embedding.segments"} <= {line[0] for line in choices.rows}
    assert ("vocabulary_size", "30,522", "50,257") in sizes.rows
    with pytest.raises(InputError, match="two different"):
        configurations(causal, 2, "128", "BERT", "BERT")


def test_heads_learn_the_lines_and_leave_the_network_alone() -> None:
    model, lines = opened("stories-causal"), parse_lines(EXAMPLES)
    before = [parameter.clone() for parameter in model.model.parameters()]
    learned = [read(model, line.sentence) for line in lines]
    classifier = fit_classifier(model.model.config, ("happy", "sad"), lines, learned)
    tagger = fit_tagger(model.model.config, lines, learned)
    for line, one in zip(lines, learned, strict=True):
        assert ("happy", "sad")[int(classifier(one.vectors).argmax())] == line.label
        assert (tagger(one.vectors)[0].argmax(-1).bool() == marked_tokens(one.text, line)).all()
        marked = [line.sentence[first:last] for first, last in line.marked]
        assert len(marked) == 1 and "*" not in line.sentence
    assert all(torch.equal(*pair) for pair in zip(before, model.model.parameters(), strict=True))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("happy: The *dog*.", "different labels; your lines have 1"),
        ("happy: The dog.\nsad: The cat.", "No word is marked"),
        ("happy: The *dog*.\njust words", "Line 2"),
        (": nothing *here*.", "Line 1"),
        ("a: *\nb: *x*", "Line 1"),
    ],
)
def test_lines_that_cannot_be_read_get_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_lines(text)


def test_a_card_is_read_by_its_headings_and_tables() -> None:
    assert card_table(card_section(CARD, "Training")) == (("text", "what"), ("one", "old"), ("two", "new"))
    assert card_section(CARD, "Limits") == "None." and card_section(CARD, "Measured") == ""
    assert card_table("no table") == ()
    assert 0 < prompt_bits(opened("stories-causal"), "Once upon a time there was a little girl") < 3


def test_shipped_models_stand_by_what_their_task_needs_to_see() -> None:
    tables = views(which_task(1), TableView)
    names = [{line[-1] for line in table.rows} for table in tables]
    assert {"sort", "stories-masked"} <= names[0] and "stories-causal" in names[1] and {"dates", "caption"} <= names[2]
    assert not any(str(name).startswith(("positions-", "induction-")) for found in names for name in found)
