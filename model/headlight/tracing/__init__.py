"""Tracing: one forward pass, its intermediate values, and edits of them; `runner` names the steps of a run."""
