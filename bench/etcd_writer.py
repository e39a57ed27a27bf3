"""Writes pods straight into etcd, past the API server: the fastest way to fill a cluster.

kube-apiserver reads JSON from etcd as well as protobuf, so a pod is put under its key as it
stands. Guarantees: each write is one watch event; progress is shown on the error output.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import time
from collections.abc import Sequence
from functools import lru_cache
from http.client import HTTPConnection
from typing import final
from urllib.parse import urlsplit

import aiohttp
import msgspec

from bench.measure import Failed
from bench.pods import pod

__all__ = ["PodWriter", "change_pods", "write_pods"]

BATCH = 64  # puts in one transaction: etcd takes up to 128, and 1.5 MB
CHANGED = 500  # how many pods the updates go round
TASKS = 8
REPORTED = 1_000  # writes that are worth a line
PROGRESS_INTERVAL = 5.0  # seconds between two lines of progress


async def write_pods(etcd: str, numbers: range) -> None:
    """Create these pods, many in one transaction. Cancelled, some have been written.

    The last is written a second time and alone: pods of one transaction share a version, and
    a server that has seen that version may have seen only some of them. A server that has
    the last version has all.
    """
    batches = [numbers[start : start + BATCH] for start in range(0, len(numbers), BATCH)]
    await _send(etcd, [[(number, "") for number in batch] for batch in batches], "pods")
    async with aiohttp.ClientSession() as session:
        await _put(session, etcd, [(numbers[-1], "")])


async def change_pods(
    etcd: str, events: int, *, mark: str, pods: Sequence[int] = range(CHANGED)
) -> None:
    """Change `pods` in turn, each change in a transaction and with a version of its own.

    A watch that is resumed at a version which several share would miss the rest of them. It
    is the status that changes, as with most events of a busy cluster; `mark` becomes part of
    it, so that no two rounds write the same.
    """
    changes = ((pods[number % len(pods)], f"{mark}-{number}") for number in range(events))
    await _send(etcd, [[change] for change in changes], "changes")


@final
class PodWriter:
    """Changes one pod at a time, and returns when etcd has it."""

    def __init__(self, etcd: str) -> None:
        self._connection = HTTPConnection(urlsplit(etcd).netloc)

    def change(self, number: int, mark: str) -> None:
        """Put `mark` into the status of this pod."""
        body = msgspec.json.encode(_entry(number, mark))
        self._connection.request("POST", "/v3/kv/put", body=body)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise Failed(f"etcd answered {answer.status}: {body.decode(errors='replace')}")


async def _send(etcd: str, batches: list[list[tuple[int, str]]], what: str) -> None:
    progress = _Progress(sum(map(len, batches)), what)
    async with aiohttp.ClientSession() as session:

        async def some(mine: list[list[tuple[int, str]]]) -> None:
            for batch in mine:
                await _put(session, etcd, batch)
                progress.more(len(batch))

        await asyncio.gather(*(some(batches[start::TASKS]) for start in range(TASKS)))
    progress.end()


async def _put(session: aiohttp.ClientSession, etcd: str, batch: list[tuple[int, str]]) -> None:
    puts = [{"request_put": _entry(number, mark)} for number, mark in batch]
    body = msgspec.json.encode({"success": puts})
    async with session.post(f"{etcd}/v3/kv/txn", data=body) as answer:
        answer.raise_for_status()
        await answer.read()


def _entry(number: int, mark: str) -> dict[str, str]:
    key, value = stored_pod(number)
    if mark:
        value = value.replace(b'"phase":', b'"message":"%b","phase":' % mark.encode())
    return {"key": _base64(key), "value": _base64(value)}


@lru_cache(maxsize=4 * CHANGED)  # updates go round the same pods
def stored_pod(number: int) -> tuple[bytes, bytes]:
    """The key and the pod as etcd holds them: a pod's version is etcd's own."""
    body = pod(number)
    meta = body["metadata"]
    del meta["resourceVersion"]
    key = f"/registry/pods/{meta['namespace']}/{meta['name']}"
    return key.encode(), msgspec.json.encode(body)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


class _Progress:
    """Says how far it is, every few seconds."""

    def __init__(self, wanted: int, what: str) -> None:
        self._wanted = wanted
        self._what = what
        self._count = 0
        self._begun = self._reported = time.monotonic()

    def more(self, count: int) -> None:
        self._count += count
        if time.monotonic() - self._reported > PROGRESS_INTERVAL:
            self._reported = time.monotonic()
            self.tell()

    def end(self) -> None:
        """The last line; what took only a moment is not reported."""
        if self._wanted >= REPORTED:
            self.tell()

    def tell(self) -> None:
        rate = self._count / max(time.monotonic() - self._begun, 1e-9)
        line = f"    {self._count:,} of {self._wanted:,} {self._what}, {rate:,.0f} a second"
        print(line, file=sys.stderr, flush=True)
