"""Work outside requests: periodic jobs, long jobs that a researcher starts, and notices.

A notice informs a researcher about a run, by mail or webhook; it holds nothing about a participant.
"""
