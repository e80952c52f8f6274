"""What a worker process computes for the explore page."""
