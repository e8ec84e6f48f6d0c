"""A sentence is rated on a scale."""
