"""What a worker process computes for the positions page."""
