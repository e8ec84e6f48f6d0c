"""Further parts of a session: practice trials, breaks, pages and traces."""
