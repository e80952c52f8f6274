"""Encoder-decoders of two models: what they compute and write, the tokenizer of each, and what does not open."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
from safetensors.torch import load_file, save_file

from headlight import load, run, save
from headlight.checkpoints import export
from headlight.cli.main import main
from headlight.config import Config
from headlight.errors import CheckpointError, TextError
from headlight.generation.generate import generate
from headlight.nn.transformer import variant
from headlight.text.tokenizer import TextPair
from tests.families.cases import CASES, EACH_CASE
from tests.families.comparison import compared_in, difference
from tests.families.reference import (
    PHOTO,
    TARGET,
    TEXT,
    WORDS,
    Case,
    asked_and_told,
    build,
    change_config,
    inputs,
    tokenizer,
)
from tests.families.two_models import TWO_MODELS

EACH = [each for each in EACH_CASE if each.values[0] in TWO_MODELS]
TEXTS, IMAGES = TWO_MODELS
STEPS = 8


@pytest.mark.parametrize(("family", "case"), EACH)
def test_hidden_states_of_both_stacks_agree(family: str, case: Case, tmp_path: Path) -> None:
    model, opened = build(case, tmp_path), load(tmp_path)
    target = torch.tensor([[2, *tokenizer(False).encode(TARGET).ids]])
    with torch.no_grad():
        whole = model(**asked_and_told(model, case)[0], decoder_input_ids=target, output_hidden_states=True)
    trace = run(opened.model.float(), opened.tokenizer, **inputs(case, opened.model.config))
    for stack in ("encoder", "decoder"):
        expected = whole[f"{stack}_hidden_states"][:-1]  # the last one is normed or not
        found = [trace[f"{stack}.{layer}.residual"] for layer in range(len(expected))]
        np.testing.assert_allclose(np.stack(found), torch.cat(expected).numpy(), atol=1e-4)


@pytest.mark.parametrize(("family", "case"), EACH)
def test_they_write_what_the_reference_writes(family: str, case: Case, tmp_path: Path) -> None:
    model, opened = build(case, tmp_path), load(tmp_path)
    asked = asked_and_told(model, case)[0]
    found = model.generate(**asked, max_new_tokens=STEPS, do_sample=False, num_beams=1)[0].tolist()
    source = inputs(case, opened.model.config)["source"]
    steps = generate(opened.model.float(), opened.tokenizer, "", source=source, steps=STEPS, temperature=0.0)
    written = [*steps]
    assert [*written[0].text.ids, *(step.chosen_token for step in written)] == found


def test_the_command_writes_what_the_reference_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES[IMAGES][0]
    model = build(case, tmp_path)
    asked = asked_and_told(model, case)[0]
    found = model.generate(**asked, max_length=21, do_sample=False, num_beams=1)[0].tolist()  # it reads 20
    assert main(["predict", "--image", str(tmp_path / PHOTO), "--model", str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() == tokenizer(True).decode(found) != ""


def test_the_end_may_be_in_the_decoders_own_config(tmp_path: Path) -> None:
    build(CASES[TEXTS][0], tmp_path)
    (tmp_path / "generation_config.json").unlink()
    values = json.loads((tmp_path / "config.json").read_text())
    change_config(tmp_path, eos_token_id=None, decoder=values["decoder"] | {"eos_token_id": [7, 9]})
    assert load(tmp_path).model.config.generation.end_token_ids == (7, 9)


@pytest.mark.parametrize(
    ("of_files", "first"),
    [
        ({"whole": {"decoder_start_token_id": 5, "bos_token_id": 6}, "decoder": {"decoder_start_token_id": 7}}, 5),
        ({"whole": {"bos_token_id": 6}, "decoder": {"decoder_start_token_id": 7}}, 7),
        ({"whole": {"bos_token_id": 6}, "decoder": {"bos_token_id": 8}}, 6),
        ({"decoder": {"bos_token_id": 8}}, 8),
        ({"whole": {"decoder_start_token_id": 5}, "generation": {"bos_token_id": 9}}, 9),
        ({"whole": {"decoder_start_token_id": 5}, "generation": {"bos_token_id": 9, "decoder_start_token_id": 10}}, 10),
    ],
)
def test_the_first_token_is_that_of_the_reference(of_files: dict[str, Any], first: int, tmp_path: Path) -> None:
    case = CASES[TEXTS][0]
    model = build(case, tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    decoder = values["decoder"] | of_files.get("decoder", {})
    none = {"decoder_start_token_id": None, "bos_token_id": None}
    change_config(tmp_path, **(none | of_files.get("whole", {}) | {"decoder": decoder}))
    (tmp_path / "generation_config.json").unlink()
    if given := of_files.get("generation"):
        (tmp_path / "generation_config.json").write_text(json.dumps(given))
    fresh = type(model).from_pretrained(tmp_path, attn_implementation="eager").eval()
    written = fresh.generate(**asked_and_told(model, case)[0], max_new_tokens=1, pad_token_id=0)[0].tolist()
    assert load(tmp_path).model.config.decoder.start_token_id == written[0] == first


def test_no_first_token_is_not_guessed(tmp_path: Path) -> None:
    build(CASES[TEXTS][0], tmp_path)
    (tmp_path / "generation_config.json").unlink()
    change_config(tmp_path, decoder_start_token_id=None)
    with pytest.raises(CheckpointError, match="no file says which token begins its decoder's text"):
        load(tmp_path)


@pytest.mark.parametrize("field", ["decoder_start_token_id", "bos_token_id"])
def test_a_first_token_that_is_no_number_is_not_skipped(field: str, tmp_path: Path) -> None:
    build(CASES[TEXTS][0], tmp_path)
    (tmp_path / "generation_config.json").write_text(json.dumps({field: [5]}))
    with pytest.raises(CheckpointError, match=rf"its {field} is '\[5\]'"):
        load(tmp_path)


@pytest.mark.parametrize(("family", "number"), [(TEXTS, 4), (IMAGES, 1), (IMAGES, 7)])
def test_a_decoder_that_skips_padding_does_not_begin_with_it(family: str, number: int, tmp_path: Path) -> None:
    case = CASES[family][number]
    build(case, tmp_path)
    (tmp_path / "generation_config.json").unlink()
    change_config(tmp_path, decoder_start_token_id=case.config["decoder"]["pad_token_id"])
    with pytest.raises(CheckpointError, match="begins with the padding token 2"):
        load(tmp_path)


@pytest.mark.parametrize(("number", "shared"), [(3, False), (4, True)])
def test_the_padding_token_is_refused_in_the_text_whose_positions_leave_it_out(
    number: int, shared: bool, tmp_path: Path
) -> None:
    case = CASES[TEXTS][number]
    build(case, tmp_path)
    encoder = json.loads((tmp_path / "config.json").read_text())["encoder"]
    change_config(tmp_path, encoder=encoder | {"pad_token_id": 6})
    reader = load(tmp_path).tokenizer
    with pytest.raises(TextError, match="padding token"):
        reader.source_tokenizer.encode(WORDS[6])
    if not shared:
        assert reader.encode(WORDS[6]).ids


def numbered_backwards() -> tokenizers.Tokenizer:
    """The encoder's tokenizer with other numbers for the same words, and without tokens around a text."""
    backend = tokenizer(False)
    numbers = {word: len(WORDS) - 1 - number for number, word in enumerate(WORDS)}
    backend.model = tokenizers.models.WordLevel(numbers, "[UNK]")
    return backend


def test_each_stack_reads_its_own_vocabulary(tmp_path: Path) -> None:
    case = next(case for case in CASES[TEXTS] if case.config["decoder"]["model_type"] == "gpt2")
    model = build(case, tmp_path)
    numbered_backwards().save(str(tmp_path / "decoder" / "tokenizer.json"))
    opened = load(tmp_path)
    trace = run(opened.model.float(), opened.tokenizer, TARGET, source=TEXT)
    assert trace.source is not None
    assert list(trace.source.ids) == tokenizer(True).encode(TEXT).ids
    target = [2, *numbered_backwards().encode(TARGET).ids]
    assert list(trace.text.ids) == target
    with torch.no_grad():
        asked = asked_and_told(model, case)[0]
        expected = model(**asked, decoder_input_ids=torch.tensor([target])).logits[0].numpy()
    np.testing.assert_allclose(trace["logits"], expected, atol=1e-4)


def test_a_tokenizer_for_two_vocabularies_is_not_guessed(tmp_path: Path) -> None:
    case = next(case for case in CASES[TEXTS] if case.rewrite)
    build(case, tmp_path)
    (tmp_path / "encoder" / "tokenizer.json").rename(tmp_path / "tokenizer.json")
    (tmp_path / "encoder").rmdir()
    opened = load(tmp_path)  # the encoder's is in the folder itself
    assert opened.tokenizer.source_tokenizer is not opened.tokenizer
    (tmp_path / "decoder" / "tokenizer.json").unlink()
    (tmp_path / "decoder").rmdir()
    with pytest.raises(CheckpointError, match="read different vocabularies; put the tokenizer of each into a folder"):
        load(tmp_path)


@pytest.mark.parametrize("stored", ["encoder", "decoder"])
def test_weights_that_both_models_share_are_stored_once(stored: str, tmp_path: Path) -> None:
    case = CASES[TEXTS][5]
    build(case, tmp_path)
    change_config(tmp_path, tie_encoder_decoder=True, encoder=(decoder := case.config["decoder"]), decoder=decoder)
    change_config(tmp_path, encoder=decoder | {"is_decoder": False, "add_cross_attention": False})
    weights = load_file(tmp_path / "model.safetensors")
    own = {name: each for name, each in weights.items() if name.startswith("decoder.")}
    tied = [name for name in own if ".roberta." in name and "crossattention" not in name]
    shared = {name.replace("decoder.roberta.", "encoder."): own[name].clone() for name in tied}
    save_file({**own, **shared}, tmp_path / "model.safetensors", metadata={"format": "pt"})
    both = run(load(tmp_path).model, load(tmp_path).tokenizer, TARGET, source=TEXT)
    kept = own if stored == "decoder" else shared | {name: own[name] for name in own if name not in tied}
    save_file(kept, tmp_path / "model.safetensors", metadata={"format": "pt"})
    once = run(load(tmp_path).model, load(tmp_path).tokenizer, TARGET, source=TEXT)
    np.testing.assert_array_equal(once["logits"], both["logits"])


@pytest.mark.parametrize(
    ("part", "fields", "told"),
    [
        ("encoder", {"model_type": "swin"}, "its encoder is swin, which does not open as the encoder of"),
        ("decoder", {"model_type": "mbart"}, "known are bert, roberta, xlm-roberta, camembert, gpt2, trocr"),
        ("decoder", {"is_decoder": False}, "its is_decoder is not true, so it does not read the encoder's output"),
        ("decoder", {"add_cross_attention": None}, "its add_cross_attention is not true"),
        ("decoder", {"cross_attention_hidden_size": 24}, "its cross_attention_hidden_size is 24, which changes"),
        ("encoder", {"position_embedding_type": "relative_key"}, "its position_embedding_type is"),
        ("encoder", {"add_cross_attention": True}, "its add_cross_attention is true, which changes the computation"),
    ],
)
def test_what_does_not_open_is_named(part: str, fields: dict[str, Any], told: str, tmp_path: Path) -> None:
    build(CASES[TEXTS][0], tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    change_config(tmp_path, **{part: values[part] | fields})
    with pytest.raises(CheckpointError, match=told):
        load(tmp_path)


def test_a_width_that_is_not_the_encoders_is_named(tmp_path: Path) -> None:
    build(CASES[IMAGES][1], tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    change_config(tmp_path, decoder=values["decoder"] | {"cross_attention_hidden_size": 21})
    with pytest.raises(CheckpointError, match="cross_attention_hidden_size is 21; its encoder has 20 channels"):
        load(tmp_path)


OLD_BUFFERS = {
    (TEXTS, 0): ["encoder.embeddings.position_ids", "decoder.bert.embeddings.position_ids",
                 "decoder.bert.pooler.dense.bias", "decoder.cls.predictions.bias"],
    (TEXTS, 2): ["decoder.transformer.h.0.attn.bias", "decoder.transformer.h.1.attn.masked_bias",
                 "decoder.transformer.h.0.crossattention.bias", "decoder.transformer.h.1.crossattention.masked_bias"],
    (IMAGES, 1): ["decoder.model.decoder.embed_positions._float_tensor", "encoder.pooler.dense.weight"],
    (IMAGES, 3): ["encoder.encoder.layer.0.attention.attention.relative_position_bias.relative_position_index"],
}  # fmt: skip


@pytest.mark.parametrize(("family", "number"), OLD_BUFFERS)
@pytest.mark.parametrize("wrapper", ["", "module."])
def test_old_buffers_and_a_wrapper_are_no_obstacle(wrapper: str, family: str, number: int, tmp_path: Path) -> None:
    case, folder = CASES[family][number], tmp_path / "checkpoint"
    model = build(case, folder)
    weights = load_file(folder / "model.safetensors")
    weights |= {name: torch.ones(1) for name in OLD_BUFFERS[family, number] if name not in weights}
    weights = {wrapper + name: each for name, each in weights.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    for name, (found, expected) in compared_in(case, tmp_path, model).items():
        assert difference(found, expected) < 1e-4, name


def test_unknown_fields_of_each_part_are_named(tmp_path: Path) -> None:
    build(CASES[TEXTS][0], tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    change_config(tmp_path, encoder=values["encoder"] | {"odd": 1, "typical_p": 1.0})
    assert "Fields of its encoder's config that are unknown in its family and ignored: odd." in load(tmp_path).notes


def test_a_picture_is_read_after_the_tokens_of_its_encoder(tmp_path: Path) -> None:
    case = CASES[IMAGES][2]
    build(case, tmp_path)
    opened = load(tmp_path)
    trace = run(opened.model.float(), opened.tokenizer, **inputs(case, opened.model.config))
    assert trace.source is not None and trace.source.tokens[:4] == ("[CLS]", "[DIST]", "0,0", "0,1")
    assert trace["decoder.0.cross.weights"].shape[-1] == len(trace.source.tokens) == 2 + 3 * 3


def test_a_pair_of_texts_is_no_source(tmp_path: Path) -> None:
    build(CASES[TEXTS][2], tmp_path)
    opened = load(tmp_path)
    backend = tokenizer(False)
    marks = [("[CLS]", 1), ("[SEP]", 2)]
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
    )
    opened.tokenizer.source_tokenizer.backend = backend
    with pytest.raises(TextError, match="segments are read by models of one stack"):
        run(opened.model, opened.tokenizer, TARGET, source=TextPair("the cat", "a mat"))


@pytest.mark.parametrize("family", TWO_MODELS)
def test_a_saved_copy_computes_the_same(family: str, tmp_path: Path) -> None:
    case = CASES[family][2]
    build(case, tmp_path / "first")
    opened = load(tmp_path / "first")
    config = opened.model.config
    assert Config.from_dict(config.to_dict()) == config
    with pytest.raises(CheckpointError, match="none of them is an encoder-decoder"):
        export(tmp_path / "exported", opened.model, opened.tokenizer)
    save(tmp_path / "second", opened.model, opened.tokenizer, dtype="float32")
    again = load(tmp_path / "second")
    given = inputs(case, config)
    first, second = (run(each.model.float(), each.tokenizer, **given) for each in (opened, again))
    np.testing.assert_allclose(first["logits"], second["logits"], atol=1e-5)


@pytest.mark.parametrize("family", TWO_MODELS)
def test_a_variant_changes_both_stacks(family: str, tmp_path: Path) -> None:
    case = CASES[family][0]
    build(case, tmp_path)
    opened = load(tmp_path)
    changed = variant(opened.model.float(), positional_encoding="none", attention_function="linear", scale=False)
    for stack in ("encoder", "decoder"):
        own = changed.config.for_stack(stack)
        assert (own.positional_encoding, own.attention_function, own.attention.scale) == ("none", "linear", False)
    before, after = (run(each, opened.tokenizer, **inputs(case, each.config)) for each in (opened.model, changed))
    for path in ("encoder.1.self.weights", "decoder.1.self.weights", "decoder.1.cross.weights"):
        assert not np.allclose(before[path], after[path])
