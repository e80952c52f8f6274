"""Two sentences, compared: the vector, the score and their parts against sentence-transformers."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight.analysis.sentences.pooling import POOLINGS, SentencePooling, read_sentence_pooling
from headlight.analysis.sentences.similarity import cosines_without_heads, sentence_similarity
from headlight.checkpoints import load
from headlight.errors import CheckpointError, ConfigError, TextError
from headlight.tracing.run import run
from tests.families.cases import CASES
from tests.families.reference import Case, build
from tests.model import toys
from tests.shell import Shell

ONE, OTHER = "the cat sat on a mat", "two dogs run far away from an old house"
FIELDS = {
    "mean": "pooling_mode_mean_tokens", "max": "pooling_mode_max_tokens", "cls": "pooling_mode_cls_token",
    "weightedmean": "pooling_mode_weightedmean_tokens", "lasttoken": "pooling_mode_lasttoken",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
}  # fmt: skip
MODULES = ["Transformer", "Pooling", "Normalize"]


def encoder(
    folder: Path, family: str = "bert", mode: str = "mean", modules: list[str] = MODULES, **fields: Any
) -> Path:
    """A sentence encoder as sentence-transformers writes it: a random model of a family and its pooling."""
    base = CASES[family][0]
    kind = {"bert": "BertModel", "mpnet": "MPNetModel", "xlm-roberta": "XLMRobertaModel", "llama": "LlamaModel"}[family]
    marked = family != "mpnet"  # its [CLS] has the id of padding, which has no position
    build(Case(kind, base.config, special=marked), folder)
    paths = ["", "1_Pooling", "2_Normalize"]
    rows = [
        {"idx": number, "name": str(number), "path": paths[number], "type": f"sentence_transformers.models.{module}"}
        for number, module in enumerate(modules)
    ]
    (folder / "modules.json").write_text(json.dumps(rows))
    for path in paths[1:]:
        (folder / path).mkdir()
    width = json.loads((folder / "config.json").read_text())["hidden_size"]
    pooling = {"word_embedding_dimension": width, **{field: each == mode for each, field in FIELDS.items()}}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    tokens = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[UNK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokens))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 16, **fields}))
    return folder


def reference_vectors(folder: Path) -> Any:
    """The vectors of ONE and OTHER by sentence-transformers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(folder), device="cpu").encode([ONE, OTHER])


@pytest.mark.parametrize(
    ("family", "mode", "modules"),
    [
        *(("bert", mode, MODULES) for mode in POOLINGS),
        *((each, "mean", MODULES[:2]) for each in ("mpnet", "xlm-roberta")),
        ("llama", "lasttoken", MODULES),
    ],
)
def test_vector_and_score_are_those_of_sentence_transformers(
    family: str, mode: str, modules: list[str], tmp_path: Path
) -> None:
    folder = encoder(tmp_path / "model", family, mode, modules)
    theirs = reference_vectors(folder)
    pooling, loaded = read_sentence_pooling(folder), load(folder, device="cpu")
    found = sentence_similarity(loaded.model, loaded.tokenizer, ONE, OTHER, pooling)
    np.testing.assert_allclose(found.vectors, theirs, atol=1e-5, rtol=0)
    assert found.cosine == pytest.approx(float(np.dot(*(each / np.linalg.norm(each) for each in theirs))), abs=1e-5)
    assert found.pairs.sum() == pytest.approx(found.cosine, abs=1e-5)
    assert found.pairs.shape == tuple(len(trace.text.ids) for trace in found.traces)


@pytest.mark.parametrize(("named", "kind"), [("0_Transformer", "Transformer"), ("0_BERT", "BERT")])
def test_an_old_layout_keeps_its_pooling(named: str, kind: str, tmp_path: Path) -> None:
    """The transformer was in a folder of its own, named after its class."""
    folder = encoder(tmp_path / "model", "bert", "cls")
    theirs = reference_vectors(folder)
    (folder / named).mkdir()
    for path in list(folder.iterdir()):
        if path.is_file() and path.name != "modules.json":
            path.rename(folder / named / path.name)
    (folder / "config.json").write_text(json.dumps({"__version__": "0.2.0"}))
    modules = (folder / "modules.json").read_text()
    (folder / "modules.json").write_text(
        modules.replace('"path": ""', f'"path": "{named}"').replace("Transformer", kind)
    )
    for place in (folder, folder / named):
        pooling, loaded = read_sentence_pooling(place), load(place, device="cpu")
        found = sentence_similarity(loaded.model, loaded.tokenizer, ONE, OTHER, pooling)
        np.testing.assert_allclose(found.vectors, theirs, atol=1e-5, rtol=0)
    assert f"The transformer of the sentence encoder is in its folder {named}." in load(folder).notes
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(dict.fromkeys(FIELDS.values(), True)))
    with pytest.raises(CheckpointError, match="its pooling is mean and cls and lasttoken"):
        read_sentence_pooling(folder)


def test_a_pair_is_the_product_of_its_two_tokens(tmp_path: Path) -> None:
    loaded = load(encoder(tmp_path / "model"), device="cpu")
    found = sentence_similarity(loaded.model, loaded.tokenizer, ONE, OTHER)
    one, other = (trace["encoder.final_residual"].astype(float) for trace in found.traces)
    lengths = np.linalg.norm(one.mean(0)) * np.linalg.norm(other.mean(0))
    expected = (one[2] / len(one)) @ (other[3] / len(other)) / lengths
    assert found.pairs[2, 3] == pytest.approx(expected, abs=1e-9)


def test_a_head_is_off_in_both_sentences(tmp_path: Path) -> None:
    loaded = load(encoder(tmp_path / "model"), device="cpu")
    found = sentence_similarity(loaded.model, loaded.tokenizer, ONE, OTHER)
    effects = cosines_without_heads(loaded.model, found)
    config = loaded.model.config
    assert len(effects) == config.layers * config.heads
    changes = [abs(effect.cosine - found.cosine) for effect in effects]
    assert changes == sorted(changes, reverse=True) and changes[0] > 1e-3
    for effect in (effects[0], effects[-1]):
        edit = f"{effect.path}.weights[{effect.head}]=set:0"
        traces = [run(loaded.model, loaded.tokenizer, text, [edit]) for text in (ONE, OTHER)]
        one, other = (trace["encoder.final_residual"].mean(0) for trace in traces)
        expected = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert effect.cosine == pytest.approx(float(expected), abs=1e-5)


def test_a_folder_without_modules_takes_the_mean(tmp_path: Path) -> None:
    build(CASES["bert"][0], tmp_path / "model")
    assert read_sentence_pooling(tmp_path / "model") == SentencePooling("mean")


def test_what_is_not_supported_is_named(tmp_path: Path) -> None:
    folder = encoder(tmp_path / "model", modules=["Transformer", "Pooling", "Dense"], do_lower_case=True)
    with pytest.raises(CheckpointError, match="consists of Transformer, Pooling, Dense"):
        read_sentence_pooling(folder)
    (folder / "modules.json").write_text("{}")
    with pytest.raises(CheckpointError, match="not a list of modules"):
        read_sentence_pooling(folder)
    (folder / "modules.json").unlink()
    loaded = load(folder, device="cpu")
    with pytest.raises(TextError, match="reads 5 tokens of a sentence; this one has 8"):
        sentence_similarity(loaded.model, loaded.tokenizer, ONE, OTHER, SentencePooling(max_tokens=5))
    translator = toys.both()
    with pytest.raises(ConfigError, match="reads one text"):
        sentence_similarity(translator, toys.causal(), ONE, OTHER)


def test_the_command_tells_pairs_and_heads(tmp_path: Path, shell: Shell) -> None:
    folder = encoder(tmp_path / "model")
    told = json.loads(shell(["similarity", ONE, OTHER, "--model", str(folder), "--json"]))
    assert np.sum(told["pairs"]) == pytest.approx(told["cosine"], abs=1e-5) and told["normalized"]
    lines = shell(["similarity", ONE, OTHER, "--model", str(folder), "--top", "2"]).splitlines()
    assert lines[0] == f"cosine {told['cosine']:.4f}, pooling mean" and len(lines) == 7
    assert lines[-2].split() == [f"{told['without_heads'][0]['cosine']:.4f}", told["without_heads"][0]["head"]]
