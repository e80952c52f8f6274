"""The worker's answers for the Positions page."""
