"""The plan of a model: its forward pass as data, for an interpreter in a browser."""
