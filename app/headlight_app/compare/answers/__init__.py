"""What a worker process computes for the compare page."""
