"""The web server's door: ``gunicorn wsgi:app``."""

import sys

from webapp import create_app
from webapp.errors import WebappError

# Gunicorn takes this status for a start that cannot succeed; after any other it tries for ever.
_CANNOT_START = 3

try:
    app = create_app()
except WebappError as error:
    print(f"Error: {error}", file=sys.stderr)
    sys.exit(_CANNOT_START)
