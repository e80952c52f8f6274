"""The cost of opening, tracing and typing with a model of a billion parameters, compared with plain torch.

The folder is shaped like Llama 3.2 1B, with random weights in bfloat16; a GGUF file contains the same weights in four
bits (Q4_0). A trace has 100 tokens. Each way runs in a separate process and is measured in processor seconds.

`python -m tests.bench billion`
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import gguf
import psutil
import torch
from gguf.constants import MODEL_ARCH, GGMLQuantizationType
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from headlight import load
from headlight.tracing.recompute import logits_at
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_request
from tests.bench.load import VOCABULARY, own_bytes, vocabulary
from tests.families.gguf_files import finish

WIDTH, LAYERS, HEADS, SHARED_HEADS, INNER = 2_048, 16, 32, 8, 8_192
HEAD = WIDTH // HEADS
CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": WIDTH, "intermediate_size": INNER,
    "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": SHARED_HEADS,
    "vocab_size": VOCABULARY, "max_position_embeddings": 1_024, "rms_norm_eps": 1e-5, "rope_theta": 10_000.0,
    "tie_word_embeddings": True, "dtype": "bfloat16",
}  # fmt: skip
PROJECTIONS = {
    "self_attn.q_proj": (WIDTH, WIDTH), "self_attn.k_proj": (SHARED_HEADS * HEAD, WIDTH),
    "self_attn.v_proj": (SHARED_HEADS * HEAD, WIDTH), "self_attn.o_proj": (WIDTH, WIDTH),
    "mlp.gate_proj": (INNER, WIDTH), "mlp.up_proj": (INNER, WIDTH), "mlp.down_proj": (WIDTH, INNER),
}  # fmt: skip
TOKENS, LETTERS = 100, 7
FOUR_BITS = "four-bits.gguf"
KEEP = ("*.weights", "*.mask", "*.final_residual")  # as for the page
FREE_BYTES = 10 << 30  # with less, nothing is measured: other processes need the memory


def lines() -> Iterator[str]:
    """The table: a row for each way."""
    if psutil.virtual_memory().available < FREE_BYTES:
        yield "Less than 10 GB of memory are free."
        return
    yield "| 1.08 B parameters | open, s | trace 100 tokens, s | a letter, ms | private memory, GB |"
    yield "|---|---:|---:|---:|---:|"
    with TemporaryDirectory() as place:
        folder = make(Path(place) / "billion")
        write_gguf(folder)
        for name in WAYS:
            command = [sys.executable, "-m", "tests.bench.billion", name, str(folder)]
            yield subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make(folder: Path) -> Path:
    """A folder with random weights."""
    folder.mkdir(parents=True)
    shapes = {f"layers.{layer}.{name}": shape for layer in range(LAYERS) for name, shape in PROJECTIONS.items()}
    random = {"embed_tokens": (VOCABULARY, WIDTH)} | shapes
    weights = {name: torch.empty(shape, dtype=torch.bfloat16).normal_(std=0.02) for name, shape in random.items()}
    norms = [f"layers.{layer}.{name}_layernorm" for layer in range(LAYERS) for name in ("input", "post_attention")]
    weights |= {name: torch.ones(WIDTH, dtype=torch.bfloat16) for name in (*norms, "norm")}
    named = {f"model.{name}.weight": tensor for name, tensor in weights.items()}
    save_file(named, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    vocabulary().save(str(folder / "tokenizer.json"))
    return folder


def write_gguf(folder: Path) -> None:
    """Write the weights of a folder as a GGUF file in blocks of four bits, with a vocabulary of the same size."""
    writer = gguf.GGUFWriter(str(folder / FOUR_BITS), "llama")
    writer.add_context_length(1_024)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SHARED_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(HEAD)
    pieces = ["<unk>", "<s>", "</s>", *(f"▁{number}" for number in range(3, VOCABULARY))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_scores([-float(number) for number in range(VOCABULARY)])
    writer.add_token_types([2, 3, 3] + [1] * (VOCABULARY - 3))
    names = gguf.get_tensor_name_map(MODEL_ARCH.LLAMA, LAYERS)
    for name, tensor in load_file(folder / "model.safetensors").items():
        theirs, numbers = names.get_name(name, try_suffixes=(".weight",)), tensor.float().numpy()
        assert theirs is not None, name
        if numbers.ndim == 1:
            writer.add_tensor(theirs, numbers)
        else:
            four_bits = GGMLQuantizationType.Q4_0
            writer.add_tensor(theirs, gguf.quants.quantize(numbers, four_bits), raw_dtype=four_bits)
    finish(writer)


Letter = Callable[[int], Tensor]  # the logits after a text whose last token is replaced by the given id
Opened = Callable[[Tensor], Letter]  # traces token ids; the result continues from the trace


def headlight_way(folder: Path) -> Opened:
    """As in a worker of the page, from a folder or a GGUF file."""
    checkpoint = load(folder, device="cpu")
    model, tokenizer = checkpoint.model, checkpoint.tokenizer

    def request(ids: list[int]) -> RunRequest:
        return RunRequest(tokenizer.from_ids(ids, ""), None, (), KEEP)

    def trace(ids: Tensor) -> Letter:
        read = ids.tolist()
        before = run_request(model, request(read))

        def letter(number: int) -> Tensor:
            run = run_request(model, request([*read[:-1], number]), before)
            return torch.tensor(logits_at(model, run.trace, -1))

        return letter

    return trace


def torch_way(folder: Path) -> Opened:
    """Weights in single precision, fused attention, a cache of keys and values."""
    loaded = load_file(folder / "model.safetensors")
    weights = {name.removeprefix("model."): loaded.pop(name).float() for name in list(loaded)}
    frequencies = 1.0 / 10_000.0 ** (torch.arange(0, HEAD, 2) / HEAD)

    def norm(x: Tensor, name: str) -> Tensor:
        return functional.rms_norm(x, (WIDTH,), weights[f"{name}.weight"], 1e-5)

    def heads(x: Tensor, name: str) -> Tensor:
        return functional.linear(x, weights[f"{name}.weight"]).view(len(x), -1, HEAD).transpose(0, 1)

    def rotated(x: Tensor, first: int) -> Tensor:
        angles = torch.arange(first, first + x.shape[1])[:, None] * frequencies
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()), dim=-1)

    def forward(ids: Tensor, kept: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        x, first, now = weights["embed_tokens.weight"][ids], kept[0][0].shape[1] if kept else 0, []
        for layer in range(LAYERS):
            name = f"layers.{layer}"
            h, attention = norm(x, f"{name}.input_layernorm"), f"{name}.self_attn"
            q, k = (rotated(heads(h, f"{attention}.{each}_proj"), first) for each in "qk")
            v = heads(h, f"{attention}.v_proj")
            if kept:
                k, v = (torch.cat(pair, dim=1) for pair in zip(kept[layer], (k, v), strict=True))
            now.append((k, v))
            mixed = functional.scaled_dot_product_attention(
                q[None], k[None], v[None], is_causal=not kept, enable_gqa=True
            )
            x = x + functional.linear(mixed[0].transpose(0, 1).flatten(1), weights[f"{attention}.o_proj.weight"])
            h, mlp = norm(x, f"{name}.post_attention_layernorm"), f"{name}.mlp"
            gate, up = (functional.linear(h, weights[f"{mlp}.{each}_proj.weight"]) for each in ("gate", "up"))
            x = x + functional.linear(functional.silu(gate) * up, weights[f"{mlp}.down_proj.weight"])
        return functional.linear(norm(x[-1:], "norm"), weights["embed_tokens.weight"])[0], now

    def trace(ids: Tensor) -> Letter:
        kept = forward(ids[:-1], [])[1]
        return lambda number: forward(torch.tensor([number]), kept)[0]

    return trace


WAYS: dict[str, Callable[[Path], Opened]] = {
    "Headlight": headlight_way,
    "Headlight, Q4_0 GGUF": lambda folder: headlight_way(folder / FOUR_BITS),
    "plain torch, float32": torch_way,
}


@torch.inference_mode()
def main(name: str, folder: Path) -> None:
    """Measure one way, and print its row."""
    torch.manual_seed(0)
    ids = torch.randint(VOCABULARY, (TOKENS,))
    before, began = own_bytes(), process_time()
    with torch.inference_mode(False):
        opened = WAYS[name](folder)
    opened_at = process_time()
    letter = opened(ids)
    traced_at, seconds = process_time(), []
    for number in range(LETTERS):
        start = process_time()
        logits = letter(number)
        seconds.append(process_time() - start)
    assert logits.shape == (VOCABULARY,) and bool(logits.isfinite().all())
    own = (own_bytes() - before) / 1e9
    print(
        f"| {name} | {opened_at - began:.1f} | {traced_at - opened_at:.1f} | {1e3 * median(seconds):.0f} | {own:.1f} |"
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
