"""The worker process: a loop that reads requests, and the table of functions that answer them."""
