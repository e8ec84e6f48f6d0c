"""Convert an export to the formats of archives, benchmarks and their validators."""
