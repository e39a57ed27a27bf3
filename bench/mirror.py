"""Mirrors all pods with our informer and says what it cost: the twin of peers/clientgo.

Prints a line of JSON once the objects are there, and another when it has been told of as
many updates as asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import time

from bench.child import resident, status
from kubeloop import run
from kubeloop.cache import Keeping
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import Pod


async def mirror(options: argparse.Namespace) -> None:
    """One informer, from nothing to everything, then the updates."""
    async with Client() as client:
        begun, used = time.perf_counter(), cpu()
        keeping: Keeping = options.keeping
        informer = client.informer(Pod, keeping=keeping)
        seen = Seen(options.events)
        if options.decoded:
            informer.add_handler(on_update=seen.update)
        else:
            informer.add_key_handler(seen.key)
        async with informer:
            while informer.lister.count() < options.objects:  # noqa: ASYNC110 - as the Go program
                await asyncio.sleep(0.01)
            report(begun, used, options.objects)
            if options.events:
                seen.count = 0
                begun, used = time.perf_counter(), cpu()
                await seen.done.wait()
                report(begun, used, options.events)


class Seen:
    """Counts what a handler is told."""

    def __init__(self, wanted: int) -> None:
        self.count = 0
        self.done = asyncio.Event()
        self._wanted = wanted

    def key(self, key: object) -> None:  # noqa: ARG002 - a handler is told the key
        self.count += 1
        if self.count == self._wanted:
            self.done.set()

    def update(self, old: Pod, new: Pod) -> None:  # noqa: ARG002 - and both states
        if new.metadata.name:
            self.key(new)


def report(begun: float, used: float, count: int) -> None:
    """One line, in the words of the Go program."""
    wall, spent, peak = time.perf_counter() - begun, cpu() - used, status("VmHWM:")
    line = {"wall": wall, "cpu": spent, "peak": peak, "steady": resident(), "count": count}
    print(json.dumps(line), flush=True)


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", type=int, default=0)
    parser.add_argument("--events", type=int, default=0)
    parser.add_argument("--keeping", default="bytes")
    parser.add_argument("--decoded", action="store_true")
    run(mirror(parser.parse_args()))
