"""Rooms: a teacher sees what a class answers, without accounts."""
