"""What happens to a run and its participants, step by step.

Each flow takes an open session and changes it; who called it commits, once.
"""
