"""What answers the requests of lessons, in a worker."""
