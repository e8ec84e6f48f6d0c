"""Answers to pages of other sites, as stores that browsers write to must give them."""

from flask import Blueprint, Response, request

_DAY_S = "86400"


def open_to_all(blueprint: Blueprint) -> None:
    """Let pages of any site send to these addresses, and read the answers."""

    @blueprint.after_request
    def allow(response: Response) -> Response:
        response.headers["Access-Control-Allow-Origin"] = "*"
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = "GET, POST, PATCH, PUT"
            response.headers["Access-Control-Allow-Headers"] = "Content-Type, Accept"
            response.headers["Access-Control-Max-Age"] = _DAY_S
        return response
