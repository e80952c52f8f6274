"""The logit lens at some tokens, and the surprisal of all."""
