"""Exercises in code: what each function shall do, and checks that name the misconception behind a wrong answer."""

# The name stands in __init__.pyi. A notebook imports `check`; pages that only show the exercises import nothing
# that runs a solution.
import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
