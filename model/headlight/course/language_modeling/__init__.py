"""Chapter 9: what models are trained to predict, on the learner's own sentence."""
