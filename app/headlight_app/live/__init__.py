"""A page without a server: one file with a model, Explore, and an engine that runs the model in the browser."""
