"""The worker's answers for the Explore page."""
