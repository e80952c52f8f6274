"""Tokens and embeddings: how a text becomes numbers, and numbers become vectors."""
