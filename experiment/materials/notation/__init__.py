"""The notation of grammar.toml: what each of its tables may hold and what it means."""
