"""What this room asks of a REST client, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from kubeloop.errors import DecodeError
from kubeloop.rest import Request

__all__ = ["Sender", "Sent", "said_by"]


class Sent(Protocol):
    """An answer that was a yes."""

    @property
    def body(self) -> bytes: ...
    @property
    def content_type(self) -> str: ...


class Sender(Protocol):
    """Sends a request; an answer that is a no is raised."""

    async def send(self, request: Request, /) -> Sent: ...


@contextmanager
def said_by(request: str) -> Iterator[None]:
    """Says in a `DecodeError` of this block which answer could not be read."""
    try:
        yield
    except DecodeError as error:
        raise DecodeError(
            f"{request}: {error} (is this the API server, or a proxy before it?)"
        ) from error
