"""The Positions page: how a positional encoding works."""
