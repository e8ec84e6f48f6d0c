"""Joining people and models: tables in, tables, figures and a report out."""
