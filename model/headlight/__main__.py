"""`python -m headlight`: the same as `python -m headlight.cli`."""

from runpy import run_module

run_module("headlight.cli", run_name="__main__")
