"""Attention on numbers small enough to check with a pencil."""
