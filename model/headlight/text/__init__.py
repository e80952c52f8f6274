"""Text: tokenizers, how they are trained, and how tokens make up words."""
