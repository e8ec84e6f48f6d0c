"""The audit: checks of a design on the built lists."""
