"""Headlight's backend: a small transformer whose every value can be seen and changed.

from model import load, run
loaded = load("assets/models/stories-causal")
trace = run(loaded.model, loaded.tokenizer, "The cat sat on the mat.")
trace.attention()            # layer head query key
"""

from model.checkpoints import CatalogEntry, Checkpoint, catalog, find_checkpoint, load, save
from model.config import Config
from model.errors import (
    CheckpointError,
    ConfigError,
    DataError,
    EditError,
    HeadlightError,
    ImageError,
    TextError,
    UnknownNameError,
)
from model.generation.fill_mask import fill_mask
from model.generation.generate import TextGenerator, generate
from model.generation.sampling import SamplingConfig
from model.generation.step import GenerationStep
from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.nn.hook_points import HOOK_POINTS, HookPoint
from model.nn.masks import MASKS
from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from model.nn.transformer import Transformer
from model.nn.variants import variant
from model.text.tokenizer import Encoded, Tokenizer
from model.text.tokenizer_training import TOKENIZER_TRAINERS, train_tokenizer
from model.tracing.interventions import EDIT_OPERATIONS, Intervention
from model.tracing.run import Candidate, candidates, prediction_positions, run
from model.tracing.trace import Trace
from model.vision.image import ProcessedImage, process_image, read_image
from model.vision.patches import EncodedImage

__all__ = [
    "ATTENTION_FUNCTIONS",
    "EDIT_OPERATIONS",
    "HOOK_POINTS",
    "MASKS",
    "POSITIONAL_ENCODINGS",
    "TOKENIZER_TRAINERS",
    "Candidate",
    "CatalogEntry",
    "Checkpoint",
    "CheckpointError",
    "Config",
    "ConfigError",
    "DataError",
    "EditError",
    "Encoded",
    "EncodedImage",
    "GenerationStep",
    "HeadlightError",
    "HookPoint",
    "ImageError",
    "Intervention",
    "ProcessedImage",
    "SamplingConfig",
    "TextError",
    "TextGenerator",
    "Tokenizer",
    "Trace",
    "Transformer",
    "UnknownNameError",
    "candidates",
    "catalog",
    "fill_mask",
    "find_checkpoint",
    "generate",
    "load",
    "prediction_positions",
    "process_image",
    "read_image",
    "run",
    "save",
    "train_tokenizer",
    "variant",
]
