"""The gate: check keys, erasures and ledger before admissions and payments.

A restored or copied database may lack recent changes. Each check compares the database with files
in the instance folder, and names the operations that it blocks until its finding is repaired. The
checks only read; commands repair.
"""
