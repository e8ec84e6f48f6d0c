"""The comparisons that a study declares: what is compared, of which measure, and with what role."""
