"""The gate: keys, erasures and ledger are checked before anybody is admitted or paid.

A restored or copied database may lack what happened since. Each check compares the database with
files in the instance folder, and names the operations that it forbids until somebody has repaired
what it found. The checks only read; commands repair.
"""
