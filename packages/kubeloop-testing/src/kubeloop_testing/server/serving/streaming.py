"""Sends the events of a watch, a log, or a large list, until it ends or is interrupted.

Guarantees: a watch ends at its timeout, with a bookmark shortly before if the client allows
bookmarks; a stream ends at once when its client disconnects; a fault interrupts a stream in the
middle of an event.
See also: `watching` (the events), `verbs.logs` (logs), `faults` (the faults).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import final

from aiohttp import HttpVersion11, web
from multidict import CIMultiDict

from kubeloop.kit import Clock

from ..faults import Cut, Faults, SeenRequest
from ..request.negotiation import JSON, warning_headers
from ..verbs.logs import Logs, LogStream
from ..watching import Hub, Sink
from .dispatch import ListStream, WatchStream
from .gzip_parts import GzipParts

__all__ = ["Streamer"]

# MinRequestTimeout of kube-apiserver: a watch without a timeout lasts one to two times this.
_MIN_TIMEOUT = 1800.0
# Seconds before the end of a watch; one that is not longer gets no last bookmark.
_LAST_BOOKMARK = 2.0
_UNLIMITED = 10**12


@final
class Streamer:
    """Sends watches and logs over HTTP."""

    def __init__(self, hub: Hub, logs: Logs, faults: Faults, *, clock: Clock) -> None:
        self._hub = hub
        self._logs = logs
        self._faults = faults
        self._clock = clock
        self._gzip_parts = GzipParts()

    async def send(
        self,
        request: web.BaseRequest,
        stream: WatchStream,
        seen: SeenRequest,
        headers: CIMultiDict[str],
    ) -> web.StreamResponse:
        """Send the whole stream. Cancelled when the client disconnects; it closes the watch."""
        response = web.StreamResponse(headers=headers)
        response.headers.extend(warning_headers(stream.warnings))
        # As kube-apiserver has it: only protobuf names the stream.
        media = stream.options.media
        response.headers["Content-Type"] = media if media == JSON else f"{media};stream=watch"
        response.enable_chunked_encoding()
        try:
            await response.prepare(request)
            if request.transport is not None:
                stream.watcher.on_cut_off = request.transport.abort
            if not self._faults.close_watches:
                await self._send_events(request, response, stream, seen)
            await response.write_eof()
        except ConnectionError:
            pass  # the client disconnected
        finally:
            self._hub.close(stream.watcher)
        return response

    async def send_log(
        self, request: web.BaseRequest, stream: LogStream, headers: CIMultiDict[str]
    ) -> web.StreamResponse:
        """Send a log until it ends. Cancelled when the client disconnects."""
        response = web.StreamResponse(headers=headers)
        response.content_type = "text/plain"
        response.enable_chunked_encoding()
        try:
            await response.prepare(request)
            async for piece in stream:
                await response.write(piece)
            await response.write_eof()
        except ConnectionError:
            pass  # the client disconnected
        finally:
            self._logs.close(stream)
        return response

    async def send_list(
        self, request: web.BaseRequest, stream: ListStream, headers: CIMultiDict[str]
    ) -> web.StreamResponse:
        """Send a large list in parts. Cancelled when the client disconnects.

        Other requests are served between two parts, and no more than a few parts are in memory.
        """
        response = web.StreamResponse(headers=headers)
        response.headers.extend(warning_headers(stream.warnings))
        response.content_type = "application/json"
        if request.version >= HttpVersion11:  # else the end of the connection ends the list
            response.enable_chunked_encoding()
        parts: Iterator[bytes] = (part.encode() for part in stream.parts)
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            parts = self._gzip_parts.compress(stream.parts)
            response.headers["Content-Encoding"] = "gzip"
            response.headers["Vary"] = "Accept-Encoding"
        try:
            await response.prepare(request)
            for part in parts:
                await response.write(part)
                await asyncio.sleep(0)
            await response.write_eof()
        except ConnectionError:
            pass  # the client disconnected
        return response

    async def _send_events(
        self,
        request: web.BaseRequest,
        response: web.StreamResponse,
        stream: WatchStream,
        seen: SeenRequest,
    ) -> None:
        if stream.timeout < 0:
            return  # over before it begins
        seconds = stream.timeout or _MIN_TIMEOUT * (1 + random.random())
        cut = self._faults.cut_for(seen)
        last_bookmark = None
        if stream.watcher.bookmarks and seconds > _LAST_BOOKMARK:
            last_bookmark = self._clock.timer(
                seconds - _LAST_BOOKMARK, lambda: self._hub.send_bookmark(stream.watcher)
            )
        try:
            async with self._clock.timeout(seconds) as bound:
                if cut is None:
                    await self._pump(request, response, stream)
                else:
                    await self._pump_until(request, response, stream, cut)
        except TimeoutError:
            if not bound.expired():
                raise
            if self._faults.delivery_delay:
                return  # events that were late are not sent
            await response.write(b"".join(stream.watcher.take()))
        finally:
            if last_bookmark is not None:
                last_bookmark.cancel()

    async def _pump(
        self, request: web.BaseRequest, response: web.StreamResponse, stream: WatchStream
    ) -> None:
        watcher, faults = stream.watcher, self._faults
        sink = self._sink(request)
        while True:
            # All waiting events in one write: a burst of changes costs few system calls.
            batch = watcher.take()
            if batch:
                if faults.delivery_delay:
                    await self._clock.sleep(faults.delivery_delay)
                await response.write(b"".join(batch))
                await request.writer.drain()
            elif watcher.ended:
                return
            else:
                await watcher.wait(sink)

    def _sink(self, request: web.BaseRequest) -> Sink | None:
        """Writes to the connection: `StreamResponse.write` costs more than the system call."""
        transport, protocol, faults = request.transport, request.protocol, self._faults
        if transport is None:
            return None

        def send(chunk: bytes) -> bool:
            # A client that does not read is waited for by `_pump`, and its events stay queued.
            if protocol.writing_paused or faults.delivery_delay:
                return False
            if not transport.is_closing():
                transport.write(chunk)
            return True

        return send

    async def _pump_until(
        self, request: web.BaseRequest, response: web.StreamResponse, stream: WatchStream, cut: Cut
    ) -> None:
        """Send up to the point of the fault, then break the connection."""
        watcher = stream.watcher
        events = _UNLIMITED if cut.after_events is None else cut.after_events
        size = _UNLIMITED if cut.after_bytes is None else cut.after_bytes
        while events > 0 and size > 0:
            batch = watcher.take(min(events, 512))
            if not batch:
                if watcher.ended:
                    return
                await watcher.wait()
                continue
            data = b"".join(batch)[:size]
            events, size = events - len(batch), size - len(data)
            await response.write(data)
        if request.transport is not None:
            request.transport.close()
        raise ConnectionResetError("a fault interrupts the stream")
