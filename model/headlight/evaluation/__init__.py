"""Measures of a trained model: bits per byte, masked accuracy, cloze tests, and what its heads attend to."""
