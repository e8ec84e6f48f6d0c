"""The server processes: gunicorn, its workers, and their background work."""
