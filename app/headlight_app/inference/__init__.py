"""Open models, and their runs and caches: what every answer is computed from. It runs in worker processes."""
