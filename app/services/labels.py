"""The names of masks, position schemes and attention functions on the page."""

from __future__ import annotations

from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.nn.positional_encodings import POSITIONAL_ENCODINGS

MASK_TITLES = {
    "causal": "Causal",
    "none": "Bidirectional",
    "window": "Sliding window",
    "causal+window": "Causal + sliding window",
    "custom": "Custom matrix",
}
POSITIONAL_ENCODING_TITLES = {
    "none": "None",
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "rope": "RoPE (rotary)",
    "alibi": "ALiBi",
    "relative": "Relative (T5)",
    "disentangled": "Disentangled (DeBERTa)",
}
ATTENTION_FUNCTION_TITLES = {"softmax": "Softmax", "hardmax": "Hard (argmax)", "linear": "Linear (elu + 1)"}
VARIANT_FIELDS: dict[str, tuple[str, dict[str, str]]] = {
    "masks": ("Mask", MASK_TITLES),
    "positional_encoding": (
        "Positional encoding",
        {name: POSITIONAL_ENCODING_TITLES.get(name, name) for name in POSITIONAL_ENCODINGS},
    ),
    "attention_function": (
        "Attention function",
        {name: ATTENTION_FUNCTION_TITLES.get(name, name) for name in ATTENTION_FUNCTIONS},
    ),
}
