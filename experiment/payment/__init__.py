"""What participants earn, and what a run will cost."""
