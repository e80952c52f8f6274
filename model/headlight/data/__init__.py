"""Text files to train and evaluate on."""
