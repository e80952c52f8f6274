"""Chapter 5: masks, and what goes wrong with them."""
