"""The record of what people asked for: withdrawals, erasures and being forgotten.

It is a file of the instance folder to which lines are only added, and a table of the database. A
backup that is older than a wish does not hold the wish: the file does, and a restored database
carries it out again.
"""
