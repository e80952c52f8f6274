"""What a worker process computes for the tasks page."""
