"""Tokens and embeddings: how a text becomes ids, and ids become vectors."""
