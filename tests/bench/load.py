"""The cost of opening a folder shaped like GPT-2 small, compared with safetensors' load and one plain forward."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import tokenizers
import torch
from safetensors.torch import load_file, save_file
from tokenizers import models, pre_tokenizers
from torch import Tensor
from torch.nn import functional

from headlight import load
from tests.bench.measure import Ratio, compare

WIDTH, LAYERS, HEADS, CONTEXT, VOCABULARY = 768, 12, 12, 1024, 50_257
TOKENS = 128
TURNS = 7


def ratios() -> Iterator[Ratio]:
    """Opening alone, and opening with a forward, each against loading the file's tensors and a plain forward; and the
    memory that opening takes in addition to the mapped file.
    """
    with TemporaryDirectory() as place:
        folder = make(Path(place) / "gpt2")
        taken = own_bytes()
        loaded = load(folder, device="cpu")
        beside, size = own_bytes() - taken, (folder / "model.safetensors").stat().st_size
        ids = torch.randint(VOCABULARY, (1, TOKENS))
        with torch.inference_mode():
            torch.testing.assert_close(loaded.model(ids), plain(folder, ids), atol=1e-3, rtol=1e-3)
        del loaded
        what = f"open 124 M parameters ({beside / 1e6:,.0f} MB beside the {size / 1e6:,.0f} MB of the file)"
        bare = partial(plain, folder, ids)
        yield compare(what, partial(load, folder, device="cpu"), "safetensors' load + forward", bare, TURNS)
        yield compare("open + forward", partial(opened, folder, ids), "safetensors' load + forward", bare, TURNS)


def own_bytes() -> int:
    """The anonymous memory of this process; 0 if the system does not report it."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), 0)


def make(folder: Path) -> Path:
    """Write a folder with random weights and GPT-2's number of tokens."""
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (VOCABULARY, WIDTH), "wpe.weight": (CONTEXT, WIDTH)}
    for layer in range(LAYERS):
        for name, rows, columns in (
            ("attn.c_attn", WIDTH, 3 * WIDTH), ("attn.c_proj", WIDTH, WIDTH),
            ("mlp.c_fc", WIDTH, 4 * WIDTH), ("mlp.c_proj", 4 * WIDTH, WIDTH),
        ):  # fmt: skip
            shapes |= {f"h.{layer}.{name}.weight": (rows, columns), f"h.{layer}.{name}.bias": (columns,)}
    weights = {name: 0.02 * torch.randn(shape) for name, shape in shapes.items()}
    for norm in ("ln_f", *(f"h.{layer}.ln_{number}" for layer in range(LAYERS) for number in (1, 2))):
        weights |= {f"{norm}.weight": torch.ones(WIDTH), f"{norm}.bias": torch.zeros(WIDTH)}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    values = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": LAYERS, "n_head": HEADS}
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    vocabulary().save(str(folder / "tokenizer.json"))
    return folder


def vocabulary() -> tokenizers.Tokenizer:
    """A BPE tokenizer with as many tokens as GPT-2; each merge joins the next pair of earlier tokens."""
    tokens = sorted(pre_tokenizers.ByteLevel.alphabet())
    known, merges = {token: number for number, token in enumerate(tokens)}, list[tuple[str, str]]()
    pairs = ((left, right) for right in tokens for left in tokens[:256])
    while len(tokens) < VOCABULARY:
        left, right = next(pairs)
        if left + right not in known:
            known[left + right] = len(tokens)
            tokens.append(left + right)
            merges.append((left, right))
    backend = tokenizers.Tokenizer(models.BPE(known, merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return backend


def opened(folder: Path, ids: Tensor) -> Tensor:
    """Open with Headlight, and run one forward."""
    with torch.inference_mode():
        logits: Tensor = load(folder, device="cpu").model(ids)
    return logits


@torch.inference_mode()
def plain(folder: Path, ids: Tensor) -> Tensor:
    """Load the tensors with safetensors, and run GPT-2's forward in its simplest form."""
    weights = load_file(folder / "model.safetensors")

    def norm(x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(x, (WIDTH,), weights[f"{name}.weight"], weights[f"{name}.bias"])

    def linear(x: Tensor, name: str) -> Tensor:
        return torch.addmm(weights[f"{name}.bias"], x, weights[f"{name}.weight"])

    x = weights["wte.weight"][ids[0]] + weights["wpe.weight"][: ids.shape[1]]
    for layer in range(LAYERS):
        h = f"h.{layer}"
        parts = linear(norm(x, f"{h}.ln_1"), f"{h}.attn.c_attn").view(len(x), 3, HEADS, -1).permute(1, 2, 0, 3)
        mixed = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        x = x + linear(mixed.transpose(0, 1).flatten(1), f"{h}.attn.c_proj")
        inner = functional.gelu(linear(norm(x, f"{h}.ln_2"), f"{h}.mlp.c_fc"), approximate="tanh")
        x = x + linear(inner, f"{h}.mlp.c_proj")
    return (norm(x, "ln_f") @ weights["wte.weight"].t())[None]
