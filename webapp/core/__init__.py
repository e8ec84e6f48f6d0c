"""What every part of the server needs, and what needs no other part."""
