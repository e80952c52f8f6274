"""What every page exports: its figures as PDF, its numbers as files, and where they are from."""
