"""Visitors, their uploads, and what the operator allows."""
