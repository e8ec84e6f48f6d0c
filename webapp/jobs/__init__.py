"""Work outside requests: periodic jobs, long jobs that a researcher starts, and notices.

A notice tells a researcher about a run, by mail or webhook; it holds nothing about a participant.
"""
