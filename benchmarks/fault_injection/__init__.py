"""Workers, stand-ins and operators of the campaigns in which calls fail and processes die."""
