"""The worker's answers for the Compare page."""
