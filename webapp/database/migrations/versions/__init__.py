"""The schema revisions. A released revision must never be edited."""
