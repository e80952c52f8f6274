"""Other functions from scores to weights, and their cost."""
