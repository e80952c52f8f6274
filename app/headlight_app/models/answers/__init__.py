"""The worker's answers for the Models page."""
