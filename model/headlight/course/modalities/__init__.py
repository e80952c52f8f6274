"""Attention beyond text: images, graphs, sounds and proteins as sequences of vectors."""
