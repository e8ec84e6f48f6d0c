"""The plan of a study: frozen before anybody answers, compared with what was done."""
