"""Chapter 3: attention on numbers small enough for a pencil."""
