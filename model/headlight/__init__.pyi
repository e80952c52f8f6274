from .analysis.faithfulness.copying import cut_passages, trace_copying
from .analysis.faithfulness.rankings import compare_rankings
from .analysis.head_metrics import head_metrics, mean_over_texts
from .analysis.head_removal import remove_head
from .analysis.ledger import Cell, Ledger, cell_ledger
from .analysis.moved_values import attention_sinks, moved_values
from .analysis.patching import PatchingMap, patching_map, path_patching
from .analysis.sentences.pooling import read_sentence_pooling
from .analysis.sentences.similarity import cosines_without_heads, sentence_similarity
from .checkpoints import CatalogEntry, Checkpoint, catalog, find_checkpoint, load, save
from .config import Config
from .errors import (
    CheckpointError,
    ConfigError,
    DataError,
    EditError,
    HeadlightError,
    ImageError,
    SoundError,
    TextError,
    UnknownNameError,
)
from .generation.generate import Hypothesis, TextGenerator, beam_search, fill_mask, generate
from .generation.step import GenerationStep, SamplingConfig
from .nn.attention_functions import ATTENTION_FUNCTIONS
from .nn.hooks import HOOK_POINTS, HookPoint
from .nn.masks import MASKS
from .nn.positional_encodings import POSITIONAL_ENCODINGS
from .nn.transformer import Transformer, variant
from .rendering.show import show
from .rendering.widget import widget
from .sound.frames import EncodedSound, ProcessedSound, process_sound
from .sound.recording import Recording, read_recording
from .text.chat import Chat, Message
from .text.tokenizer import Encoded, TextPair, Tokenizer
from .text.tokenizer_training import TOKENIZER_TRAINERS, train_tokenizer
from .tracing.interventions import EDIT_OPERATIONS, Intervention
from .tracing.predictions import Candidate, candidates, prediction_positions
from .tracing.run import run, run_texts
from .tracing.trace import Trace
from .vision.image import ProcessedImage, process_image, read_image
from .vision.patches import EncodedImage
from .vision.shipped_images import find_image

__all__ = [
    "ATTENTION_FUNCTIONS",
    "EDIT_OPERATIONS",
    "HOOK_POINTS",
    "MASKS",
    "POSITIONAL_ENCODINGS",
    "TOKENIZER_TRAINERS",
    "Candidate",
    "CatalogEntry",
    "Cell",
    "Chat",
    "Checkpoint",
    "CheckpointError",
    "Config",
    "ConfigError",
    "DataError",
    "EditError",
    "Encoded",
    "EncodedImage",
    "EncodedSound",
    "GenerationStep",
    "HeadlightError",
    "HookPoint",
    "Hypothesis",
    "ImageError",
    "Intervention",
    "Ledger",
    "Message",
    "PatchingMap",
    "ProcessedImage",
    "ProcessedSound",
    "Recording",
    "SamplingConfig",
    "SoundError",
    "TextError",
    "TextGenerator",
    "TextPair",
    "Tokenizer",
    "Trace",
    "Transformer",
    "UnknownNameError",
    "attention_sinks",
    "beam_search",
    "candidates",
    "catalog",
    "cell_ledger",
    "compare_rankings",
    "cosines_without_heads",
    "cut_passages",
    "fill_mask",
    "find_checkpoint",
    "find_image",
    "generate",
    "head_metrics",
    "load",
    "mean_over_texts",
    "moved_values",
    "patching_map",
    "path_patching",
    "prediction_positions",
    "process_image",
    "process_sound",
    "read_image",
    "read_recording",
    "read_sentence_pooling",
    "remove_head",
    "run",
    "run_texts",
    "save",
    "sentence_similarity",
    "show",
    "trace_copying",
    "train_tokenizer",
    "variant",
    "widget",
]
