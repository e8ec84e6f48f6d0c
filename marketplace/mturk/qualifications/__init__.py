"""Qualifications: system types, the requester's types, and the check of a worker against a HIT."""
