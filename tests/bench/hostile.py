"""Hostile requests, messages and files: each ends in a right answer or in one error sentence, within seconds.

The seed of a case determines everything in it. Requests and WebSocket messages are sent to a real shared server. The
other cases run one after the other in a worker process, which is restarted if a case exceeds the limit of time or
memory. The exit status is 1 if any case failed.

`python -m tests.bench hostile --requests 10000 --mutants 3000 --messages 5000 --files 500 --questions 0`
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
import torch
from safetensors.torch import load_file, save_file

from headlight import catalog, run, save
from headlight.checkpoints import Checkpoint, describe_nonfinite, find_nonfinite, load
from headlight.checkpoints.catalog import read_metadata
from headlight.tracing.predictions import candidates
from headlight.tracing.trace import Trace
from headlight.vision.image import process_image
from headlight_app.engine.job import EngineError, EngineRequest, Job
from headlight_app.engine.requests import decode_request
from headlight_app.engine.worker_process import ANSWER, READY, WorkerLimits, WorkerProcess
from headlight_app.inference.resolved_question import resolve
from headlight_app.server.routes import http_requests
from headlight_app.worker.loop import Asked
from tests.app.worker.hostile_requests import TEXTS, ask, content_of
from tests.bench.hostile_files import MEMORY, check_lesson, open_medium, predict, read_recipe, upload
from tests.bench.hostile_outcomes import Outcome, WrongAnswer, require_sentence, sentences, table
from tests.bench.hostile_server import SERVED, served_outcomes
from tests.families.cases import CASES
from tests.families.gguf_files import small, write
from tests.families.reference import build, build_pickle
from tests.families.test_gguf import LLAMA
from tests.families.test_tokenizers import LAYOUTS
from tests.families.texts import configured
from tests.model import toys

MAX_SECONDS, MAX_BYTES = 10.0, 8 << 30  # processor seconds for one case; memory of the worker process
MAX_EDITED_BYTES = 1 << 20
FAMILIES = ("gpt2", "llama", "bert", "t5", "deberta-v2", "falcon", "gemma3_text", "vit")
OLD_VOCABULARIES = ("gpt2", "bert", "t5", "gemma", "albert", "marian", "qwen2")
LONG = "x" * 100_000
NUMBERS = (0, -1, 1, 3, 2**31 - 1, 2**31, 2**63, -(2**63), 10**400, 1e-45, 1e308, -1e308, 0.5, np.nan, np.inf)
VALUES: tuple[Any, ...] = (
    *NUMBERS, None, True, False, "", LONG, "\ud800", "\0", "none", "relu", "yarn", "2", [], [0], [[[]]], {}, {"a": 1},
    [1e308] * 100, ["\ud800"], {"type": "Sequence"}, {"factor": 1e308, "rope_type": "yarn"},
)  # fmt: skip
PATTERNS = ("(?:a|a){20}[bc]", "(a+)+b", "[ab]+[cd]", ".*.*.*b", "", "(", "\\p{L}*", "a{1000}{1000}", "^", "(?=a*)*b")
MORE_FILES = (
    "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "adapter_config.json",
    "preprocessor_config.json", "model.safetensors.index.json", "generation_config.json",
)  # fmt: skip
Case = Callable[[Random, Path], bool]  # whether it ended in an answer
Mutation = Callable[[Random, Path], None]


# Mutations of a checkpoint.


def _any_file(draw: Random, folder: Path) -> Path:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    if not files:
        (folder / "README.md").write_bytes(b"-")
    return draw.choice(files or [folder / "README.md"])


def _replace(path: Path, raw: bytes) -> None:
    path.unlink()  # a mapped file must not change under its readers
    path.write_bytes(raw)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()  # created by an earlier mutation
    path.unlink(missing_ok=True)


def flip_bits(draw: Random, folder: Path) -> None:
    path = _any_file(draw, folder)
    raw = bytearray(path.read_bytes())
    reach = len(raw) if draw.random() < 0.5 else min(len(raw), 3_000)  # the header contains the offsets
    for _ in range(draw.randint(1, 8) if raw else 0):
        raw[draw.randrange(reach)] ^= 1 << draw.randrange(8)
    _replace(path, bytes(raw))


def cut_off(draw: Random, folder: Path) -> None:
    path = _any_file(draw, folder)
    raw = path.read_bytes()
    _replace(path, raw[: draw.randint(0, len(raw))])


def repeat_bytes(draw: Random, folder: Path) -> None:
    path = _any_file(draw, folder)
    raw = path.read_bytes()
    start, length = draw.randint(0, len(raw)), draw.choice((1, 10, 1_000))
    _replace(path, raw[:start] + raw[start : start + length] * draw.choice((2, 100)) + raw[start:])


def _places(values: Any) -> list[tuple[Any, Any]]:
    """Every container, paired with each of its keys or indices."""
    keys = list(values) if isinstance(values, dict) else range(len(values)) if isinstance(values, list) else ()
    return [place for key in keys for place in ((values, key), *_places(values[key]))]


def _edit_json(draw: Random, folder: Path, edit: Callable[[Any, Any], None]) -> None:
    """Edit one place of a JSON file; rarely one in a long vocabulary."""
    files = [path for path in sorted(folder.rglob("*.json")) if path.is_file()]
    path = draw.choice(files or [folder])
    if not files or path.stat().st_size > MAX_EDITED_BYTES:
        return  # lengthened by another mutation; reading it would take too long
    try:
        values = json.loads(path.read_bytes())
        places = _places(values)
    except (ValueError, OSError, RecursionError):
        return
    steps = [place for place in places if not isinstance(place[1], int) and isinstance(place[0][place[1]], dict | list)]
    if places:
        edit(*draw.choice(steps if steps and draw.random() < 0.3 else places[:60] if draw.random() < 0.7 else places))
    _write_json(path, values)


def _write_json(path: Path, values: Any) -> None:
    with suppress(RecursionError):  # nested too deeply for a file
        path.write_text(json.dumps(values))


def change_value(draw: Random, folder: Path) -> None:
    _edit_json(draw, folder, lambda group, key: group.__setitem__(key, draw.choice(VALUES)))


def drop_field(draw: Random, folder: Path) -> None:
    _edit_json(draw, folder, lambda group, key: group.__delitem__(key))


def rename_field(draw: Random, folder: Path) -> None:
    def edit(group: Any, key: Any) -> None:
        if isinstance(group, dict):
            group[draw.choice((f"{key}x", LONG, "\ud800", "", key.upper()))] = group.pop(key)

    _edit_json(draw, folder, edit)


def scale_number(draw: Random, folder: Path) -> None:
    def edit(group: Any, key: Any) -> None:
        if type(group[key]) in (int, float):
            group[key] = draw.choice((group[key] * 2, group[key] * 10**6, -group[key], group[key] + 1, group[key] - 1))

    _edit_json(draw, folder, edit)


def swap_values(draw: Random, folder: Path) -> None:
    def edit(group: Any, key: Any) -> None:
        other = draw.choice(list(group) if isinstance(group, dict) else range(len(group)))
        group[key], group[other] = group[other], group[key]

    _edit_json(draw, folder, edit)


def nest_deeply(draw: Random, folder: Path) -> None:
    def edit(group: Any, key: Any) -> None:
        for _ in range(draw.choice((1, 50, 900))):
            group[key] = draw.choice(({"a": group[key]}, [group[key]]))

    _edit_json(draw, folder, edit)


_SEQUENCES = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "post_processor": "processors",
              "decoder": "decoders"}  # fmt: skip


def _strange_step(draw: Random, component: str) -> dict[str, Any]:
    pattern = draw.choice(({"Regex": draw.choice(PATTERNS)}, {"String": draw.choice(("a", "", " ", LONG))}))
    common: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": pattern, "content": draw.choice(("aa", "", "a" * 50, LONG))},
        {"type": "Sequence", _SEQUENCES[component]: []},
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": draw.random() < 0.5},
        {"type": draw.choice(("Invented", "", None, "Strip", "Fuse", "NFKD", "Digits", "Whitespace", "ByteFallback"))},
        {"type": "Split", "pattern": pattern, "behavior": draw.choice(("Isolated", "Removed", "x")), "invert": True},
        {"type": "Prepend", "prepend": draw.choice(("a", LONG))},
        {"type": "Strip", "content": "a", "start": 2**40, "stop": 2**63},
        {"type": "Metaspace", "replacement": draw.choice(("a", "", "ab")), "prepend_scheme": "always", "split": True},
        {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}] * draw.choice((1, 2, 999)),
         "pair": [], "special_tokens": {}},
        {"type": "Precompiled", "precompiled_charsmap": draw.choice(("", "AAAA", "AAAAAGFhYWE=", LONG))},
        {"type": "FixedLength", "length": draw.choice((0, 1, 2**40))},
        {"type": "CharDelimiterSplit", "delimiter": "a"}, {"type": "UnicodeScripts"}, {"type": "Nmt"},
        {"type": "CTC", "pad_token": "", "word_delimiter_token": "", "cleanup": True},
        {"type": "BPEDecoder", "suffix": ""}, {"type": "WordPiece", "prefix": "", "cleanup": True},
    ]  # fmt: skip
    return draw.choice(common)


def change_tokenizer(draw: Random, folder: Path) -> None:
    """Change the steps: other kinds, repeated, in nested sequences; or change limits and vocabularies."""
    path = folder / "tokenizer.json"
    if not path.is_file() or path.stat().st_size > MAX_EDITED_BYTES:
        return
    try:
        values = json.loads(path.read_bytes())
    except ValueError:
        return
    component = draw.choice(sorted(_SEQUENCES))
    steps = [_strange_step(draw, component)] * draw.choice((1, 1, 2, 3, 12, 30))
    if values.get(component) and draw.random() < 0.5:
        steps.insert(draw.randint(0, len(steps)), values[component])
    nested: Any = {"type": "Sequence", _SEQUENCES[component]: steps}
    for _ in range(draw.choice((0, 0, 1, 3, 200))):
        nested = {"type": "Sequence", _SEQUENCES[component]: [nested]}
    values[component] = nested if draw.random() < 0.8 else steps[0]
    model = values.get("model")
    if isinstance(model, dict) and draw.random() < 0.4:
        runs = [["a" * length, -float(length % 7)] for length in range(1, draw.choice((5, 128, 1_500)))]
        model.update(draw.choice((
            {"max_input_chars_per_word": 10**9}, {"unk_token": LONG}, {"continuing_subword_prefix": LONG},
            {"dropout": 2.0}, {"type": "Unigram", "vocab": runs, "unk_id": 10**6}, {"merges": [["a", "a"]] * 1_000},
            {"type": "Unigram", "vocab": runs, "unk_id": 0}, {"byte_fallback": True}, {"vocab": {"a": 2**32 - 1}},
        )))  # fmt: skip
    _write_json(path, values)


def change_weights(draw: Random, folder: Path) -> None:
    """Change the numbers, shapes, dtypes or names of the tensors."""
    path = folder / "model.safetensors"
    try:
        tensors = load_file(path) if path.is_file() else {}
    except Exception:  # broken by another mutation
        return
    if not tensors:
        return
    name = draw.choice(sorted(tensors))
    tensor = tensors[name]
    match draw.randrange(8):
        case 0:
            tensors[name] = torch.full_like(tensor, draw.choice((float("nan"), float("inf"), 3e38, -3e38, 0.0)))
        case 1:
            factor = 10 ** draw.uniform(0, 38)
            tensors = {key: (value.float() * factor).clamp(-3e38, 3e38) for key, value in tensors.items()}
        case 2:
            tensors[name] = tensor.flatten()[: draw.randint(0, tensor.numel())].clone()
        case 3:
            tensors[name] = tensor.to(draw.choice((torch.int8, torch.float64, torch.bool, torch.int64)))
        case 4:
            tensors[draw.choice((f"{name}x", "", LONG, "a\nb"))] = tensors.pop(name).clone()
        case 5:
            del tensors[name]
        case 6:
            tensors["more"] = torch.zeros(0, 3)
        case _:
            tensors[name] = tensor.t().contiguous() if tensor.dim() == 2 else tensor[None].contiguous()
    path.unlink()
    save_file({key: value.contiguous().clone() for key, value in tensors.items()}, path)


def change_file_kind(draw: Random, folder: Path) -> None:
    """Replace a file by a pipe, a device, a folder, a symlink to itself or nothing."""
    names = ["README.md", "tokenizer_config.json", "model.safetensors.index.json", "pytorch_model.bin", "model.bin"]
    path = draw.choice([_any_file(draw, folder), folder / draw.choice(names)])
    _remove(path)
    match draw.randrange(6):
        case 0:
            os.mkfifo(path)
        case 1:
            path.symlink_to(draw.choice(("/dev/zero", "/dev/stdin", "/dev/tty", "/nowhere")))
        case 2:
            path.mkdir()
        case 3:
            path.symlink_to(path.name)
        case 4:
            raws = (b"", b"\0" * 5_000, b"PK\3\4", draw.randbytes(300), b"[" * 100_000, b"\xff\xfe")
            path.write_bytes(draw.choice(raws))


def add_files(draw: Random, folder: Path) -> None:
    """Add optional files of a checkpoint, with strange contents."""
    name = draw.choice(MORE_FILES)
    keys = ("tokenizer_class", "bos_token", "added_tokens_decoder", "weight_map", "base_model_name_or_path", "size")
    fields = {key: draw.choice(VALUES) for key in draw.sample(keys, draw.randint(1, 4))}
    if not os.path.lexists(folder / name):  # true for a symlink to itself
        (folder / name).write_text(json.dumps(fields))
    if name.endswith("index.json") and draw.random() < 0.7:
        _remove(folder / "model.safetensors")
    if name == "adapter_config.json" and draw.random() < 0.7:
        _remove(folder / "config.json")


MUTATIONS: tuple[Mutation, ...] = (
    flip_bits, cut_off, repeat_bytes, change_value, change_value, drop_field, rename_field, scale_number, swap_values,
    nest_deeply, change_tokenizer, change_tokenizer, change_tokenizer, change_weights, change_file_kind, add_files,
)  # fmt: skip


FILE_MUTATIONS: tuple[Mutation, ...] = (flip_bits, flip_bits, cut_off, repeat_bytes)


def make_victims(root: Path) -> None:
    """Write valid checkpoints: Headlight's own, other families, and old vocabularies."""
    for name, model, tokenizer in (
        ("own decoder", toys.decoder(), toys.causal()), ("own encoder", toys.encoder(), toys.masked()),
        ("own both", toys.both(), toys.masked()),
    ):  # fmt: skip
        save(root / name, model, tokenizer, card="---\nlicense: mit\n---\nA toy.")
    for family in FAMILIES:
        build(CASES[family][0], root / family)
    build_pickle(CASES["gpt2"][0], root / "pickled")
    write(small(LLAMA), "llama", root / "gguf")
    for name in OLD_VOCABULARIES:
        kind, make, options = LAYOUTS[name]
        shutil.copytree(root / "gpt2", root / f"old {name}")
        (root / f"old {name}" / "tokenizer.json").unlink()
        make(configured(root / f"old {name}" / "vocabulary", kind, **options))
        for path in (root / f"old {name}" / "vocabulary").iterdir():
            if path.name != "config.json":
                shutil.move(path, root / f"old {name}" / path.name)
        shutil.rmtree(root / f"old {name}" / "vocabulary")


# The cases.


def open_mutant(draw: Random, victims: Path) -> bool:
    """Mutate a valid checkpoint or another file one to three times, and open it in one of the ways that there are."""
    if draw.random() < 0.2:
        return open_medium(draw, FILE_MUTATIONS)
    with TemporaryDirectory() as root:
        folder = Path(root) / "models" / "victim"
        shutil.copytree(draw.choice(sorted(victims.iterdir())), folder)
        for _ in range(draw.choice((1, 1, 2, 3))):
            draw.choice(MUTATIONS)(draw, folder)
        return draw.choice((open_checkpoint, upload, predict))(folder)


def open_checkpoint(folder: Path) -> bool:
    """List a checkpoint, open it and run it. Whether it opened."""
    root = str(folder.parent.parent)
    require_sentence(read_metadata(folder).error, root)
    catalog([folder.parent])
    opened = None
    with sentences(root):
        opened = load(folder, memory_limit=MEMORY, device="cpu")
        for note in (*opened.notes, describe_nonfinite(find_nonfinite(opened))):
            require_sentence(note, root)
        for text in Random(str(opened.model.config)).sample(TEXTS, 3):
            with sentences(root):
                _ask(opened, text)
    return opened is not None


def _ask(opened: Checkpoint, text: str) -> None:
    config, source = opened.model.config, text if opened.model.config.has_cross_attention else None
    read = process_image(toys.photo(), config.image) if config.image.channels else text
    traced = run(opened.model, opened.tokenizer, read, source=source)
    _require_answer(traced)
    if traced.logits is not None and traced.logits.ndim == 2 and traced.logits.shape[-1] == config.vocabulary_size:
        candidates(traced, opened.tokenizer)
    opened.tokenizer.decode([number for number in traced.text.ids if number < opened.tokenizer.vocabulary_size])


def ask_question(draw: Random, victims: Path) -> bool:
    """Send a request to one of the routes, and check the model's trace for it as well."""
    kind = draw.choice(http_requests())
    content = content_of(kind, draw)
    case = ask(kind.route, content)
    if case.is_wrong:
        raise WrongAnswer(f"{case.route}: {case.said} {content[:300]!r}")
    answered = False
    with sentences(str(victims)):
        for question in decode_request(msgspec.json.Decoder(kind), content).questions():
            _require_answer(resolve(question).trace)
        answered = True
    return answered


def _require_answer(traced: Trace) -> None:
    strange = [path for path, value in traced.values.items() if _must_be_finite(path) and not np.isfinite(value).all()]
    if strange and not traced.overflow_note:
        raise WrongAnswer(f"{strange[0]} is not finite, and no note reports it")
    weights = [value for path, value in traced.values.items() if path.endswith(".weights")]
    if traced.interventions or not weights:
        return
    for rows in weights:
        sums = rows.astype(np.float64).sum(-1)
        if np.isfinite(rows).all() and traced.config.attention_function == "softmax" and sums.max() > 1.01:
            raise WrongAnswer(f"rows of attention sum to {sums.max()}")


def _must_be_finite(path: str) -> bool:
    """Scores may be infinite if a mask or a bias forbids a key."""
    return path.rpartition(".")[2] not in ("bias", "scores", "masked_scores", "mask")


CASES_BY_KIND: dict[str, Case] = {
    "mutants": open_mutant, "questions": ask_question, "lessons": check_lesson, "recipes": read_recipe
}  # fmt: skip


# Running them.


class Runner:
    """A worker process that runs cases, restarted if a case takes too long or too much memory."""

    def __init__(self, victims: Path, module: str = __name__) -> None:
        self.victims = victims
        self.worker = WorkerProcess(WorkerLimits(MAX_BYTES, module=module))

    def run(self, kind: str, seed: int) -> Outcome:
        """Run one case."""
        job = Job("", EngineRequest(kind, json.dumps([seed, str(self.victims)]).encode()), MAX_SECONDS)
        self.worker.start()
        started = perf_counter()
        try:
            answered, wrong = json.loads(self.worker.answer(job))
        except EngineError as error:
            answered, wrong = False, str(error)
        return Outcome(kind, seed, perf_counter() - started, wrong, answered)


def serve(connection: Connection) -> None:
    """Answer each case with whether it ended in an answer, and its failure, or an empty string."""
    torch.set_num_threads(1)
    with Path(os.devnull).open("w") as nowhere:  # Rust code writes its panics to standard error
        os.dup2(nowhere.fileno(), 2)
    connection.send_bytes(READY)
    while True:
        message = connection.recv_bytes()
        ((number, request),) = msgspec.msgpack.decode(message[1:], type=list[Asked])
        seed, victims = json.loads(request.body)
        answered, wrong = False, ""
        try:
            answered = CASES_BY_KIND[request.route](Random(f"{request.route} {seed}"), Path(victims))
        except BaseException as error:
            wrong = f"{type(error).__name__}: {str(error)[:300]!r}"
        connection.send_bytes(ANSWER + number + json.dumps([answered, wrong]).encode())


def outcomes(counts: dict[str, int], first: int = 0) -> Iterator[Outcome]:
    """The outcome of every case."""
    yield from served_outcomes({kind: counts.get(kind, 0) for kind in SERVED}, first)
    local = {kind: counts.get(kind, 0) for kind in CASES_BY_KIND}
    if not any(local.values()):
        return
    with TemporaryDirectory() as victims:
        make_victims(Path(victims))
        runner = Runner(Path(victims))
        try:
            for kind, count in local.items():
                for seed in range(first, first + count):
                    yield runner.run(kind, seed)
        finally:
            runner.worker.stop()


def main(arguments: Sequence[str]) -> None:
    """`python -m tests.bench hostile [--requests N] [--mutants N] [--messages N] [--files N] [--first SEED]`."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench hostile", description=__doc__)
    parser.add_argument("--requests", type=int, default=200, help="to a server, on all routes")
    parser.add_argument("--messages", type=int, default=200, help="through a server's WebSocket")
    parser.add_argument("--mutants", type=int, default=200, help="checkpoints, arrays, pictures and recordings")
    parser.add_argument("--files", type=int, default=50, help="lessons and recipes, half of each")
    parser.add_argument("--questions", type=int, default=200, help="requests whose numbers are checked")
    parser.add_argument("--first", type=int, help="the first seed (default: a random one)")
    options = parser.parse_args(arguments)
    first = Random().randrange(10**9) if options.first is None else options.first
    print(f"The first seed is {first}: --first {first} repeats this.", flush=True)
    counts = {kind: getattr(options, kind) for kind in ("requests", "messages", "mutants", "questions")}
    counts |= {"lessons": options.files - options.files // 2, "recipes": options.files // 2}
    ended: list[Outcome] = []
    for line in table(_kept(outcomes(counts, first), ended)):
        print(line, flush=True)
    sys.exit(any(outcome.wrong for outcome in ended))


def _kept(found: Iterable[Outcome], ended: list[Outcome]) -> Iterator[Outcome]:
    for outcome in found:
        ended.append(outcome)
        yield outcome
