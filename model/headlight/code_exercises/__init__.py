"""Exercises in code: functions to write, and checks that name the misconception behind a wrong answer."""

# __init__.pyi lists the exported name. Notebooks import `check`; pages that only show the exercises do not import the
# code that runs solutions.
import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
