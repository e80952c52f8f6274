"""The training tasks of models, on the learner's own sentence."""
