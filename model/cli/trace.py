"""`headlight trace`: all that a model computes for a text, as an .npz file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from model.cli.common import add_model_options, make_parser, open_model, read_input, token_position
from model.errors import HeadlightError
from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.nn.masks import parse_masks
from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from model.nn.variants import variant
from model.tracing.run import run
from model.tracing.trace import Trace

KEPT = ("*.weights", "*.final_residual", "logits", "pixels")


def trace(arguments: list[str]) -> int:
    """Write what a model does with a text (or a picture) to an .npz file that any program can read."""
    parser = make_parser("trace", trace)
    parser.add_argument("text", metavar="TEXT", nargs="?")
    parser.add_argument("--image", type=Path, metavar="FILE", help="a picture, for a model that reads pictures")
    add_model_options(parser)
    parser.add_argument("--target", help="what the decoder of an encoder-decoder reads")
    parser.add_argument("--mask", action="append", help="causal, window:8, custom:10/11, none; + combines them")
    parser.add_argument(
        "--positional-encoding",
        choices=sorted(POSITIONAL_ENCODINGS),
        help="another positional encoding on the same weights",
    )
    parser.add_argument(
        "--attention-function",
        choices=sorted(ATTENTION_FUNCTIONS),
        help="another attention function on the same weights",
    )
    parser.add_argument("--scale", choices=("on", "off"), help="whether scores are divided by the root of d")
    parser.add_argument("--edit", action="append", default=[], help="such as decoder.1.self.weights[3]=set:0")
    parser.add_argument(
        "--mask-token",
        action="append",
        type=token_position,
        default=[],
        metavar="N",
        help="put a mask token in place of token N, from 0",
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FILE.npz")
    options = parser.parse_args(arguments)
    loaded = open_model(options)
    masks = None if options.mask is None else parse_masks("+".join(options.mask))
    scale = {"on": True, "off": False}.get(options.scale)
    model = variant(
        loaded.model,
        positional_encoding=options.positional_encoding,
        attention_function=options.attention_function,
        masks=masks,
        scale=scale,
    )
    text, source = read_input(options, model)
    traced = run(
        model, loaded.tokenizer, text, options.edit, source=source, masked_positions=options.mask_token, keep=KEPT
    )
    _write_npz(options.out, _npz_arrays(traced))
    return 0


def _npz_arrays(traced: Trace) -> dict[str, np.ndarray]:
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
        arrays["last_hidden"] = traced[f"{traced.config.stacks[-1]}.final_residual"]
    return arrays


def _write_npz(path: Path, arrays: dict[str, np.ndarray]) -> None:
    try:
        with path.open("wb") as file:  # a path of its own would get .npz appended
            np.savez(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise HeadlightError(f"{path} cannot be written: {error.strerror}.") from error
