"""The notation of grammar.toml: its tables, their keys and their meaning."""
