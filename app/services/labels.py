"""The names of masks, position schemes and attention functions on the page."""

from __future__ import annotations

from model.nn.attention_functions import KERNELS
from model.nn.positional_encodings import POSITIONS

MASKS = {
    "causal": "Causal",
    "none": "Bidirectional",
    "window": "Sliding window",
    "causal+window": "Causal + sliding window",
    "custom": "Custom matrix",
}
POSITION_NAMES = {
    "none": "None",
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "rope": "RoPE (rotary)",
    "alibi": "ALiBi",
    "relative": "Relative (T5)",
    "disentangled": "Disentangled (DeBERTa)",
}
KERNEL_NAMES = {"softmax": "Softmax", "hard": "Hard (argmax)", "linear": "Linear (elu + 1)"}
PARTS: dict[str, tuple[str, dict[str, str]]] = {
    "masks": ("Mask", MASKS),
    "position": ("Positions", {name: POSITION_NAMES.get(name, name) for name in POSITIONS}),
    "kernel": ("Kernel", {name: KERNEL_NAMES.get(name, name) for name in KERNELS}),
}
