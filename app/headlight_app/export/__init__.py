"""Exports of all pages, files of numbers and figures; and pages of views, which need no code of their own for them."""
