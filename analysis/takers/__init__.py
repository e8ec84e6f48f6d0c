"""Models that take the session: sessions and readings joined with whoever answers them."""
