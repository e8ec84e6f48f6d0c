"""Studies without a server: a folder of static files to take part in, and its sessions read back.

The folder's pages and programs are the server's own. ``webapp/static/serverless/`` answers them in
the browser; ``replay`` gives the server's own steps what the browser kept.
"""
