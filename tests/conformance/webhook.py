"""An HTTPS server that answers admission reviews as a test tells it to.

Promises: it listens on loopback on a port of its own, with a certificate made on the spot.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, final

import msgspec
from aiohttp import web

from kubeloop.kit import listen
from kubeloop.testing.server.access.certs import Authority, server_context

__all__ = ["Hook", "hooked", "patch_of"]

Object = dict[str, Any]


@final
class Hook:
    """What was asked, and what is answered: a response without its uid."""

    def __init__(self, url: str, ca: bytes) -> None:
        self.url = url
        self.ca = base64.b64encode(ca).decode()
        self.asked: list[Object] = []
        self.answer: Callable[[Object], Object | None] = lambda _: {"allowed": True}

    def client_config(self) -> Object:
        return {"url": self.url, "caBundle": self.ca}

    def respond(self, review: Object) -> Object | None:
        request = review["request"]
        self.asked.append(request)
        answer = self.answer(request)
        if answer is None:
            return None
        return {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {"uid": request["uid"], **answer},
        }


def patch_of(*operations: Object) -> Object:
    """A response that lets through with a JSON patch."""
    text = base64.b64encode(msgspec.json.encode(operations)).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": text}


@asynccontextmanager
async def hooked() -> AsyncIterator[Hook]:
    """A running webhook."""
    authority = Authority("hooks")
    hook = Hook("", authority.pem)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        answer = hook.respond(msgspec.json.decode(await request.read()))
        if answer is None:
            return web.Response(status=500, text="out of order")
        return web.json_response(answer)

    server = web.Server(handle)
    context = server_context(authority.server())
    async with listen(
        server, "127.0.0.1", 0, finish=lambda: server.shutdown(1), tls=context
    ) as port:
        hook.url = f"https://127.0.0.1:{port}/admit"
        yield hook
