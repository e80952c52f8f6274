"""The Generate page: a text written token by token."""
