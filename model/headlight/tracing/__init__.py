"""Tracing: one forward pass, what it computed on the way, and edits of it."""
