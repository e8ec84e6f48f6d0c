"""Compare participants with models: read tables, and write tables, figures and a report."""
