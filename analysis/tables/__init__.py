"""The tables of a comparison, and how they are typeset."""
