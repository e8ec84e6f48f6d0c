"""A server with two projects, a quiet participant of one, and hostile inputs from the other."""
