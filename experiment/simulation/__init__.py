"""Participants that are programs."""
