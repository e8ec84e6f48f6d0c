"""How hypothesis runs: no example is timed, so a busy machine fails nothing."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
