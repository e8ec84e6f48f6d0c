"""Model participants: models take the sessions of human participants, in several readings."""
