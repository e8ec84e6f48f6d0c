"""Changes of the schema since the baseline; ``webapp.database.schema`` applies them in order."""
