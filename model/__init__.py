"""Headlight's backend: a small transformer whose every value can be seen and changed.

from model import load, run
loaded = load("assets/models/stories-causal")
trace = run(loaded.model, loaded.tokenizer, "The cat sat on the mat.")
trace.attention()            # layer head query key
"""

from model.checkpoint import Entry, Loaded, catalogue, find, load, save
from model.config import Config
from model.dice import Rule
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
from model.generation import Step, Writer, fill, generate
from model.intervention import EDITS, Intervention
from model.kernels import KERNELS
from model.masks import MASKS
from model.pictures import Patched, View, read_picture, view
from model.positions import POSITIONS
from model.run import Candidate, asked, candidates, run
from model.tokenizer import Encoded, Tokenizer
from model.trace import SITES, Site, Trace
from model.transformer import Transformer, variant
from model.vocabulary import TOKENIZERS, train_tokenizer

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
