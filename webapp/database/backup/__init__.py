"""Verified backups of the database."""
