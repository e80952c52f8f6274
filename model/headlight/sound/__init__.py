"""Recordings: reading WAV files, spectrograms, and frames as tokens."""
