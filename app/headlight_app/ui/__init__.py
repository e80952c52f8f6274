"""Shared parts of all pages: the component bridge, the wire format."""
