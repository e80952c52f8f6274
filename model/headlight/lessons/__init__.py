"""Lessons: text files with steps and questions; right answers are computed when a question is shown."""
