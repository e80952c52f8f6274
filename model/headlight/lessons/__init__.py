"""Lessons: text files of steps with questions, whose right answers are computed when they are asked."""
