"""Lessons: steps with questions beside the view that they speak of."""
