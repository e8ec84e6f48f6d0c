"""Notices to researchers about their runs, by mail or webhook.

A notice names a run and what happened; it holds nothing about a participant.
"""
