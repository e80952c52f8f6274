"""`headlight trace`: attention, logits and final hidden states of a run as an .npz file; `headlight open` shows one."""

from __future__ import annotations

import argparse
import tempfile
import webbrowser
from dataclasses import replace
from pathlib import Path

import numpy as np

from headlight.analysis.contacts import predict_contacts
from headlight.cli.common import (
    Command,
    add_edit_option,
    add_input_options,
    add_model_options,
    add_texts_option,
    command,
    each_input,
    open_model,
    run_edited,
    token_position,
)
from headlight.file_writing import make_folder, replacing
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.masks import mask_examples, parse_masks
from headlight.nn.output_heads import POOLINGS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.transformer import Transformer, variant
from headlight.rendering.provenance import provenance, provenance_arrays
from headlight.rendering.show import open_file
from headlight.tracing.trace import Trace

_FILE_HELP = "written by headlight trace or headlight.show; a .gguf or a checkpoint's folder opens on the page"
KEEP = ("*.weights", "*.final_residual", "logits", "pixels", "sound")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_texts_option(parser)
    add_model_options(parser)
    parser.add_argument("--mask", action="append", help=f"{', '.join(mask_examples())}; + combines them")
    parser.add_argument(
        "--positional-encoding", choices=sorted(POSITIONAL_ENCODINGS), help="another one with the same weights"
    )
    parser.add_argument(
        "--attention-function", choices=sorted(ATTENTION_FUNCTIONS), help="another one with the same weights"
    )
    parser.add_argument("--scale", choices=("on", "off"), help="whether scores are divided by sqrt(head_dim)")
    parser.add_argument("--pooling", choices=sorted(POOLINGS), help="how a classifier pools all tokens into one vector")
    add_edit_option(parser)
    parser.add_argument(
        "--mask-token", action="append", type=token_position, default=[], metavar="N",
        help="replace token N, counted from 0, with the mask token",
    )  # fmt: skip
    parser.add_argument(
        "--out", required=True, type=Path, metavar="FILE.npz", help="with --texts a folder, with a file for each text"
    )


@command(_add_arguments)
def trace(options: argparse.Namespace) -> int:
    """Write attention, logits and final hidden states of one run, or of many, to .npz files."""
    loaded = open_model(options)
    loaded = replace(loaded, model=_variant(loaded.model, options))
    inputs = each_input(options)
    if options.texts is not None:
        make_folder(options.out)
    files = {name: Path(given).name for name in ("image", "audio") if (given := getattr(options, name))}
    for number, each in enumerate(inputs, 1):
        traced = run_edited(each, loaded, KEEP, masked_positions=options.mask_token)
        fields = provenance(traced, masked_positions=options.mask_token, patch_from=options.patch_from or "", **files)
        path = options.out if options.texts is None else options.out / f"{number:05}.npz"
        contacts = {"contacts": predict_contacts(loaded.model, traced)} if loaded.model.contact_head else {}
        _write_npz(path, npz_arrays(traced) | contacts | provenance_arrays(fields))
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
    """The arrays, under the names listed in model/headlight/cli/ARRAYS.md, on which other programs rely."""
    encoded = traced.source or traced.text
    arrays = {"tokens": np.array(encoded.tokens, np.str_)}
    if "pixels" in traced.values:
        arrays["pixel_values"] = traced["pixels"]
    elif "sound" in traced.values:
        arrays["input_features"] = traced["sound"]
    else:
        arrays["input_ids"] = np.array(encoded.ids, np.int64)
        if encoded.segment_ids:
            arrays["token_type_ids"] = np.array(encoded.segment_ids, np.int64)
        if encoded.roles:
            arrays["roles"] = np.array(encoded.roles, np.str_)
    if traced.source:
        arrays["target_ids"] = np.array(traced.text.ids, np.int64)
        arrays["target_tokens"] = np.array(traced.text.tokens, np.str_)
        arrays["encoder_attention"] = traced.attention(stack="encoder")
        arrays["decoder_attention"] = traced.attention(stack="decoder")
        arrays["cross_attention"] = traced.attention("cross")
        if heads := traced.config.decoder.alignment_heads:
            arrays["alignment_heads"] = np.array(heads, np.int64)
    else:
        arrays["attention"] = traced.attention()
    if traced.logits is not None:
        arrays["logits"] = traced.logits
    if not traced.source or traced.logits is None:  # the output if the model has no head
        arrays["last_hidden"] = traced[f"{traced.config.stacks[-1]}.final_residual"]
    return arrays


def _write_npz(path: Path, arrays: dict[str, np.ndarray]) -> None:
    with replacing(path) as file:  # given a path, NumPy would append .npz
        np.savez(file, allow_pickle=False, **arrays)


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.npz", help=_FILE_HELP)
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="write the page there and open no browser")


def _open(options: argparse.Namespace) -> int:
    """Show the attention in an .npz file in a browser, or write it as an HTML page."""
    view = open_file(options.file)
    if options.out is not None:
        view.save(options.out)
        return 0
    page = Path(tempfile.mkdtemp(prefix="headlight-")) / f"{options.file.stem}.html"
    view.save(page)
    shown = webbrowser.open(page.as_uri())
    print(page if shown else f"{page} (no browser could be started; open this file in one)")
    return 0


open_attention = Command("open", _add_file, _open)
