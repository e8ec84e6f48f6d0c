"""The shell commands of the server: they read options, call one function and print."""
