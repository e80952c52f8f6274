"""The worker's answers for the Tasks page."""
