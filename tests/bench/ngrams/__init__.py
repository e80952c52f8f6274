"""N-gram models of a model's training texts, as baselines to measure it against."""
