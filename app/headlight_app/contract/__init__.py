"""The shared parts of requests and answers; each page's own are in its `contract.py`.

Contracts import only msgspec and `headlight.errors`, so that browser, server and workers can share them.
"""
