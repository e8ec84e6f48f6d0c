"""Judges that take a whole session: what they are shown and asked, without any model."""
