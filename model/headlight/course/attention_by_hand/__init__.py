"""Chapter 3: attention on numbers small enough to check with a pencil."""
