"""The course: chapters of screens, each one idea that runs on the learner's own numbers."""
