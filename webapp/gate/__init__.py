"""The gate: before anybody is admitted or paid, keys, erasures and ledger must prove themselves.

A restored or copied database may know less than the world does. Each check compares the database
with what lies beside it in the instance folder, and says which acts it forbids until somebody has
mended what it found. The checks only read; what mends is a command.
"""
