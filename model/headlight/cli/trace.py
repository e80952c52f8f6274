"""`headlight trace`: attention, logits and final hidden states of one run, as an .npz file."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from headlight.cli.common import (
    add_edit_option,
    add_input_options,
    add_model_options,
    command,
    open_model,
    read_input,
    token_position,
    warn_of_overflow,
)
from headlight.file_writing import replacing
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.masks import mask_examples, parse_masks
from headlight.nn.output_heads import POOLINGS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.transformer import Transformer, variant
from headlight.rendering.provenance import provenance, provenance_arrays
from headlight.tracing.run import run
from headlight.tracing.trace import Trace

KEEP = ("*.weights", "*.final_residual", "logits", "pixels")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_model_options(parser)
    parser.add_argument("--mask", action="append", help=f"{', '.join(mask_examples())}; + combines them")
    parser.add_argument(
        "--positional-encoding", choices=sorted(POSITIONAL_ENCODINGS), help="another one on the same weights"
    )
    parser.add_argument(
        "--attention-function", choices=sorted(ATTENTION_FUNCTIONS), help="another one on the same weights"
    )
    parser.add_argument("--scale", choices=("on", "off"), help="whether scores are divided by sqrt(head_dim)")
    parser.add_argument("--pooling", choices=sorted(POOLINGS), help="how a classifier makes one vector of all tokens")
    add_edit_option(parser)
    parser.add_argument(
        "--mask-token", action="append", type=token_position, default=[], metavar="N",
        help="replace token N, counted from 0, with the mask token",
    )  # fmt: skip
    parser.add_argument("--out", required=True, type=Path, metavar="FILE.npz")


@command(_add_arguments)
def trace(options: argparse.Namespace) -> int:
    """Write attention, logits and final hidden states of one run to an .npz file."""
    loaded = open_model(options)
    model = _variant(loaded.model, options)
    text, source = read_input(options, model)
    traced = run(
        model, loaded.tokenizer, text, options.edit, source=source, masked_positions=options.mask_token, keep=KEEP
    )
    warn_of_overflow(traced)
    fields = provenance(
        traced, masked_positions=options.mask_token, image=Path(options.image).name if options.image else ""
    )
    _write_npz(options.out, npz_arrays(traced) | provenance_arrays(fields))
    return 0


def _variant(model: Transformer, options: argparse.Namespace) -> Transformer:
    return variant(
        model,
        positional_encoding=options.positional_encoding,
        attention_function=options.attention_function,
        masks=None if options.mask is None else parse_masks("+".join(options.mask)),
        scale={"on": True, "off": False}.get(options.scale),
        pooling=options.pooling,
    )


def npz_arrays(traced: Trace) -> dict[str, np.ndarray]:
    """The arrays under the names that model/headlight/cli/README.md lists and other programs rely on."""
    encoded = traced.source or traced.text
    arrays = {"tokens": np.array(encoded.tokens, np.str_)}
    if "pixels" in traced.values:
        arrays["pixel_values"] = traced["pixels"]
    else:
        arrays["input_ids"] = np.array(encoded.ids, np.int64)
    if traced.source:
        arrays["target_ids"] = np.array(traced.text.ids, np.int64)
        arrays["target_tokens"] = np.array(traced.text.tokens, np.str_)
        arrays["encoder_attention"] = traced.attention(stack="encoder")
        arrays["decoder_attention"] = traced.attention(stack="decoder")
        arrays["cross_attention"] = traced.attention("cross")
    else:
        arrays["attention"] = traced.attention()
    if traced.logits is not None:
        arrays["logits"] = traced.logits
    if not traced.source or traced.logits is None:  # the output of a model without a head
        arrays["last_hidden"] = traced[f"{traced.config.stacks[-1]}.final_residual"]
    return arrays


def _write_npz(path: Path, arrays: dict[str, np.ndarray]) -> None:
    with replacing(path) as file:  # to a path NumPy would append .npz
        np.savez(file, allow_pickle=False, **arrays)
