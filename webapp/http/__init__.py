"""What all responses share: headers, error pages, request log, health check."""
