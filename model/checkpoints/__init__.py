"""Checkpoints: folders of `config.json`, `model.safetensors` and `tokenizer.json`, opened, saved and listed."""

from model.checkpoints.catalog import Entry, catalogue, find
from model.checkpoints.export import export
from model.checkpoints.finite_check import remark, scan
from model.checkpoints.load import Loaded, load, save

__all__ = ["Entry", "Loaded", "catalogue", "export", "find", "load", "remark", "save", "scan"]
