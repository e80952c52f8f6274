"""Questions that screens of the course and lessons ask: their kinds, how they are stated, how tries are marked."""
