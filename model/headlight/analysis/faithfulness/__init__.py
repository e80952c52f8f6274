"""The tokens that an answer depends on: rankings of them, how faithful each is, and where a token was copied from."""
