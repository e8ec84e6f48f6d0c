"""The recruiter for any panel that a study's ``[panel]`` table describes, without own code."""
