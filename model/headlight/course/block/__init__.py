"""Chapter 6: what a transformer block does besides attention, and why it is there."""
