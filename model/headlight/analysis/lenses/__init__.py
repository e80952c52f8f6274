"""Lenses: what a layer would answer if it were the last."""
