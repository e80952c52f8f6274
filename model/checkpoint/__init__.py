"""Checkpoints: folders of `config.json`, `model.safetensors` and `tokenizer.json`, opened, saved and listed."""

from model.checkpoint.catalogue import Entry, catalogue, find
from model.checkpoint.export import export
from model.checkpoint.folder import Loaded, load, save
from model.checkpoint.health import remark, scan

__all__ = ["Entry", "Loaded", "catalogue", "export", "find", "load", "remark", "save", "scan"]
