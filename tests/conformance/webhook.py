"""An HTTPS server that responds to admission reviews as a test configures it.

Guarantees: it listens on loopback on a free port, with a newly generated certificate.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, final

import msgspec
from aiohttp import web

from kubeloop.kit import listen
from kubeloop_testing.server.access.certs import Authority, server_context

__all__ = ["FakeWebhook", "patch_of", "running_webhook"]

Object = dict[str, Any]


@final
class FakeWebhook:
    """The received reviews, and the configured response without its uid."""

    def __init__(self, url: str, ca: bytes) -> None:
        self.url = url
        self.ca = base64.b64encode(ca).decode()
        self.reviews: list[Object] = []
        self.response: Callable[[Object], Object | None] = lambda _: {"allowed": True}

    def client_config(self) -> Object:
        return {"url": self.url, "caBundle": self.ca}

    def respond(self, review: Object) -> Object | None:
        request = review["request"]
        self.reviews.append(request)
        response = self.response(request)
        if response is None:
            return None
        return {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {"uid": request["uid"], **response},
        }


def patch_of(*operations: Object) -> Object:
    """A response that allows the request with a JSON patch."""
    text = base64.b64encode(msgspec.json.encode(operations)).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": text}


@asynccontextmanager
async def running_webhook() -> AsyncIterator[FakeWebhook]:
    """A running webhook."""
    authority = Authority("hooks")
    hook = FakeWebhook("", authority.pem)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = hook.respond(msgspec.json.decode(await request.read()))
        if response is None:
            return web.Response(status=500, text="out of order")
        return web.json_response(response)

    server = web.Server(handle)
    context = server_context(authority.server())
    async with listen(
        server, "127.0.0.1", 0, finish=lambda: server.shutdown(1), tls=context
    ) as port:
        hook.url = f"https://127.0.0.1:{port}/admit"
        yield hook
