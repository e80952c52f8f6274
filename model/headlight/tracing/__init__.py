"""Tracing: one forward pass, its intermediate values, and edits of them."""
