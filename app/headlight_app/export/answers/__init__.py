"""What a worker process computes for the export page."""
