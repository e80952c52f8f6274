"""Rendering: a trace as HTML, for a notebook or as a file."""
