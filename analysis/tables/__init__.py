"""Tables of a comparison, and their typesetting."""
