"""FIELDS.md lists what is read of a checkpoint's four JSON files; `python -m tests.families.test_fields` writes it."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from headlight.checkpoints import adapters, generation_file
from headlight.checkpoints.tokenizers.special_tokens import ROLES, UNNAMED_TOKEN_FIELDS
from headlight.checkpoints.weight_mapping import COMMON_IGNORED_FIELDS, COMMON_REQUIRED_VALUES

FOLDER = Path(adapters.__file__).parent
FILE = FOLDER / "FIELDS.md"
READERS = {"integer", "integers", "layer_count", "number", "boolean", "string", "choice", "list_of", "nested", "has"}
TOKENIZER = [path for path in (FOLDER / "tokenizers").glob("*.py") if path.stem not in ("gguf", "nanogpt")]
GENERATION = [FOLDER / "generation_file.py", FOLDER / "sound_files.py"]
PREPROCESSOR = {"sampling_rate", "do_normalize", "n_fft", "hop_length"}  # of another file
INTRODUCTION = """# Fields of a checkpoint's JSON files

The table lists the fields that are read, those that stop a checkpoint from opening unless they have their usual value,
and those that are not followed; unless it says otherwise, a note names these when the model is loaded. All other fields
are ignored: they do not affect the forward pass, or `config.json` has them under another name.
`tests/families/test_fields.py` writes this page, and compares it with the code.
"""


def names_read(paths: Iterable[Path]) -> set[str]:
    """The names that programs ask a ConfigReader, or its values, for."""
    return {name for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8"))) for name in _names(node)}


def _names(node: ast.AST) -> Iterator[str]:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return
    on_values = node.func.attr == "get" and ast.unparse(node.func.value).endswith(("values", "named", "generation"))
    if node.func.attr in READERS or on_values:
        first = node.args[0]
        for each in first.elts if isinstance(first, ast.Tuple) else [first]:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(set(names))) or "none"


def page() -> str:
    """The whole page, from the code's own lists."""
    of_config = names_read([*FOLDER.glob("*.py"), *(FOLDER / "families").rglob("*.py")])
    of_generation = names_read(GENERATION) - {*PREPROCESSOR, "eos_token", "content"}
    of_generation |= {"eos_token_id", "suppress_tokens", "begin_suppress_tokens", "lang_to_id", "task_to_id"}
    of_generation |= {"forced_bos_token_id", "decoder_start_token_id"}
    of_tokenizer = names_read(TOKENIZER) - {"content", "special", "type", "vocab", "model", "normalizer"} | {
        *UNNAMED_TOKEN_FIELDS
    }
    of_tokenizer |= {*(f"{role}_token" for role in ROLES), "add_bos_token", "add_eos_token", "strip_accents"}
    of_adapter = names_read([FOLDER / "adapters.py"]) - {"architectures", "id2label"} | {"alpha_pattern"}
    rows = {
        "config.json": (
            f"the fields of its family (`families/`), each with its type checked, {listed(CONFIG_READ)}, and without a "
            "`generation_config.json` that file's fields",
            f"{listed(COMMON_REQUIRED_VALUES)} (only mxfp4), and its family's `required_values`",
            f"fields that its family does not know, `auto_map`, token ids beyond the vocabulary. Without a note: "
            f"{listed(set(COMMON_IGNORED_FIELDS) - of_config - {*CONFIG_READ, 'auto_map'})}",
        ),
        "generation_config.json": (listed(of_generation), "none", listed(generation_file._NOT_FOLLOWED)),
        "tokenizer_config.json": (f"{listed(of_tokenizer)}; for chat templates `model_specific_special_tokens` and "
                                  "other fields that end in `_token`",
                                  "a `tokenizer_class` without a preset, if no `tokenizer.json` "
                                  "is there; `normalization` beside a `bpe.codes`",
                                  "tokens that the model has no embedding for"),
        "adapter_config.json": (listed(of_adapter), f"{listed(adapters._REQUIRED_VALUES)}; `init_lora_weights` except "
                                f"{listed(map(str, (*adapters._PLAIN_STARTS, *adapters._SUBTRACTED_STARTS)))}", "none"),
    }  # fmt: skip
    table = ["| file | read | refused | not followed |", "|---|---|---|---|"]
    table += [f"| `{file}` | {' | '.join(cells)} |" for file, cells in rows.items()]
    return "\n".join((INTRODUCTION, *table, ""))


CONFIG_READ = {
    "architectures",
    "model_type",
    "id2label",
    "num_labels",
    "problem_type",
    "tokenizer_class",
    "eos_token_id",
}


def test_the_page_lists_what_the_code_reads() -> None:
    assert FILE.read_text("utf-8") == page()


def test_fields_that_are_read_are_found_in_programs() -> None:
    assert {"do_lower_case", "src_lang", "split_special_tokens", "tokenizer_class"} <= names_read(TOKENIZER)
    assert {"lora_alpha", "use_rslora", "task_type"} <= names_read([FOLDER / "adapters.py"])
    assert names_read(FOLDER.rglob("*.py")) | {"eos_token_id"} >= CONFIG_READ


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
