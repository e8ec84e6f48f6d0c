"""An installation at work, and what can be wrong with it."""
