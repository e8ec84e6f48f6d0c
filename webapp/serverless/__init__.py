"""Studies without a server: export a folder of static files, and read its sessions back.

The folder contains the server's own pages and scripts. The scripts in
``webapp/static/serverless/`` answer in the browser in place of the server; ``replay`` later runs
the stored sessions through the server's own code.
"""
