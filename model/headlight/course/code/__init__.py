"""Exercises in code: the task of each function, and the results of well-known mistakes."""
