"""The Explore page: one text, and everything a model does with it."""
