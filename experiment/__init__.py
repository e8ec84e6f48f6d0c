"""The domain model of an experiment: materials, lists, trials, assignment, exclusion.

This package does not depend on a web server, a database or a language model; time, randomness and
paths are passed as arguments.
"""
