"""Texts as a model reads them: sentences, vocabularies, ids, batches."""
