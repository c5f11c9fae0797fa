"""Verifies access tokens of Tandem with PyJWT 2, and follows the list of ended sessions. Copy this file."""

import os
import socket
import threading
import time
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import jwt

ISSUER, AUDIENCE = os.environ["JWT_ISSUER"], os.environ["JWT_AUDIENCE"]
KEY_SET = os.environ.get("KEY_SET", urljoin(ISSUER, "/.well-known/jwks.json"))
ENDED_SESSIONS = os.environ.get("ENDED_SESSIONS", urljoin(KEY_SET, "ended-sessions"))
# Seconds without a list, after which tokens are refused with 503.
STALE_AFTER = 60 if os.environ.get("WHEN_STALE") == "refuse" else float("inf")

KEYS = jwt.PyJWKClient(KEY_SET, lifespan=300)
KEYS.timeout = 5  # seconds, from PyJWT 2.8 on
socket.setdefaulttimeout(5)  # for PyJWT before 2.8, of all connections that set none

# Sessions and users, with the time; until when everybody's sessions have ended; when the list was read.
ended, state = {}, {"before": 0, "read_at": float("-inf")}


class Refused(Exception):
    def __init__(self, status):
        self.status = status


def authenticate(authorization):
    """Returns the claims of the access token. Raises Refused with the status 401 or 503."""
    scheme, _, token = (authorization or "").partition(" ")
    try:
        header, claims = verified(token, "JWT", AUDIENCE)
    except jwt.PyJWTError as error:
        # The client wraps the error of a connection, in PyJWT 2.6 without a class of its own.
        raise Refused(503 if isinstance(error.__context__, OSError) else 401) from error
    if scheme.lower() != "bearer" or claims.get("tokenType") != "access" or "cnf" in claims:
        raise Refused(401)
    if time.monotonic() - state["read_at"] > STALE_AFTER:
        raise Refused(503)
    if header.get("sid") in ended or claims["iat"] <= max(state["before"], ended.get(claims["sub"], 0)):
        raise Refused(401)
    return claims


def verified(token, typ, audience, max_age=float("inf")):
    """Returns the header and the claims of a token of this type, issued at most max_age seconds ago."""
    key = KEYS.get_signing_key_from_jwt(token).key
    rules = {"issuer": ISSUER, "audience": audience, "options": {"require": ["iat"]}}
    # Without leeway, PyJWT refuses a token whose iat is a moment ahead of its clock.
    claims = jwt.decode(token, key, algorithms=["ES256"], leeway=5, **rules)
    header = jwt.get_unverified_header(token)
    if header.get("typ") != typ or claims["iat"] < time.time() - max_age:
        raise jwt.InvalidTokenError("a token of another type, or an old one")
    return header, claims


def read(etag):
    request = Request(f"{ENDED_SESSIONS}?wait=20", headers={"If-None-Match": etag})
    with urlopen(request, timeout=30) as response:
        _, new = verified(response.read(8 * 2**20).decode(), "ended-sessions+jwt", "ended-sessions", max_age=120)
    for each in new["sessions"] + new["users"]:
        id = each.get("sid") or each["sub"]
        ended[id] = max(ended.get(id, 0), each["event_timestamp"])
    for id in [id for id, at in ended.items() if at < new["iat"] - new["lifetime"] - 10]:
        del ended[id]
    state["before"] = max(state["before"], new.get("before", 0))
    return response.headers["ETag"]


def follow(etag='""'):
    while True:
        try:
            etag = read(etag)
        except Exception as error:
            if getattr(error, "code", None) != 304:
                time.sleep(3)
                continue
        state["read_at"] = time.monotonic()
        time.sleep(0.5)


threading.Thread(target=follow, daemon=True).start()
