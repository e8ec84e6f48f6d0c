"""An export in the forms that archives, benchmarks and their validators want."""
