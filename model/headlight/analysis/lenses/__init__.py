"""Lenses: the answer of the model if a given layer were the last."""
