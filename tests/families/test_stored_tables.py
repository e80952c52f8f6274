"""Tables in a file that its family computes, shares or does not read are treated as transformers treats them."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from headlight import CheckpointError, load
from tests.families.cases import CASES
from tests.families.comparison import compared_in, difference
from tests.families.reference import Case, build

Change = Callable[[torch.Tensor], torch.Tensor]
TOLERANCE = 1e-4


def case_of(family: str, ending: str) -> Case:
    """The first case of a family whose class has this ending."""
    return next(case for case in CASES[family] if case.kind.endswith(ending) and not case.shards)


def altered(table: torch.Tensor) -> torch.Tensor:
    """Another table of the same shape."""
    return (table.float() * 0.7 + 0.2).to(table.dtype)


def halved(table: torch.Tensor) -> torch.Tensor:
    """The table as a file in half precision stores it."""
    return table.half().float()


def store(folder: Path, tables: dict[str, torch.Tensor]) -> None:
    """Add tables to a checkpoint's file, or replace them."""
    path = folder / "checkpoint" / "model.safetensors"
    kept = {name: tensor for name, tensor in load_file(path).items() if "*" not in name}  # a slip of transformers 5
    save_file(kept | {name: table.contiguous().clone() for name, table in tables.items()}, path, {"format": "pt"})


def assert_equal_to_the_reference(case: Case, folder: Path) -> tuple[str, ...]:
    """Headlight and transformers read the same numbers from the folder; returns the notes."""
    kind = getattr(transformers, case.kind)
    read = kind.from_pretrained(folder / "checkpoint", attn_implementation="eager", dtype=torch.float32).eval()
    pairs = compared_in(case, folder, read)
    assert max(difference(*pair) for pair in pairs.values()) < TOLERANCE
    return load(folder / "checkpoint").notes


@pytest.mark.parametrize("change", [altered, halved])
@pytest.mark.parametrize(("family", "ending"), [("pegasus", "Generation"), ("marian", "MTModel"), ("marian", "Model")])
def test_positions_are_those_of_the_file(family: str, ending: str, change: Change, tmp_path: Path) -> None:
    case = case_of(family, ending)
    model = build(case, tmp_path / "checkpoint")
    tables = {name: table for name, table in model.state_dict().items() if "embed_positions" in name}
    assert len(tables) == 2
    store(tmp_path, tables)
    assert load(tmp_path / "checkpoint").model.config.positional_encoding == "sinusoidal-halves"
    store(tmp_path, {name: change(table) for name, table in tables.items()})
    notes = assert_equal_to_the_reference(case, tmp_path)
    assert any("stores other positions than its config gives" in note for note in notes)


@pytest.mark.parametrize("change", [altered, halved])
@pytest.mark.parametrize("ending", ["MaskedLM", "EsmModel"])
def test_rotary_frequencies_of_esm_are_those_of_the_file(ending: str, change: Change, tmp_path: Path) -> None:
    case = next(each for each in CASES["esm"] if each.kind.endswith(ending) and "rotary" in each.config.values())
    model = build(case, tmp_path / "checkpoint")
    usual = next(table for name, table in model.state_dict().items() if name.endswith("inv_freq"))
    prefix = "" if ending == "EsmModel" else "esm."
    tables = {
        f"{prefix}encoder.layer.{layer}.attention.self.rotary_embeddings.inv_freq": change(usual)
        for layer in range(model.config.num_hidden_layers)
    }
    store(tmp_path, tables)
    notes = assert_equal_to_the_reference(case, tmp_path)
    assert any("stores other rotary frequencies than" in note for note in notes)
    store(tmp_path, tables | {next(iter(tables)): usual})
    with pytest.raises(CheckpointError, match="checkpoint: its layers store rotary frequencies that differ"):
        load(tmp_path / "checkpoint")


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
@pytest.mark.parametrize("family", ["t5", "bart", "m2m_100", "pegasus"])
def test_a_stack_reads_its_own_embedding(family: str, stack: str, tmp_path: Path) -> None:
    case = case_of(family, "Generation")
    model = build(case, tmp_path / "checkpoint")
    tables = model.state_dict()
    names = [name for name in tables if name.endswith((f"{stack}.embed_tokens.weight", "lm_head.weight"))]
    store(tmp_path, {name: altered(tables[name]) for name in names})
    notes = assert_equal_to_the_reference(case, tmp_path)
    assert any("stores other embeddings of its stacks than" in note for note in notes)


@pytest.mark.parametrize("kind", ["T5EncoderModel", "T5ForTokenClassification"])
def test_an_encoder_reads_its_own_embedding(kind: str, tmp_path: Path) -> None:
    case = case_of("t5", kind)
    tables = build(case, tmp_path / "checkpoint").state_dict()
    store(tmp_path, {name: altered(tables[name]) for name in tables if name.endswith("encoder.embed_tokens.weight")})
    assert_equal_to_the_reference(case, tmp_path)


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("gpt2", "transformer.h.0.attn.bias"),
        ("gpt_bigcode", "transformer.h.0.attn.bias"),
        ("gptj", "transformer.h.0.attn.bias"),
        ("gpt_neo", "transformer.h.0.attn.attention.bias"),
        ("codegen", "transformer.h.0.attn.causal_mask"),
        ("gpt_neox", "gpt_neox.layers.0.attention.bias"),
        ("gpt_neox", "gpt_neox.layers.0.attention.rotary_emb.inv_freq"),
        ("llama", "model.layers.0.self_attn.rotary_emb.inv_freq"),
        ("falcon", "transformer.h.0.self_attention.rotary_emb.inv_freq"),
        ("phi", "model.layers.0.self_attn.rotary_emb.inv_freq"),
        ("bert", "bert.embeddings.position_ids"),
        ("m2m_100", "model.encoder.embed_positions.weights"),
        ("t5", "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"),
        ("beit", "beit.encoder.layer.0.attention.attention.relative_position_bias.relative_position_index"),
    ],
)
def test_tables_that_transformers_computes_anew_have_no_effect(family: str, name: str, tmp_path: Path) -> None:
    case = CASES[family][0]
    build(case, tmp_path / "checkpoint")
    store(tmp_path, {name: torch.rand(3, 3)})
    notes = assert_equal_to_the_reference(case, tmp_path)
    assert any(name in note for note in notes)
