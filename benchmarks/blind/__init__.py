"""Blind runs and everything that can be read of them."""
