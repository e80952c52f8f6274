"""One thin file for each page: TITLE, ICON, PATH, and show(state, entry)."""
