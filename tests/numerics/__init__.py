"""Every number of Headlight recomputed in float64 with NumPy alone, from the raw files of a checkpoint."""
