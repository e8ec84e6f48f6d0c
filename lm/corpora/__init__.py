"""Texts in the form that models read: sentences, vocabularies, ids, batches."""
