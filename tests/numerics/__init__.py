"""Every number of Headlight computed a second time, in float64 with NumPy alone, from the raw files of a checkpoint."""
