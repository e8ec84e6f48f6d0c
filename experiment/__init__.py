"""What is true of an experiment: materials, lists, trials, assignment, exclusion.

Nothing here knows of a web server, a database or a language model; time, randomness and
paths come in as arguments.
"""
