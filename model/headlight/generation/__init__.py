"""Text generation: sampling, next-token generation and filling masks."""
