"""`headlight check` and `headlight exercises`: run a learner's own functions in a separate process."""
