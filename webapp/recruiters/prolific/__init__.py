"""The recruiter for Prolific; the platform's own vocabulary stays in this folder."""
