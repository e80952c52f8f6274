"""Measurements as ratios within one run. Nothing here is asserted, and pytest collects none of it."""
