"""When a study stops: looks at people's answers during a run that keep the rate of errors."""
