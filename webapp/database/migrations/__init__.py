"""Schema changes since the baseline; ``webapp.database.schema`` applies them in order."""
