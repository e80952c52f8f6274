"""Headlight's backend: a small transformer whose every value can be seen and changed.

from model import load, run
loaded = load("assets/models/stories-causal")
trace = run(loaded.model, loaded.tokenizer, "The cat sat on the mat.")
trace.attention()            # layer head query key
"""

from model.checkpoints import Entry, Loaded, catalogue, find, load, save
from model.config import Config
from model.errors import (
    CheckpointError,
    ConfigError,
    DataError,
    EditError,
    HeadlightError,
    PictureError,
    TextError,
    UnknownName,
)
from model.generation.fill_mask import fill
from model.generation.generate import Step, Writer, generate
from model.generation.sampling import Rule
from model.nn.attention_functions import KERNELS
from model.nn.masks import MASKS
from model.nn.positional_encodings import POSITIONS
from model.nn.sites import SITES, Site
from model.nn.transformer import Transformer
from model.nn.variants import variant
from model.text.tokenizer import Encoded, Tokenizer
from model.text.tokenizer_training import TOKENIZERS, train_tokenizer
from model.tracing.interventions import EDITS, Intervention
from model.tracing.run import Candidate, asked, candidates, run
from model.tracing.trace import Trace
from model.vision.image import View, read_picture, view
from model.vision.patches import Patched

__all__ = [
    "EDITS",
    "KERNELS",
    "MASKS",
    "POSITIONS",
    "SITES",
    "TOKENIZERS",
    "Candidate",
    "CheckpointError",
    "Config",
    "ConfigError",
    "DataError",
    "EditError",
    "Encoded",
    "Entry",
    "HeadlightError",
    "Intervention",
    "Loaded",
    "Patched",
    "PictureError",
    "Rule",
    "Site",
    "Step",
    "TextError",
    "Tokenizer",
    "Trace",
    "Transformer",
    "UnknownName",
    "View",
    "Writer",
    "asked",
    "candidates",
    "catalogue",
    "fill",
    "find",
    "generate",
    "load",
    "read_picture",
    "run",
    "save",
    "train_tokenizer",
    "variant",
    "view",
]
