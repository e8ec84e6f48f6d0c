"""Participants that are programs: they come over HTTP, through the pages people use."""
