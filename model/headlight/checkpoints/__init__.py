"""Checkpoints: folders of `config.json`, `model.safetensors` and `tokenizer.json`, opened, saved and listed."""

from headlight.checkpoints.catalog import CatalogEntry, catalog, find_checkpoint
from headlight.checkpoints.convert import export
from headlight.checkpoints.load import Checkpoint, describe_nonfinite, find_nonfinite, load, save

__all__ = [
    "CatalogEntry",
    "Checkpoint",
    "catalog",
    "describe_nonfinite",
    "export",
    "find_checkpoint",
    "find_nonfinite",
    "load",
    "save",
]
