"""Studies of one's own, written by seed and taken through every command."""
