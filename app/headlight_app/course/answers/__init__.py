"""The worker's answers for the Course page."""
