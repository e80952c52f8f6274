"""What a worker process says for the sidebar."""
