"""Positions: how a model knows the order of its tokens."""
