"""The Positions page: what a position scheme does."""
