"""Training: texts to batches, an objective, and a loop that survives being stopped."""
