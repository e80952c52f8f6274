"""The Explore page: one text, and all that a model does with it."""
