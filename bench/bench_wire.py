"""Typed decoding and projection of 20,000 realistic pods against orjson to dicts."""

from __future__ import annotations

from bench.contest import side_by_side
from bench.measure import Row, figure, ratio
from bench.pods import pod_list_file
from bench.scale import count

NAME = "wire: 20,000 pods of 6 kB"
GOAL = "typed as fast as dicts in 0.75 of the memory; split and projected 8 times as fast"

PODS = 20_000
SETUP = """
import msgspec, orjson
from pathlib import Path
from bench.pods import pod_list
from kubeloop.wire import Projection, decode, split_list
from kubeloop.wire.core.v1 import Pod, PodList

text = Path({path!r}).read_bytes()
decode(PodList, pod_list(1))  # decoders are compiled once a process
standard = Projection(
    "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion",
    "metadata.generation", "metadata.labels", "metadata.ownerReferences",
    "metadata.deletionTimestamp", "spec.nodeName", of=Pod,
)
"""
SNIPPETS = {
    "dicts": "found = orjson.loads(text)",
    "typed": "found = decode(PodList, text)",
    "split": "found = [(bytes(item), standard.decode(item)) for item in split_list(text).items]",
}


def run() -> list[Row]:
    """Each way in its own interpreter, with the garbage collector as a user has it."""
    with pod_list_file(PODS) as path:
        costs = side_by_side(
            SNIPPETS, setup=SETUP.format(path=str(path)), times=count("ROUNDS", 2, full=3)
        )
    dicts, typed, split = (costs[name] for name in SNIPPETS)
    return [
        ratio("typed decode / orjson to dicts, CPU", typed.cpu, dicts.cpu, at_most=1.0),
        ratio(
            "typed decode / orjson to dicts, memory held",
            typed.steady - typed.before,
            dicts.steady - dicts.before,
            at_most=0.75,
        ),
        ratio("split and projected / orjson to dicts, CPU", split.cpu, dicts.cpu, at_most=1 / 8),
        figure("typed decode", PODS / typed.cpu, "pods/s"),
        figure("split and projected", PODS / split.cpu, "pods/s"),
        figure("orjson to dicts", PODS / dicts.cpu, "pods/s"),
    ]
