"""One analysis of a study in several languages or at several sites, from the report of each."""
