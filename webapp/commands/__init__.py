"""The shell commands of serving: they read options, call one flow and print."""
