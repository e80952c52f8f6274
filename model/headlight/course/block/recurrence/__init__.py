"""Attention compared with recurrence and convolution, trained and measured on the spot."""
