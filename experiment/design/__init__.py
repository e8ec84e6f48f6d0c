"""Building of audited lists from items, and of one participant's trials from a list."""
