"""The recruiter for any panel that the ``[panel]`` table of a study describes."""
