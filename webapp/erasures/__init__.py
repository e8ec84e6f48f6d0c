"""The record of participants' wishes: withdrawal, erasure, correction, restriction, forgetting.

It is an append-only file in the instance folder, and a table of the database. A backup that is
older than a wish does not contain the wish. The file does, so that a restored database carries it
out again.
"""
