"""Panels: participants arrive by one link and return by another, as a table describes."""
