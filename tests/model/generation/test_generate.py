"""generate(): every step equals the full forward pass, whatever is cached, masked or edited."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from headlight import (
    ATTENTION_FUNCTIONS,
    HOOK_POINTS,
    POSITIONAL_ENCODINGS,
    GenerationStep,
    HeadlightError,
    TextError,
    TextGenerator,
    Transformer,
    generate,
    variant,
)
from headlight.config import (
    AlternatingUpdatesConfig,
    EmbeddingConfig,
    ExpertsConfig,
    LatentConfig,
    LayerEmbeddingConfig,
    RopeConfig,
)
from headlight.nn.hooks import Hook, no_hook
from headlight.nn.output_heads import LanguageModelHead
from headlight.tracing.inputs import signal_tensor, token_tensor
from headlight.tracing.interventions import Intervention, InterventionHook
from tests.model import toys
from tests.sampling import combinations, first_of_each

TEXT, SOURCE = "the cat", "a small bird sang"
EDITS = [
    "decoder.0.self.weights[1]=set:0",
    "decoder.*.self.weights[2]=uniform",
    "decoder.0.self.mask[:,5,2]=set:0",
    "decoder.1.self.mask[0,3:,1]=set:0",
    "decoder.0.residual[4]=add:0.5",
    "decoder.1.self.k[0,2]=set:0",
    "decoder.0.self.v[:,1:4,0]=scale:-2",
    "decoder.0.self.scores[1,4:,2]=add:3",
    "decoder.0.feed_forward.neurons[3:6,7]=set:1",
    "decoder.1.residual[2:5]=mean",
    "decoder.0.self.scores[3]=mean",
    "logits[5]=scale:3",
    "decoder.*.self.scale=set:1",
    "decoder.1.self.scale[2]=scale:-0.5",
    "decoder.position_ids[2]=set:7",
    "decoder.position_ids[4:]=add:3",
    "decoder.position_ids=scale:2",
    "decoder.0.self.weights[1,3:,1:3]=uniform",
    "decoder.0.self.mask=set:1",
    "decoder.*.self.mask[:,2:,2:6]=set:1",
    "decoder.0.self.masked_scores[1]=scale:0",
    "decoder.0.self.weights[2,:3]=set:0.2",
    "decoder.0.self.weights[2,1,4]=add:0.5",
]
CROSS_EDITS = [
    "decoder.0.cross.k[1,2]=set:0",
    "decoder.*.cross.v[:,1:4]=scale:-2",
    "decoder.0.cross.rotated_k[2,3]=add:1",
    "decoder.0.cross.mask[:,4,1]=set:0",
    "decoder.1.cross.weights[0,:,2]=set:0",
    "decoder.1.cross.weights[3]=uniform",
    "encoder.0.self.weights[1]=set:0",
    "encoder.2.residual[3]=add:2",
    "encoder.position_ids[2]=set:4.5",
    "decoder.position_ids[3]=set:0",
    "decoder.0.cross.scale[1]=scale:3",
]


def steps(model: Transformer, *edits: str, **choices: Any) -> list[GenerationStep]:
    """All steps of a generation, greedy by default."""
    cross = model.config.has_cross_attention
    tokenizer = toys.masked() if cross else toys.causal()
    others = {"source": toys.source(model, SOURCE), "steps": 6, "temperature": 0.0, **choices}
    return list(generate(model, tokenizer, TEXT, edits, **others))


def full_forward(model: Transformer, step: GenerationStep, *edits: str) -> torch.Tensor:
    """The logits of one pass over the step's whole text with the edits; edits past its end are inactive."""
    hook: Hook = InterventionHook([Intervention.parse(edit) for edit in edits], start=0) if edits else no_hook
    source = token_tensor(step.source, model) if step.source else None
    signal = signal_tensor(step.source, model) if step.source else None
    logits = model(torch.tensor([step.text.ids]), source=source, signal=signal, hook=hook)
    assert isinstance(logits, torch.Tensor)
    return logits[0]


def assert_equals_full_forward(model: Transformer, *edits: str, **choices: Any) -> list[GenerationStep]:
    """Every step's rows equal the full forward pass, and its most likely token is chosen."""
    generated = steps(model, *edits, **choices)
    assert generated
    for step in generated:
        expected = full_forward(model, step, *edits)
        np.testing.assert_allclose(step["logits"], expected[step.start :], atol=1e-5, rtol=1e-5)
        assert step.chosen_token == int(expected[-1].argmax())
    return generated


@pytest.mark.parametrize(
    ("position", "attention_function", "masks"),
    combinations(sorted(POSITIONAL_ENCODINGS), sorted(ATTENTION_FUNCTIONS), [("causal",), ("causal", "window:3")]),
)
def test_cached_generation_equals_the_full_forward(
    position: str, attention_function: str, masks: tuple[str, ...]
) -> None:
    assert_equals_full_forward(
        toys.decoder(
            positional_encoding=position, attention_function=attention_function, masks=masks, key_value_heads=2
        )
    )


LENGTH_DEPENDENT_SCALINGS = {
    "dynamic": RopeConfig(scaling="dynamic", factor=4.0, original_context_length=6),
    "longrope": RopeConfig(
        scaling="longrope", original_context_length=6, short_factor=(1.0, 1.0), long_factor=(3.0, 9.0)
    ),
}


@pytest.mark.parametrize("scaling", LENGTH_DEPENDENT_SCALINGS)
def test_cached_generation_equals_the_full_forward_where_frequencies_depend_on_the_length(scaling: str) -> None:
    model = toys.decoder(positional_encoding="rope", rope=LENGTH_DEPENDENT_SCALINGS[scaling])
    generated = assert_equals_full_forward(model, steps=10)
    starts = [step.start for step in generated]
    assert all(starts[1:4]), "within the original context one token is read"
    assert not starts[4], "past it the text is read again"


@pytest.mark.parametrize("scaling", LENGTH_DEPENDENT_SCALINGS)
def test_a_prefix_of_a_longer_text_is_not_taken_where_frequencies_depend_on_the_length(scaling: str) -> None:
    model = toys.decoder(positional_encoding="rope", rope=LENGTH_DEPENDENT_SCALINGS[scaling])
    generator = TextGenerator.from_text(model, toys.causal(), TEXT)
    _, long_prefix = generator.step((5, 6, 7, 8, 9, 10))
    alone, _ = generator.step((5,))
    after_another, _ = generator.step((5,), long_prefix.truncate(len(generator.text.ids)))
    np.testing.assert_array_equal(after_another["logits"][-1], alone["logits"][-1])


@pytest.mark.parametrize("masks", [("window:3",), ()])
def test_generation_without_a_causal_mask_equals_the_full_forward(masks: tuple[str, ...]) -> None:
    assert_equals_full_forward(toys.decoder(masks=masks))


@pytest.mark.parametrize("position", sorted(POSITIONAL_ENCODINGS))
def test_generation_of_an_encoder_decoder_equals_the_full_forward(position: str) -> None:
    assert_equals_full_forward(toys.both(positional_encoding=position))
    assert_equals_full_forward(toys.captioner(positional_encoding=position))


def hook_point_name(edit: str) -> str:
    """The name of the hook point that an edit changes."""
    return Intervention.parse(edit).path.rpartition(".")[2]


@pytest.mark.parametrize("edit", first_of_each(EDITS, hook_point_name))
def test_edits_in_generation_equal_edits_in_the_full_forward(edit: str) -> None:
    assert_equals_full_forward(toys.decoder(positional_encoding="relative", key_value_heads=2), edit)


@pytest.mark.parametrize("edit", first_of_each([*CROSS_EDITS, *EDITS[:4]], hook_point_name))
def test_edits_of_an_encoder_decoder_equal_those_in_the_full_forward(edit: str) -> None:
    assert_equals_full_forward(toys.both(), edit)
    assert_equals_full_forward(toys.captioner(), edit)


def test_several_edits_equal_those_in_the_full_forward() -> None:
    assert_equals_full_forward(toys.decoder(), *EDITS[:8])


def test_a_causal_step_reads_one_token() -> None:
    generated = steps(toys.decoder())
    assert [step.start for step in generated] == [0, *range(len(generated[0].text.ids), len(generated[-1].text.ids))]
    assert generated[3]["decoder.0.self.weights"].shape == (4, 1, len(generated[3].text.ids))


def test_each_step_reads_what_the_one_before_chose() -> None:
    generated = steps(toys.decoder())
    for one, following in pairwise(generated):
        assert following.text.ids == (*one.text.ids, one.chosen_token)
        assert following.text.text.startswith(TEXT)


def chosen(**choices: Any) -> list[int]:
    """The tokens of one sampled generation."""
    return [step.chosen_token for step in steps(toys.decoder(), temperature=choices.pop("temperature", 1.0), **choices)]


def test_a_seed_reproduces_and_another_differs() -> None:
    assert chosen(seed=1) == chosen(seed=1)
    assert len({tuple(chosen(seed=seed)) for seed in range(5)}) > 1


def test_a_seed_leaves_the_global_random_state_alone() -> None:
    model = toys.decoder()
    before = torch.get_rng_state()
    steps(model, temperature=1.0, seed=1)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("seed", [0, -1, 2**63, 2**64, 2**200])
def test_any_whole_number_is_a_seed(seed: int) -> None:
    assert chosen(seed=seed) == chosen(seed=seed)


def test_temperature_zero_top_k_one_and_a_tiny_top_p_are_greedy() -> None:
    greedy = chosen(temperature=0.0)
    assert chosen(seed=1, top_k=1) == greedy
    assert chosen(seed=1, top_p=1e-9) == greedy
    assert chosen(seed=1, temperature=1e-4) == greedy
    assert chosen(seed=1, temperature=1e-45) == greedy
    assert len(chosen(seed=1, temperature=1e30)) == len(chosen(seed=1, temperature=math.inf)) == 6


@pytest.mark.parametrize(
    "choice",
    [
        {"temperature": -1.0},
        {"temperature": math.nan},
        {"top_k": 0},
        {"top_p": 0.0},
        {"top_p": 1.5},
        {"top_p": math.nan},
    ],
)
def test_sampling_values_out_of_range_get_a_sentence(choice: dict[str, Any]) -> None:
    with pytest.raises(HeadlightError, match=r"temperature must be 0 or more"):
        chosen(**choice)


def test_generation_stops_at_the_end_of_the_context() -> None:
    generated = steps(toys.decoder(), steps=100)
    assert len(generated[-1].text.ids) == 24
    assert len(steps(toys.decoder(context_length=6), steps=100)) == 6 - len(generated[0].text.ids) + 1


def test_generation_stops_at_the_end_token() -> None:
    model = toys.decoder(embedding=EmbeddingConfig(tied=False), bias=True)
    end = toys.causal().end_id
    assert end is not None
    final = torch.tensor(steps(model)[2]["decoder.final_residual"][-1])
    assert isinstance(model.output_head, LanguageModelHead)
    model.output_head.projection.weight[end] = final * 1e3
    generated = steps(model)
    assert generated[-1].chosen_token == end
    assert len(generated) < 6


def test_generation_continues_after_an_id_without_a_token() -> None:
    size = toys.causal().vocabulary_size
    steps = [*generate(toys.decoder(vocabulary_size=4 * size), toys.causal(), TEXT, steps=8, seed=1, temperature=5.0)]
    beyond = next(step.chosen_token for step in steps if step.chosen_token >= size)
    assert len(steps) == 8 and f"[{beyond}]" in steps[-1].text.text


def test_a_model_without_a_next_token_head_gets_a_sentence() -> None:
    with pytest.raises(TextError, match="no next-token head"):
        next(generate(toys.encoder(), toys.masked(), TEXT))


def test_an_edit_that_matches_nothing_gets_a_sentence() -> None:
    with pytest.raises(HeadlightError, match="changes nothing"):
        steps(toys.decoder(), "decoder.9.residual=set:0")


@pytest.mark.parametrize("masks", ["", "causal+"])
def test_a_custom_mask_grows_by_causal_rows(masks: str) -> None:
    length = len(toys.causal().encode(TEXT).ids)
    matrix = np.ones((length, length), dtype=int)
    matrix[length - 1, 0] = 0
    mask = f"{masks}custom:" + "/".join("".join(map(str, row)) for row in matrix)
    generated = steps(variant(toys.decoder(), masks=mask))
    assert len(generated) == 6
    weights = generated[-1]["decoder.0.self.weights"]
    if generated[-1].start == 0:
        assert (weights[:, length - 1, 0] == 0).all(), "the given matrix is unchanged"
        assert (weights[:, :length, length:] == 0).all(), "prompt tokens see no new one"
    assert (weights[:, -1] > 0).all(), "a new token sees all earlier ones"


def test_a_custom_mask_of_another_size_than_the_prompt_still_gets_a_sentence() -> None:
    with pytest.raises(TextError, match="custom mask is 2 x 2"):
        steps(variant(toys.decoder(), masks="custom:10/11"))


def test_interleaved_generations_do_not_mix() -> None:
    model = toys.decoder()
    one, other = (generate(model, toys.causal(), text, temperature=0.0, steps=6) for text in (TEXT, SOURCE))
    mixed = [(left.chosen_token, right.chosen_token) for left, right in zip(one, other, strict=False)]
    alone = [
        [s.chosen_token for s in generate(model, toys.causal(), t, temperature=0.0, steps=6)] for t in (TEXT, SOURCE)
    ]
    assert mixed == list(zip(*alone, strict=False))


INDEX = {"head": "1", "key_value_head": "0", "query": "3:", "pos": "3:", "key": "1:3"}


def edit_text_of(site: str, path: str) -> str:
    """An edit of some values at a path, from the fourth token on."""
    index = ",".join(INDEX.get(axis, "0") for axis in HOOK_POINTS[site].axes)
    return f"{path}[{index}]={'set:0' if site == 'mask' else 'scale:0.5'}"


@pytest.mark.parametrize("site", sorted(set(HOOK_POINTS) - {"residual_after_cross", "pixels", "sound"}))
def test_a_cached_step_with_any_edit_equals_reading_the_whole_text(site: str) -> None:
    parts: dict[str, Any] = {
        "experts": ExpertsConfig(count=3 if site.startswith(("router", "shared")) else 0, shared_d_ff=5),
        "attention.latent": LatentConfig(key_value_channels=6 if site == "latent" else 0),
        "attention.sinks": site == "sink",
        "attention.output_gate": site == "gate",
        "layer_embedding": LayerEmbeddingConfig(dim=5 * (site in ("token_vector", "residual_after_feed_forward"))),
        "residual.alternating_updates": AlternatingUpdatesConfig(streams=3 if site == "residual_streams" else 1),
    }
    model = toys.decoder(positional_encoding="alibi", key_value_heads=2, **parts)
    path = min(path for path in steps(model, steps=1)[0].values if path.rpartition(".")[2] == site)
    edit = edit_text_of(site, path)
    last = steps(model, edit, steps=3)[-1]
    np.testing.assert_allclose(last["logits"], full_forward(model, last, edit)[last.start :], atol=1e-4, rtol=1e-4)
