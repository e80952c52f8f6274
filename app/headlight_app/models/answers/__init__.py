"""What a worker process computes for the models page."""
