"""The worker's answers for the export menu."""
