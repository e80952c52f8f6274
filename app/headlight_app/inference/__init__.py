"""Open models, their runs and caches, shared by all answer functions. It runs in worker processes."""
