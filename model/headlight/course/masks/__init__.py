"""Masks, and common mistakes with them."""
