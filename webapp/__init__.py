"""Serving people: Flask, SQLAlchemy, recruiters."""
