"""Sends the events of a watch, or a log, to a client, until it ends, is cut, or is given up.

Promises: a stream ends at its timeout with a last bookmark for those who want them; one
whose client is gone ends at once; what a fault cuts off is cut in the middle.
Elsewhere: the events themselves (`watching`), logs (`logs`), the switches (`faults`).
"""

from __future__ import annotations

import random
from typing import final

from aiohttp import web

from kubeloop.kit import Clock

from ..faults import Cut, Faults, SeenRequest
from ..request.negotiation import YAML, warning_headers
from ..verbs.logs import Following, Logs
from ..watching import Hub
from .dispatch import Stream

__all__ = ["Streamer"]

_SHORTEST = 1800.0  # seconds that a watch lasts at least, when the client does not say
_ENDLESS = 10**12


@final
class Streamer:
    """Sends watches and logs over HTTP."""

    def __init__(self, hub: Hub, logs: Logs, faults: Faults, *, clock: Clock) -> None:
        self._hub = hub
        self._logs = logs
        self._faults = faults
        self._clock = clock

    async def send(
        self, request: web.BaseRequest, stream: Stream, seen: SeenRequest
    ) -> web.StreamResponse:
        """Send the whole stream. Cancelled when the client goes away: nothing is left."""
        response = web.StreamResponse(headers={"Cache-Control": "no-cache, private"})
        response.headers.extend(warning_headers(stream.warnings))
        media = "application/json" if stream.wanted.media != YAML else YAML
        response.content_type = media
        response.enable_chunked_encoding()
        try:
            await response.prepare(request)
            if request.transport is not None:
                stream.watcher.on_cut_off = request.transport.abort
            if not self._faults.close_watches:
                await self._send_events(request, response, stream, seen)
            await response.write_eof()
        except ConnectionError:
            pass  # the client went away: nothing is left to be told
        finally:
            self._hub.close(stream.watcher)
        return response

    async def send_log(self, request: web.BaseRequest, following: Following) -> web.StreamResponse:
        """Send a log until it ends. Cancelled when the client goes away: nothing is left."""
        response = web.StreamResponse(headers={"Cache-Control": "no-cache, private"})
        response.content_type = "text/plain"
        response.enable_chunked_encoding()
        try:
            await response.prepare(request)
            async for piece in following:
                await response.write(piece)
            await response.write_eof()
        except ConnectionError:
            pass  # the client went away
        finally:
            self._logs.forget(following)
        return response

    async def _send_events(
        self,
        request: web.BaseRequest,
        response: web.StreamResponse,
        stream: Stream,
        seen: SeenRequest,
    ) -> None:
        seconds = stream.timeout or _SHORTEST * (1 + random.random())
        cut = self._faults.cut_for(seen)
        try:
            async with self._clock.timeout(seconds) as bound:
                if cut is None:
                    await self._pump(response, stream)
                else:
                    await self._pump_until(request, response, stream, cut)
        except TimeoutError:
            if not bound.expired():
                raise
            if stream.watcher.bookmarks:
                await response.write(self._hub.bookmark_for(stream.watcher))

    async def _pump(self, response: web.StreamResponse, stream: Stream) -> None:
        watcher, faults = stream.watcher, self._faults
        while True:
            batch = watcher.take()
            if batch:
                if faults.delivery_delay:
                    await self._clock.sleep(faults.delivery_delay)
                await response.write(b"".join(batch))
            elif watcher.ended:
                return
            else:
                await watcher.wait()

    async def _pump_until(
        self, request: web.BaseRequest, response: web.StreamResponse, stream: Stream, cut: Cut
    ) -> None:
        """Send up to where the fault breaks the stream, and break it."""
        watcher = stream.watcher
        events = _ENDLESS if cut.after_events is None else cut.after_events
        room = _ENDLESS if cut.after_bytes is None else cut.after_bytes
        while events > 0 and room > 0:
            batch = watcher.take(min(events, 512))
            if not batch:
                if watcher.ended:
                    return
                await watcher.wait()
                continue
            data = b"".join(batch)[:room]
            events, room = events - len(batch), room - len(data)
            await response.write(data)
        if request.transport is not None:
            request.transport.close()
        raise ConnectionResetError("the stream was cut on purpose")
