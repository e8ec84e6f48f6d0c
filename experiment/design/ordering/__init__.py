"""Orders of a session's trials, drawn evenly from all orders that keep the constraints."""
