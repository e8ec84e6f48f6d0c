"""Qualifications: the system's own, the requester's, and who meets what a HIT asks."""
