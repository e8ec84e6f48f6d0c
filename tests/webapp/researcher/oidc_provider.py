"""A provider of OpenID Connect, as a program of its own: ``python oidc_provider.py SECRET``.

It prints its address. Whoever comes to ``/authorize`` is somebody, without being asked; what is
wrong with what it then says is chosen by the user's name: it says ``fault+NAME@example.org``.
"""

import base64
import hashlib
import secrets
import sys
import time
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import Flask, jsonify, redirect, request
from werkzeug.serving import make_server

KEY, OTHER = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
app = Flask(__name__)
asked: dict[str, dict[str, str]] = {}
secret = ""


def issuer() -> str:
    return request.host_url.rstrip("/")


@app.get("/.well-known/openid-configuration")
def places():
    return {
        "issuer": issuer(),
        "authorization_endpoint": f"{issuer()}/authorize",
        "token_endpoint": f"{issuer()}/token",
        "jwks_uri": f"{issuer()}/keys",
    }


@app.get("/keys")
def keys():
    public = jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
    return {"keys": [{**public, "kid": "one", "use": "sig", "alg": "RS256"}]}


@app.get("/authorize")
def authorize():
    code = secrets.token_urlsafe(16)
    asked[code] = {**request.args, "email": request.cookies["somebody"]}
    back = {"code": code, "state": request.args["state"]}
    return redirect(f"{request.args['redirect_uri']}?{urlencode(back)}")


@app.post("/token")
def token():
    attempt = asked.pop(request.form["code"], None)
    client = request.authorization
    digest = hashlib.sha256(request.form["code_verifier"].encode()).digest()
    shown = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    if (
        attempt is None
        or client is None
        or (client.username, client.password) != (attempt["client_id"], secret)
        or attempt["redirect_uri"] != request.form["redirect_uri"]
        or attempt["code_challenge_method"] != "S256"
        or attempt["code_challenge"] != shown
    ):
        return jsonify(error="invalid_grant"), 400
    fault = attempt["email"].partition("+")[0]
    now = int(time.time())
    claims = {
        "iss": "https://elsewhere.example" if fault == "issuer" else issuer(),
        "aud": "another" if fault == "audience" else attempt["client_id"],
        "sub": "1",
        "iat": now,
        "exp": now - 3600 if fault == "old" else now + 300,
        "nonce": "another" if fault == "nonce" else attempt["nonce"],
        "email": attempt["email"],
        "email_verified": fault != "unverified",
    }
    key = OTHER if fault == "key" else KEY
    if fault == "unsigned":
        signed = jwt.encode(claims, None, algorithm="none", headers={"kid": "one"})
    else:
        signed = jwt.encode(claims, key, algorithm="RS256", headers={"kid": "one"})
    return {"access_token": "x", "token_type": "Bearer", "id_token": signed}


if __name__ == "__main__":
    secret = sys.argv[1]
    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(f"http://127.0.0.1:{server.port}", flush=True)
    server.serve_forever()
