"""Models behind servers that speak the OpenAI-compatible protocol."""
