"""Compress pages for browsers that accept it."""

import gzip

from flask import Flask, Response, request

# Shorter responses, such as acknowledgements of answers, gain nothing.
_LEAST_BYTES = 1_000
_COMPRESSION_LEVEL = 5


def compress_pages(app: Flask) -> None:
    """Compress the app's pages."""
    app.after_request(_compress_response)


def _compress_response(response: Response) -> Response:
    if response.mimetype != "text/html" or response.is_streamed:
        return response
    response.vary.add("Accept-Encoding")
    content = response.get_data()
    if len(content) >= _LEAST_BYTES and request.accept_encodings.quality("gzip") > 0:
        response.set_data(gzip.compress(content, _COMPRESSION_LEVEL, mtime=0))
        response.content_encoding = "gzip"
    return response
