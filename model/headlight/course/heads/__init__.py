"""Heads: attention in several parts, joined again."""
