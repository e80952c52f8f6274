"""Questions of course screens and lessons: their kinds, how they are stated, and how answers are marked."""
