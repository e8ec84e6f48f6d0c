"""What a trial asks for: one folder for each type of response."""
