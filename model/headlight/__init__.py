"""Headlight's backend: a small transformer whose every value can be seen and changed.

from headlight import load, run
loaded = load("assets/models/stories-causal")
trace = run(loaded.model, loaded.tokenizer, "The cat sat on the mat.")
trace.attention()            # layer head query key
"""

# __init__.pyi lists the names. Each is imported at its first use, so that a program that only needs a config does not
# wait for the import of torch.
import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
