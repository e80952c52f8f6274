"""Lessons: steps with questions, beside the view they refer to."""
