"""Which tokens an answer stands on: rankings of them, and how faithful each is."""
