"""Images: reading, resizing, normalizing, and cutting them into patches."""
