"""Strangers attack a running shared server over the network."""
