"""Limits on connections and sessions, before a request or message is known."""
