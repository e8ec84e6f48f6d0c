"""Backups of the database, each one checked."""
