"""Participants' pay, and the cost of a run."""
