"""The Compare page: two texts, models or variants side by side."""
