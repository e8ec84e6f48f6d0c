"""Sessions in Firefox, in which things go wrong."""
