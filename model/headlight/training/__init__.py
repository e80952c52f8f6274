"""Training: recipes, objectives, optimizers, and a loop that can be stopped and resumed."""
