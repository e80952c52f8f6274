"""Which tokens an answer stands on: rankings of them, how faithful each is, and where a token was copied from."""
