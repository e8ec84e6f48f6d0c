"""The web server's door: ``gunicorn wsgi:app``."""

from webapp.server.waiting import make_app_or_exit

app = make_app_or_exit()
