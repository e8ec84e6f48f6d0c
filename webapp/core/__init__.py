"""Basic modules of the server, which depend on no other part of it."""
