"""Headlight's backend: a small transformer whose every value can be seen and changed.

from headlight import load, run
loaded = load("assets/models/stories-causal")
trace = run(loaded.model, loaded.tokenizer, "The cat sat on the mat.")
trace.attention()            # layer head query key
"""

# The names stand in __init__.pyi. Each is imported when it is first asked for: who needs only a config waits for no
# network.
import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
