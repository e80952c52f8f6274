"""The page Course."""
