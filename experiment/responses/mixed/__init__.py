"""Sessions of two tasks or more: each trial is of the type that its item's task names."""
