"""The parts of every question to the engine; each page's own are in its `contract.py`.

Contracts import msgspec and `headlight.errors` alone, so that browser, server and workers can all read them.
"""
