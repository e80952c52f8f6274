"""The state of the page: session and URL."""
