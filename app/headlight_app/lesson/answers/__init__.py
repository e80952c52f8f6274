"""The worker's answers for lessons."""
