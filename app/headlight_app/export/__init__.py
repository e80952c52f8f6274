"""Exports of all pages: files of numbers and figures."""
