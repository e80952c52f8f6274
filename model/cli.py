"""The command line of the backend: trace, predict, models, train. Each verb prints sentences, never a traceback."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from model import checkpoint
from model.arguments import Parser
from model.checkpoint import Entry, Loaded, catalogue, find, load
from model.errors import HeadlightError, TextError
from model.evaluation import command as evaluation
from model.kernels import KERNELS
from model.masks import parse
from model.pictures import View, read_picture, view
from model.positions import POSITIONS
from model.registry import Registry
from model.run import Candidate, asked, candidates, encode, run
from model.trace import Trace
from model.training import command as training
from model.transformer import Transformer, variant


def main(arguments: Sequence[str]) -> int:
    """Run one verb with its arguments; gives the exit status: 0, or 2 with a sentence on standard error."""
    try:
        if not arguments or arguments[0] in ("-h", "--help"):
            print(usage())
            return 0
        return VERBS[arguments[0]](list(arguments[1:]))
    except HeadlightError as error:
        print(f"headlight: {error}", file=sys.stderr)
        return 2


def usage() -> str:
    """The verbs, a line each."""
    lines = [f"  headlight {verb:8} {(action.__doc__ or '').splitlines()[0]}" for verb, action in VERBS.items()]
    return "\n".join(["Usage: headlight VERB ... (each verb explains itself with --help)", *lines])


def trace(arguments: list[str]) -> int:
    """Write what a model does with a text (or a picture) to an .npz file that any program can read."""
    parser = _parser("trace", trace)
    parser.add_argument("text", metavar="TEXT", nargs="?")
    parser.add_argument("--image", type=Path, metavar="FILE", help="a picture, for a model that reads pictures")
    _add_model(parser)
    parser.add_argument("--target", help="what the decoder of an encoder-decoder reads")
    parser.add_argument("--mask", action="append", help="causal, window:8, custom:10/11, none; + combines them")
    parser.add_argument("--position", choices=sorted(POSITIONS), help="another position scheme on the same weights")
    parser.add_argument("--kernel", choices=sorted(KERNELS), help="another kernel on the same weights")
    parser.add_argument("--scale", choices=("on", "off"), help="whether scores are divided by the root of d")
    parser.add_argument("--edit", action="append", default=[], help="such as decoder.1.self.weights[3]=set:0")
    parser.add_argument("--masked", action="append", type=_place, default=[], metavar="N", help="hide token N, from 0")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE.npz")
    options = parser.parse_args(arguments)
    loaded = _open(options)
    masks = None if options.mask is None else parse("+".join(options.mask))
    scale = {"on": True, "off": False}.get(options.scale)
    model = variant(loaded.model, position=options.position, kernel=options.kernel, masks=masks, scale=scale)
    text, source = _read(options, model)
    traced = run(model, loaded.tokenizer, text, options.edit, source=source, masked=options.masked, keep=_KEPT)
    _write(options.out, _arrays(traced))
    return 0


def predict(arguments: list[str]) -> int:
    """Say which token comes next, or which stands behind each [MASK]."""
    parser = _parser("predict", predict)
    parser.add_argument("text", metavar="TEXT")
    _add_model(parser, usual=f" (default: {FILLS} for a text with {MASK}, else {CONTINUES})")
    parser.add_argument("--top", type=_positive, default=5, help="how many candidates (default 5)")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")
    options = parser.parse_args(arguments)
    options.model = options.model or (FILLS if MASK in options.text else CONTINUES)
    loaded = _open(options)
    _require_language(loaded.model)
    if MASK in options.text and loaded.model.config.top == "language":
        raise TextError(f"{options.model} continues texts and fills no {MASK}; {FILLS} does, among others.")
    encoded = encode(loaded.model, loaded.tokenizer, options.text)
    places = asked(loaded.model, loaded.tokenizer, encoded)
    if not places:
        raise TextError("The text holds no [MASK]; put one where a word is to be guessed.")
    traced = run(loaded.model, loaded.tokenizer, options.text, keep=("logits",))
    answers = [
        {
            "position": place,
            "candidates": [_plain(each) for each in candidates(traced, loaded.tokenizer, place, options.top)],
        }
        for place in places
    ]
    fills = loaded.model.config.top == "masked-language"
    told = [encoded.pieces[place].strip() for place in places]
    headings = [piece if fills else f"after {piece}" for piece in told]
    print(json.dumps(answers) if options.json else _told(answers, headings))  # JSON in ASCII: for any terminal
    return 0


def models(arguments: list[str]) -> int:
    """List the models that can be opened by name."""
    parser = _parser("models", models)
    parser.add_argument("fetched", nargs="*", metavar="ID", help="models of the Hugging Face Hub to fetch first")
    _add_folders(parser)
    options = parser.parse_args(arguments)
    for name in options.fetched:
        find(name, options.models, paths=False, fetch=True)
    entries = catalogue(options.models)
    if not entries:
        print("No models found. Name a folder with --models DIR or in HEADLIGHT_MODELS.")
    for entry in entries:
        print(_line(entry))
    return 0


def train(arguments: list[str]) -> int:
    """Train a small model on text files."""
    return training.main(arguments)


def evaluate(arguments: list[str]) -> int:
    """Measure a model on held-out texts and fill-in tests."""
    return evaluation.evaluate(arguments)


def export(arguments: list[str]) -> int:
    """Write a model in the layout of transformers, where a family fits."""
    parser = _parser("export", export)
    parser.add_argument("model", metavar="NAME_OR_FOLDER")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    _add_folders(parser)
    options = parser.parse_args(arguments)
    loaded = load(find(options.model, options.models, fetch=True), name=options.model, device="cpu")
    kind = checkpoint.export(options.folder, loaded.model, loaded.tokenizer)
    print(f"{options.folder} holds the model as {kind}.")
    return 0


def card(arguments: list[str]) -> int:
    """Write the measured part of a model card."""
    return evaluation.card(arguments)


VERBS: Registry[Callable[[list[str]], int]] = Registry(
    "verb",
    {
        "trace": trace,
        "predict": predict,
        "models": models,
        "train": train,
        "evaluate": evaluate,
        "export": export,
        "card": card,
    },
)

MASK, FILLS, CONTINUES = "[MASK]", "stories-masked", "stories-causal"  # the shipped models
_KEPT = ("*.weights", "*.final", "logits", "pixels")
_WORDS = ("language", "masked-language")  # tops whose logits are over the vocabulary


def _parser(verb: str, action: Callable[[list[str]], int]) -> argparse.ArgumentParser:
    return Parser(
        prog=f"headlight {verb}", description=action.__doc__, allow_abbrev=False, epilog="-- ends the options."
    )


def _add_folders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", action="append", default=[], metavar="DIR", help="look for models here, too")


def _add_model(parser: argparse.ArgumentParser, usual: str = "") -> None:
    about = f"or an id of the Hugging Face Hub{usual}"
    parser.add_argument("--model", required=not usual, metavar="NAME_OR_FOLDER", help=about)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps (default auto)")
    _add_folders(parser)


def _open(options: argparse.Namespace) -> Loaded:
    loaded = load(find(options.model, options.models, fetch=True), name=options.model, device=options.device)
    if note := checkpoint.remark(checkpoint.scan(loaded)):
        print(f"headlight: {note}", file=sys.stderr)
    return loaded


def _read(options: argparse.Namespace, model: Transformer) -> tuple[str | View, str | None]:
    """What the answering stack reads, and what the encoder of an encoder-decoder does."""
    if (options.text is None) == (options.image is None):
        raise TextError("Give a TEXT, or a picture with --image FILE; one of the two.")
    if options.target is not None and not model.config.has_cross:
        raise TextError("--target is for encoder-decoder models; this model reads one text.")
    if options.image is not None:
        return view(read_picture(options.image), model.config.picture), None
    return (options.target or "", options.text) if model.config.has_cross else (options.text, None)


def _require_language(model: Transformer) -> None:
    if model.config.has_cross:
        raise TextError("This is an encoder-decoder, which reads two texts; predict is for models that read one.")
    if model.config.top not in _WORDS:
        raise TextError(f"This model predicts no words of a text: its top is {model.config.top!r}.")


def _arrays(traced: Trace) -> dict[str, np.ndarray]:
    """The names that other programs rely on; README lists them."""
    read = traced.source or traced.text
    arrays = {"tokens": np.array(read.tokens, np.str_)}
    if "pixels" in traced.values:
        arrays["pixel_values"] = traced["pixels"]
    else:
        arrays["input_ids"] = np.array(read.ids, np.int64)
    if traced.source:
        arrays["target_ids"] = np.array(traced.text.ids, np.int64)
        arrays["encoder_attention"] = traced.attention(stack="encoder")
        arrays["decoder_attention"] = traced.attention(stack="decoder")
        arrays["cross_attention"] = traced.attention("cross")
    else:
        arrays["attention"] = traced.attention()
    if traced.logits is not None:
        arrays["logits"] = traced.logits
    if not traced.source or traced.logits is None:  # what a bare model answers with
        arrays["last_hidden"] = traced[f"{traced.config.stacks[-1]}.final"]
    return arrays


def _write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    try:
        with path.open("wb") as file:  # a path of its own would get .npz appended
            np.savez(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise HeadlightError(f"{path} cannot be written: {error.strerror}.") from error


def _plain(candidate: Candidate) -> dict[str, object]:
    """A candidate for JSON, which has no NaN: null stands for one."""
    known = math.isfinite(candidate.probability)
    return asdict(candidate) | {"probability": candidate.probability if known else None}


def _told(answers: Sequence[dict[str, object]], headings: Sequence[str]) -> str:
    lines = []
    for answer, heading in zip(answers, headings, strict=True):
        lines.append(f"token {answer['position']}: {heading}")
        each = answer["candidates"]
        assert isinstance(each, list)
        for candidate in each:
            share = "   NaN" if candidate["probability"] is None else f"{candidate['probability']:6.1%}"
            lines.append(f"  {share}  {candidate['token'] or '(white space)'}")
    return "\n".join(lines)


def _line(entry: Entry) -> str:
    config = entry.config
    depth = " + ".join(str(config.depth(stack)) for stack in config.stacks)
    return (
        f"{entry.name:24} {config.architecture}, {depth} layers x {config.heads} heads, width {config.width}, "
        f"{config.position}, context {config.context}, {entry.bytes / 1e6:.1f} MB"
        f"{'' if entry.shipped else f', {entry.folder}'}"
    )


def _positive(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no whole number above 0")
    return int(word)


def _place(word: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) < 10):
        raise argparse.ArgumentTypeError(f"{word!r} is no token's place; one is a whole number from 0")
    return int(word)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
