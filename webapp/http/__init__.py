"""What every response shares: headers, error pages, the request log, the health check."""
