"""From items to audited lists, and from a list to one participant's trials."""
