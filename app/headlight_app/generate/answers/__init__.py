"""The worker's answers for the Generate page."""
