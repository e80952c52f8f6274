"""The command line of the backend, a file for each verb."""
