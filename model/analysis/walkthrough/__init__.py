"""A prediction step by step: the attention of one head, and what the model makes of its last layer."""
