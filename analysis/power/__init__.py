"""How many participants a study needs: the command and what it simulates."""
