"""Measurements as ratios within one run. Nothing here is asserted; pytest collects only the tests of ngrams/."""
