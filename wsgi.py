"""The web server's door: ``gunicorn wsgi:app``."""

import sys

from webapp.errors import WebappError
from webapp.server.waiting import CANNOT_START_STATUS, make_app

try:
    app = make_app()
except WebappError as error:
    print(f"Error: {error}", file=sys.stderr)
    sys.exit(CANNOT_START_STATUS)
