"""Chapter 5: masks, and common mistakes with them."""
