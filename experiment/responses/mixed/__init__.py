"""Sessions of two or more tasks, in which each trial has the response type of its item's task."""
