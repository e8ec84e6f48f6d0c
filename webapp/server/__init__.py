"""The processes that serve: gunicorn, its workers, and what runs in them besides."""
