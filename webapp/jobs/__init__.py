"""What is done from time to time, whether anybody asks for it or not."""
