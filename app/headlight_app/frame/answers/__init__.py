"""The worker's answers for the sidebar."""
