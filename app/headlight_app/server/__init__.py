"""The server: the command that starts it, its routes and middleware."""
