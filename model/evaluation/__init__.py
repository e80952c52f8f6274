"""How good a trained model is: bits per byte, masked words found, sentences filled in, next to models that count."""
