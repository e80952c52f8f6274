"""Heads: attention in several parts, concatenated again."""
