"""What a worker process computes for the generate page."""
