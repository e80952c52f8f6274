"""Chapter 9: the training tasks of models, on the learner's own sentence."""
