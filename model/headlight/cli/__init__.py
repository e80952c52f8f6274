"""The command line of the backend, one file per command."""
