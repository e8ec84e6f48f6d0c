"""Amazon Mechanical Turk, and marketplaces that speak its protocol."""
