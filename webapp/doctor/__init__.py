"""Looking an installation over: each check says what it found, and what mends it."""
