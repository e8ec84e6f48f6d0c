"""Panels described by a study's own table: no code of a platform, and any of them."""
