"""What strangers send who mean harm, by header and by upload, and how it is answered."""
