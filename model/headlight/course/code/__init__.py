"""Exercises in code: what each function shall do, and what the well-known mistakes give."""
