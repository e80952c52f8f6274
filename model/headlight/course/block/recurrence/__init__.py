"""Attention beside recurrence and convolution, trained and measured on the spot."""
