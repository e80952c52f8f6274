"""A prediction step by step: the attention of one head, and the last steps of a forward pass."""
