"""Writing on with a model: sampling, next-token generation and filling masks."""
