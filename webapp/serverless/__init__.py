"""Studies without a server: export a folder of static files, and read its sessions back.

The folder contains the server's own pages and scripts. ``webapp/static/serverless/`` replaces the
server's responses in the browser; ``replay`` passes the stored sessions to the server's own steps.
"""
