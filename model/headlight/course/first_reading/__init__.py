"""The chapter of a first reading: screens on trained models, each with a question that the next one needs."""
