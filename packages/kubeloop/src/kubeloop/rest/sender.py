"""The contract between a client and what sends its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kubeloop.config import ClusterConfig
from kubeloop.kit import Clock

from .codec import Codec
from .request import Request
from .response import Response
from .streams import ByteStream, ItemStream
from .warnings import WarningHandler
from .watch import Watch

if TYPE_CHECKING:
    from .client import RESTStats
    from .websocket import WebSocket

__all__ = ["RequestSender"]


class RequestSender(Protocol):
    """Sends requests to one server: `RESTClient`, or a wrapper around one.

    The methods are those of `RESTClient`, where they are described. It has no `aclose`: the
    connections belong to the code that opened them.
    """

    @property
    def config(self) -> ClusterConfig: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def codec(self) -> Codec: ...
    @property
    def max_retries(self) -> int: ...
    def url(self, request: Request) -> str: ...
    async def send(
        self, request: Request, *, warnings: WarningHandler | None = None
    ) -> Response: ...
    def watch(
        self,
        request: Request,
        *,
        max_duration: float | None = None,
        warnings: WarningHandler | None = None,
    ) -> Watch: ...
    def stream(self, request: Request, *, warnings: WarningHandler | None = None) -> ByteStream: ...
    def items(self, request: Request, *, warnings: WarningHandler | None = None) -> ItemStream: ...
    async def websocket(
        self,
        request: Request,
        *,
        protocols: tuple[str, ...] = (),
        heartbeat: float | None = None,
        max_size: int | None = None,
    ) -> WebSocket: ...
    def stats(self) -> RESTStats: ...
