"""The web server's door: ``gunicorn wsgi:app``."""

import sys

from webapp.errors import WebappError
from webapp.server.waiting import CANNOT_START, open_door

try:
    app = open_door()
except WebappError as error:
    print(f"Error: {error}", file=sys.stderr)
    sys.exit(CANNOT_START)
