"""Common mistakes of notes and tutorials: each claim with a number that disproves it, and further reading."""
