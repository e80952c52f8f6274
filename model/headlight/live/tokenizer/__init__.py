"""A tokenizer as JSON for a page without a server."""
