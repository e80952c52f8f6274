"""Analysis of traces: what heads do, and where an answer comes from."""
