"""Models behind servers with an OpenAI-compatible API."""
