"""A text ends, and continues, as `generate` of transformers does by the files of the checkpoint."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from headlight.checkpoints import load
from headlight.cli.main import main
from headlight.errors import TextError
from headlight.generation.generate import beam_search, generate
from tests.families.cases import CASES
from tests.families.decoders import GPT2, LLAMA
from tests.families.llama_like import HYBRID, LLAMA4, NEXT
from tests.families.reference import TEXT, Case, build, change_config, tokenizer

UNUSED = 25  # a token that these models do not choose
DECODERS = {
    "llama": Case("LlamaForCausalLM", LLAMA | {"bos_token_id": None, "eos_token_id": UNUSED}),
    "gpt2": Case("GPT2LMHeadModel", GPT2 | {"bos_token_id": None, "eos_token_id": UNUSED}),
}
PROMPT = "the cat sat on the mat the cat"
STEPS = 9


def write(folder: Path, name: str, **fields: Any) -> None:
    path = folder / name
    path.write_text(json.dumps((json.loads(path.read_text()) if path.is_file() else {}) | fields))


def expected(folder: Path, case: Case, model: Any, prompt: str = PROMPT) -> list[int]:
    """The tokens that transformers appends, with the generation config that it reads from the folder."""
    fresh = type(model).from_pretrained(folder, attn_implementation="eager").eval()
    ids = torch.tensor([tokenizer(case.special).encode(prompt).ids])
    found: list[int] = fresh.generate(ids, max_new_tokens=STEPS, do_sample=False, num_beams=1, pad_token_id=0)[
        0
    ].tolist()
    return found if fresh.config.is_encoder_decoder else found[ids.shape[1] :]


def generated(folder: Path, prompt: str = PROMPT) -> list[int]:
    opened = load(folder)
    steps = generate(opened.model, opened.tokenizer, prompt, steps=STEPS, temperature=0.0)
    return [step.chosen_token for step in steps]


RULES: dict[str, dict[str, Any]] = {
    "none": {},
    "one end": {"eos_token_id": "third"},
    "several ends": {"eos_token_id": ["second", "third"]},
    "repetition penalty": {"repetition_penalty": 9.0},
    "reward of repetition": {"repetition_penalty": 0.1},
    "no repeated pair": {"no_repeat_ngram_size": 2},
    "no repeated token": {"no_repeat_ngram_size": 1},
    "suppressed": {"suppress_tokens": ["first", "second"]},
    "suppressed at first": {"begin_suppress_tokens": ["first"]},
    "all together": {"repetition_penalty": 1.3, "no_repeat_ngram_size": 3, "suppress_tokens": ["third"],
                     "begin_suppress_tokens": ["first", "second"]},
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("family", DECODERS)
def test_a_generation_config_is_followed(family: str, rule: str, tmp_path: Path) -> None:
    case = DECODERS[family]
    model = build(case, tmp_path)
    plain = list(dict.fromkeys(expected(tmp_path, case, model)))
    place = dict(zip(("first", "second", "third"), (plain * 3)[:3], strict=True))
    fields = {
        name: [place[each] for each in value] if isinstance(value, list) else place.get(value, value)
        for name, value in RULES[rule].items()
    }
    write(tmp_path, "generation_config.json", **fields)
    wanted = expected(tmp_path, case, model)
    assert generated(tmp_path) == wanted
    assert (wanted != expected_without(tmp_path, case, model)) == (rule != "none"), "the rule changes something"


LAYERS_DIFFER = {"Llama4ForCausalLM": LLAMA4, "Qwen3_5ForCausalLM": HYBRID, "Qwen3NextForCausalLM": HYBRID | NEXT}


@pytest.mark.parametrize("kind", LAYERS_DIFFER)
def test_each_kind_of_layer_goes_on_in_a_longer_text(kind: str, tmp_path: Path) -> None:
    case = Case(kind, LLAMA | LAYERS_DIFFER[kind] | {"bos_token_id": None, "eos_token_id": UNUSED})
    model = build(case, tmp_path)
    assert generated(tmp_path) == expected(tmp_path, case, model)


def expected_without(folder: Path, case: Case, model: Any) -> list[int]:
    (folder / "generation_config.json").unlink()
    return expected(folder, case, model)


@pytest.mark.parametrize("where", ["config.json", "tokenizer_config.json"])
def test_an_end_token_may_stand_elsewhere(where: str, tmp_path: Path) -> None:
    """The generation config decides, then the config, then the tokenizer's."""
    case = DECODERS["llama"]
    build(case, tmp_path)
    (tmp_path / "generation_config.json").unlink(missing_ok=True)
    change_config(tmp_path, eos_token_id=None)
    unended = generated(tmp_path)
    chosen = unended[2]
    backend = load(tmp_path).tokenizer.backend
    if where == "config.json":
        change_config(tmp_path, eos_token_id=chosen)
    else:
        write(tmp_path, where, eos_token=backend.id_to_token(chosen), tokenizer_class="PreTrainedTokenizerFast")
    assert generated(tmp_path) == unended[: unended.index(chosen) + 1]
    if where != "config.json":
        change_config(tmp_path, eos_token_id=unended[0])
        assert generated(tmp_path) == unended[:1], "the config decides before"
    write(tmp_path, "generation_config.json", eos_token_id=unended[1])
    assert generated(tmp_path) == unended[: unended.index(unended[1]) + 1], "the generation config decides first"


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_an_encoder_decoder_writes_what_its_generation_config_says(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = next(case for case in CASES[family] if case.kind.endswith("ForConditionalGeneration"))
    model = build(case, tmp_path)
    start = model.config.decoder_start_token_id or 0
    fields = {"forced_bos_token_id": 7, "no_repeat_ngram_size": 2, "suppress_tokens": [23, 24, 25]}  # without a name
    write(tmp_path, "generation_config.json", decoder_start_token_id=start, **fields)
    ids = torch.tensor([tokenizer(case.special).encode(TEXT).ids])
    limit = load(tmp_path).model.config.context_length

    def found() -> list[int]:
        fresh = type(model).from_pretrained(tmp_path, attn_implementation="eager").eval()
        ids_of: Any = fresh.generate(ids, max_length=limit, do_sample=False, num_beams=1, pad_token_id=0)
        return list(ids_of[0].tolist())

    third = found()[2]
    write(tmp_path, "generation_config.json", begin_suppress_tokens=[third])
    expected_ids = found()
    assert expected_ids[:2] == [start, 7] and expected_ids[2] != third
    assert main(["predict", TEXT, "--model", str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() == tokenizer(False).decode(expected_ids)


@pytest.mark.parametrize("family", DECODERS)
def test_a_first_token_may_be_forced_without_an_encoder(family: str, tmp_path: Path) -> None:
    model = build(DECODERS[family], tmp_path)
    write(tmp_path, "generation_config.json", forced_bos_token_id=7)
    assert generated(tmp_path, "cat") == (wanted := expected(tmp_path, DECODERS[family], model, "cat"))
    assert wanted[0] == 7
    assert generated(tmp_path, "the cat")[0] != 7, "only the second token of a text is forced"


@pytest.mark.parametrize("family", ["bart", "t5", "marian"])
def test_the_generation_config_decides_over_the_token_that_begins_the_decoder(family: str, tmp_path: Path) -> None:
    case = next(case for case in CASES[family] if case.kind.endswith(("ForConditionalGeneration", "MTModel")))
    model = build(case, tmp_path)
    write(tmp_path, "generation_config.json", decoder_start_token_id=5, forced_bos_token_id=None,
          forced_eos_token_id=None, eos_token_id=UNUSED)  # fmt: skip
    opened = load(tmp_path)
    steps = list(generate(opened.model, opened.tokenizer, "", source=TEXT, steps=STEPS, temperature=0.0))
    found = [*steps[0].text.ids, *(step.chosen_token for step in steps)]
    assert found == expected(tmp_path, case, model, TEXT)
    assert found[0] == 5


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_beams_follow_the_generation_config(family: str, tmp_path: Path) -> None:
    case = next(case for case in CASES[family] if case.kind.endswith("ForConditionalGeneration"))
    model = build(case, tmp_path)
    start = model.config.decoder_start_token_id or 0
    fields = {
        "no_repeat_ngram_size": 2,
        "repetition_penalty": 1.5,
        "suppress_tokens": [23, 24],
        "eos_token_id": 24,
        "forced_eos_token_id": None,
    }
    write(tmp_path, "generation_config.json", decoder_start_token_id=start, **fields)
    fresh = type(model).from_pretrained(tmp_path, attn_implementation="eager").eval()
    ids = torch.tensor([tokenizer(case.special).encode(TEXT).ids])
    found = fresh.generate(ids, max_new_tokens=5, do_sample=False, num_beams=3, length_penalty=0.0, pad_token_id=0)
    opened = load(tmp_path)
    *_, beams = beam_search(opened.model, opened.tokenizer, "", source=TEXT, beams=3, steps=5, length_penalty=0.0)
    assert list(beams[0].tokens) == found[0].tolist()[1:]
    (tmp_path / "generation_config.json").unlink()
    *_, free = beam_search(
        load(tmp_path).model, opened.tokenizer, "", source=TEXT, beams=3, steps=5, length_penalty=0.0
    )
    assert free[0].tokens != beams[0].tokens, "the rules change something"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_rules_that_allow_no_token_are_named(temperature: float, tmp_path: Path) -> None:
    model = build(DECODERS["gpt2"], tmp_path)
    write(tmp_path, "generation_config.json", suppress_tokens=list(range(model.config.vocab_size)))
    opened = load(tmp_path)
    with pytest.raises(TextError, match="allows no token here"):
        list(generate(opened.model, opened.tokenizer, PROMPT, steps=2, temperature=temperature))


def test_settings_that_are_not_followed_are_listed(tmp_path: Path) -> None:
    build(DECODERS["llama"], tmp_path)
    write(tmp_path, "generation_config.json", num_beams=4, do_sample=True, min_length=0, repetition_penalty=1.1,
          temperature=0.6, top_k=50, stop_strings=["cat"])  # fmt: skip
    note = (
        "Generation does not follow these settings of the checkpoint: num_beams, do_sample, temperature, stop_strings."
    )
    assert note in load(tmp_path).notes
