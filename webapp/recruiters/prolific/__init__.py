"""Prolific: its words stay in this folder."""
