"""`python -m headlight`: the same as `python -m headlight.cli`."""

from runpy import run_module

if __name__ == "__main__":
    run_module("headlight.cli", run_name="__main__")
