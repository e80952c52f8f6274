"""What the page explains beside its panels: an answer, and a weight."""
