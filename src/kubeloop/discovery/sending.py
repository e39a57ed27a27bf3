"""What this room asks of a REST client, and no more."""

from __future__ import annotations

from typing import Protocol

from kubeloop.rest import Request

__all__ = ["Sender", "Sent"]


class Sent(Protocol):
    """An answer that was a yes."""

    @property
    def body(self) -> bytes: ...
    @property
    def content_type(self) -> str: ...


class Sender(Protocol):
    """Sends a request; an answer that is a no is raised."""

    async def send(self, request: Request, /) -> Sent: ...
