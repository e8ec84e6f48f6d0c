"""What participants are owed, and what a run will cost."""
