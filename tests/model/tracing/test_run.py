"""run(): one recorded, unchanged forward pass; the guarantees of a Trace."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import (
    HOOK_POINTS,
    EditError,
    GenerationStep,
    HeadlightError,
    TextError,
    Trace,
    candidates,
    fill_mask,
    generate,
    prediction_positions,
    run,
)
from headlight.config import (
    AlternatingUpdatesConfig,
    AttentionConfig,
    ExpertsConfig,
    LatentConfig,
    LayerEmbeddingConfig,
    PerLayerConfig,
    ResidualConfig,
)
from headlight.nn.hooks import AXIS_SIZES, hook_point_of
from headlight.tracing.inputs import MAX_CHARACTERS, encode_input
from headlight.vision.image import process_image
from headlight.vision.patches import class_token_tokenizer
from tests.model import toys

TEXT, SOURCE = "the cat sat on the mat", "a small bird sang"


def decoder(**others: Any) -> Trace:
    """A decoder run; as in the runs below, sizes differ wherever possible."""
    return run(toys.decoder(key_value_heads=2, head_dim=6, value_head_dim=5, d_ff=11), toys.causal(), TEXT, **others)


def encoder(**others: Any) -> Trace:
    """An encoder run with one masked word."""
    return run(
        toys.encoder(head_dim=6, value_head_dim=5, d_ff=11), toys.masked(), TEXT, masked_positions=(2,), **others
    )


def both(**others: Any) -> Trace:
    """Three encoder layers, two decoder layers, texts of different length."""
    model = toys.both(key_value_heads=2, head_dim=6, value_head_dim=5, d_ff=11)
    return run(model, toys.masked(), TEXT, source=SOURCE, **others)


def image_model(**others: Any) -> Trace:
    """A picture of 2 x 3 patches behind a class token."""
    model = toys.seer(head_dim=6, value_head_dim=5, d_ff=11)
    return run(model, class_token_tokenizer(), process_image(toys.photo(), model.config.image), **others)


def captioner(**others: Any) -> Trace:
    """A picture of 2 x 3 patches, and a text about it."""
    model = toys.captioner(key_value_heads=2, head_dim=6, value_head_dim=5, d_ff=11)
    return run(model, toys.masked(), TEXT, source=toys.source(model, ""), **others)


def listener(**others: Any) -> Trace:
    """Nine frames of a recording, and a text about it."""
    model = toys.listener(key_value_heads=2, head_dim=6, value_head_dim=5, d_ff=11)
    return run(model, toys.masked(), TEXT, source=toys.source(model, ""), **others)


def mixture(**others: Any) -> Trace:
    """A mixture of three experts beside one for every token; heads have sinks, their keys and values are compressed."""
    sizes = {"key_value_heads": 2, "head_dim": 6, "value_head_dim": 5, "d_ff": 11}
    latent = LatentConfig(query_channels=9, key_value_channels=7, shared_key_channels=2)
    experts = ExpertsConfig(count=3, shared_d_ff=5)
    model = toys.decoder(
        **sizes,
        experts=experts,
        attention=AttentionConfig(latent=latent, sinks=True, output_gate=True),
    )
    return run(model, toys.causal(), TEXT, **others)


def shared_keys(**others: Any) -> Trace:
    """Three streams, a layer that reads the previous one's keys and values, and per-layer token embeddings."""
    sizes = {"key_value_heads": 2, "head_dim": 6, "value_head_dim": 5, "d_ff": 11}
    layers = {"layer_embedding": LayerEmbeddingConfig(dim=7), "per_layer": PerLayerConfig(key_value_layers=(0, 0))}
    streams = AlternatingUpdatesConfig(streams=3)
    return run(
        toys.decoder(**sizes, **layers, residual=ResidualConfig(alternating_updates=streams)),
        toys.causal(),
        TEXT,
        **others,
    )


RUNS = {"decoder": decoder, "encoder": encoder, "both": both, "image_model": image_model, "captioner": captioner,
        "listener": listener, "mixture": mixture, "shared_keys": shared_keys}  # fmt: skip
IN_EVERY_MODEL = {
    "embedding", "position_ids", "position_embedding", "residual", "residual_after_self", "final_residual", "logits",
    "input", "q", "k", "v", "rotated_q", "rotated_k", "scale", "bias", "scores", "mask", "masked_scores", "weights",
    "weighted_values", "output",
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_every_hook_point_has_its_declared_axes(name: str) -> None:
    trace = RUNS[name]()
    text = len(trace.text.ids)
    source = len(trace.source.ids) if trace.source else text
    sizes = {axis: size(trace.config) for axis, size in AXIS_SIZES.items()}
    sizes |= {"d_model": 16, "head": 4, "key_value_head": 2, "head_dim": 6, "value_head_dim": 5, "d_ff": 11}
    sizes |= {"token": trace.config.vocabulary_size, "key_value_head": trace.config.key_value_heads}
    sizes |= {"color_channel": 3, "pixel_row": 12, "pixel_column": 18, "expert": 3, "latent": 9}
    sizes |= {"sound_channel": 20, "sound_step": 18, "layer_channel": 7, "stream": 3}
    assert {path.rpartition(".")[2] for path in trace.values} >= IN_EVERY_MODEL
    for path, value in trace.values.items():
        own = source if path.startswith("encoder.") else text
        seen = source if ".cross." in path else own
        lengths = {"query": own, "key": seen, "pos": seen if path.endswith((".k", ".v", ".rotated_k")) else own}
        wanted = tuple({**sizes, **lengths}[axis] for axis in hook_point_of(path).axes)
        assert value.shape == (wanted if (name, path) != ("image_model", "logits") else (2,)), path


def test_some_models_together_have_every_hook_point() -> None:
    traces = [make() for make in RUNS.values()]
    assert {path.rpartition(".")[2] for trace in traces for path in trace.values} == set(HOOK_POINTS)


@pytest.mark.parametrize("name", RUNS)
def test_recording_does_not_change_the_logits(name: str) -> None:
    """The logits are bitwise equal, whatever is recorded."""
    everything, nothing = RUNS[name](), RUNS[name](keep=("logits",))
    np.testing.assert_array_equal(everything["logits"], nothing["logits"])


def test_the_logits_are_those_of_the_bare_model() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    bare = model(torch.tensor([tokenizer.encode(TEXT).ids]))
    np.testing.assert_array_equal(run(model, tokenizer, TEXT)["logits"], bare[0])


def test_keep_selects_paths() -> None:
    kept = decoder(keep=("*.weights", "logits"))
    assert sorted(kept.values) == ["decoder.0.self.weights", "decoder.1.self.weights", "logits"]
    assert not decoder(keep=()).values


def test_a_trace_is_read_only() -> None:
    trace = decoder()
    for value in trace.values.values():
        with pytest.raises(ValueError, match="read-only"):
            value[...] = 0
    with pytest.raises(TypeError):
        trace.values["decoder.final_residual"] = np.zeros(3)  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        trace.text = trace.text  # type: ignore[misc]


def test_a_trace_shares_no_memory_with_the_model() -> None:
    model = toys.decoder(positional_encoding="learned")
    trace = run(model, toys.causal(), TEXT)
    copies = {path: value.copy() for path, value in trace.values.items()}
    for parameter in model.parameters():
        parameter.zero_()
    for path, value in trace.values.items():
        np.testing.assert_array_equal(value, copies[path])


def test_traces_can_be_compared_and_kept_in_sets() -> None:
    trace = decoder()
    assert trace != decoder()
    assert len({trace, trace}) == 1


def test_attention_is_layer_head_query_key() -> None:
    trace = both()
    text, source = len(trace.text.ids), len(trace.source.ids) if trace.source else 0
    assert trace.attention().shape == (2, 4, text, text)
    assert trace.attention(stack="encoder").shape == (3, 4, source, source)
    assert trace.attention("cross").shape == (2, 4, text, source)
    for weights in (trace.attention(), trace.attention(stack="encoder"), trace.attention("cross")):
        assert weights.dtype == np.float32
        np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)


def test_probabilities_are_over_the_whole_vocabulary() -> None:
    trace = decoder()
    for position in range(len(trace.text.ids)):
        probabilities = trace.probabilities(position)
        assert probabilities.shape == (300,)
        assert probabilities.sum() == pytest.approx(1, abs=1e-5)
    best = candidates(trace, toys.causal(), count=300)
    assert sum(candidate.probability for candidate in best) == pytest.approx(1, abs=1e-5)
    assert [each.probability for each in best] == sorted((each.probability for each in best), reverse=True)


def test_a_missing_value_or_position_gets_a_sentence() -> None:
    with pytest.raises(EditError, match=r"holds no 'decoder\.9\.self\.weights'.*weights"):
        decoder()["decoder.9.self.weights"]
    with pytest.raises(EditError, match=r"holds no 'logits'"):
        decoder(keep=()).probabilities()
    with pytest.raises(HeadlightError, match=r"no token 99.* has 7, counted from 0"):
        decoder().probabilities(99)


def test_masked_positions_are_read_as_the_mask_token() -> None:
    trace = encoder()
    assert trace.text.ids[2] == toys.masked().mask_id
    assert trace.text.tokens[2] == "[MASK]"
    typed = run(toys.encoder(), toys.masked(), "the [MASK] sat on the mat")
    clicked = run(toys.encoder(), toys.masked(), TEXT, masked_positions=(2,))
    np.testing.assert_array_equal(typed["logits"], clicked["logits"])
    assert prediction_positions(toys.encoder(), toys.masked(), typed.text) == (2,)


@pytest.mark.parametrize("place", [-1, 8, 10_000])
def test_masking_a_position_out_of_range_gets_a_sentence(place: int) -> None:
    with pytest.raises(EditError, match=rf"no token {place} to mask: the text has 8"):
        run(toys.encoder(), toys.masked(), TEXT, masked_positions=(place,))


def test_masking_needs_a_mask_token() -> None:
    with pytest.raises(TextError, match="no mask token"):
        decoder(masked_positions=(1,))


def test_a_decoder_with_an_empty_text_reads_its_start_token() -> None:
    alone = run(toys.both(), toys.masked(), "", source=SOURCE)
    assert alone.text.ids == (toys.masked().start_id,)
    target = encode_input(toys.both(), toys.masked(), "the cat")
    assert target.tokens == ("[CLS]", "the", "cat")
    assert target.special_mask == (True, False, False)


def test_an_empty_text_gets_a_sentence() -> None:
    with pytest.raises(TextError, match="empty; type a sentence"):
        run(toys.decoder(), toys.causal(), "")
    with pytest.raises(TextError, match="empty; type a sentence"):
        run(toys.both(), toys.masked(), "", source="")


@pytest.mark.parametrize("text", [" ", "\n", "\n\t  ", "\u00a0\u2003"])
def test_only_white_space_is_a_text(text: str) -> None:
    traced = run(toys.decoder(), toys.causal(), text)
    assert traced.text.ids == toys.causal().encode(text).ids and toys.causal().join_tokens(traced.text.ids[1:]) == text
    source = run(toys.both(), toys.masked(), "", source=text).source
    assert source and source.tokens == ("[CLS]", "[SEP]")
    assert next(generate(toys.decoder(), toys.causal(), text, steps=1)).chosen_token >= 0


@pytest.mark.usefixtures("unchecked_shapes_in_test")  # the shape checks would refuse them first
@pytest.mark.parametrize("given", [["the cat", "the dog"], None, 7, b"the cat"])
def test_what_is_no_text_gets_a_sentence_that_says_so(given: Any) -> None:
    said = rf"The text is a {type(given).__name__}; one text is read at a time, as a str\."
    for question in (run, generate_first, fill_mask):
        with pytest.raises(TextError, match=said):
            question(toys.encoder() if question is fill_mask else toys.decoder(), toys.masked(), given)
    if given is not None:  # None is an empty source
        with pytest.raises(TextError, match=rf"The source is a {type(given).__name__}"):
            run(toys.both(), toys.masked(), "", source=given)


def generate_first(*given: Any) -> GenerationStep:
    return next(generate(*given))


@pytest.mark.usefixtures("unchecked_shapes_in_test")
@pytest.mark.parametrize("edit", [lambda value: value, 7, None])
def test_an_edit_that_is_no_text_gets_a_sentence_that_says_so(edit: Any) -> None:
    with pytest.raises(EditError, match=rf"A {type(edit).__name__} is not an edit.*weights\[3\]=set:0.*hook="):
        decoder(interventions=[edit])
    with pytest.raises(EditError, match=r"is one text; give a list of edits"):
        decoder(interventions="decoder.1.self.weights[3]=set:0")


def test_too_long_a_text_gets_a_sentence_with_both_numbers() -> None:
    with pytest.raises(TextError, match=r"The text has 26 tokens; this model reads at most 24\."):
        run(toys.decoder(), toys.causal(), "the" + " cat" * 24)
    with pytest.raises(TextError, match=r"The source has 26 tokens; this model reads at most 24\."):
        run(toys.both(), toys.masked(), "", source="the" + " cat" * 23)
    with pytest.raises(TextError, match=rf"at most {MAX_CHARACTERS:,} are read"):
        run(toys.decoder(), toys.causal(), "a" * (MAX_CHARACTERS + 1))


def test_a_source_is_for_encoder_decoders_and_they_need_one() -> None:
    with pytest.raises(TextError, match="takes no source"):
        decoder(source="the cat")
    with pytest.raises(TextError):
        run(toys.both(), toys.masked(), "the cat")


@given(st.text(max_size=40) | st.text(alphabet="\x00\x07\x1b\u200b\u202e\ufeffא😀👩‍👧<>/$*&[MASK] \n", max_size=40))
def test_any_text_gives_a_trace_or_a_sentence(text: str) -> None:
    for model, tokenizer in ((toys.decoder(layers=1), toys.causal()), (toys.encoder(layers=1), toys.masked())):
        try:
            trace = run(model, tokenizer, text)
        except HeadlightError as error:
            assert str(error).endswith(".")
        else:
            assert len(trace.text.tokens) == len(trace["logits"]) == len(trace.text.token_texts)
            np.testing.assert_allclose(trace.attention().sum(-1), 1, rtol=1e-4)


def test_runs_in_threads_do_not_mix() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    edits = [(), ("decoder.0.self.weights[1]=set:0",), ("decoder.*.self.mask[:,3]=set:0",), ("logits=scale:2",)]
    questions = [(text, edit) for text in (TEXT, SOURCE, "the dog saw the cat") for edit in edits] * 4

    def answer(question: tuple[str, tuple[str, ...]]) -> np.ndarray:
        return run(model, tokenizer, question[0], question[1])["logits"]

    alone = [answer(question) for question in questions]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(alone, pool.map(answer, questions), strict=True):
            np.testing.assert_array_equal(one, other)
