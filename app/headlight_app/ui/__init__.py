"""Shared parts of all pages: charts, the component bridge, the wire format."""
