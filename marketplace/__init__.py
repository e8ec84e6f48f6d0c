"""Local stand-ins for recruiting platforms, for trying out, teaching and testing.

Stand-ins import no other Parallax package. Each platform has a folder; shared code is in this one.
"""
