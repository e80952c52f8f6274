"""Checkpoints: folders of `config.json`, `model.safetensors` and `tokenizer.json`, opened, saved and listed."""

from model.checkpoint.catalogue import Entry, catalogue, find
from model.checkpoint.export import export
from model.checkpoint.folder import Loaded, load, save

__all__ = ["Entry", "Loaded", "catalogue", "export", "find", "load", "save"]
