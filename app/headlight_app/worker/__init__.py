"""The process that computes: a loop that reads requests, and the table of what answers each."""
