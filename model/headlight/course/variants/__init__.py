"""Chapter 8: other functions from scores to weights, and their cost."""
