"""What a terminal adds to a command: interruptions, and bars while it runs."""
