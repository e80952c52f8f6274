"""What a worker process computes for the course page."""
