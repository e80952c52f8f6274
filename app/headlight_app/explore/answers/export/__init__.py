"""Export: figures, numbers and programs."""
