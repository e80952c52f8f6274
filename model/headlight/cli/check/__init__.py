"""`headlight check` and `headlight exercises`: a learner's own functions, run in a process of their own."""
