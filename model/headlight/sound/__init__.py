"""Recordings: reading WAV files, spectrograms, and frames described the way tokens are."""
