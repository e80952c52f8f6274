"""What runs in the engine's worker processes: models, and all that reads a stranger's file or text."""
