"""Protobuf against client-go's, and against JSON: what each costs the client and the server.

Cold syncs take turns, and nothing else happens between them: kube-apiserver's CPU is then that of
the list and of its garbage collector, which the median of several rounds evens out. Lists and gets
are done by processes that stay open. The cost of an event is in `bench_transport_events`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec

from bench.cluster import (
    SERVER,
    Cluster,
    InformerCosts,
    client_go,
    cluster_with,
    missing_assets,
    ours,
)
from bench.contest import Snippet, turn_taking
from bench.measure import Cost, Row, figures, ratio_of_turns
from bench.process_cpu import started_cpu
from bench.scale import count

NAME = "protobuf"
GOAL = (
    "a cold sync within 0.7 of client-go's time, 0.45 of its CPU, 0.4 of its memory and 1.1 of the "
    "server's CPU; a pod in 0.3 of its memory; metadata and fields for a fraction of whole objects"
)

PODS = count("PODS", 20_000)
SYNCS = count("SYNCS", 7, full=11)
TURNS = count("READ_TURNS", 8, full=30)
GETS = 100  # in a turn

GO, MESSAGES, JSON = "client-go", "protobuf", "JSON"

SETUP = """
import asyncio, msgspec
from kubeloop import Client
from kubeloop.wire.core.v1 import Pod

Meta = msgspec.defstruct("Meta", [("name", str)])
Spec = msgspec.defstruct("Spec", [("node_name", str, "")], rename="camel")
Placed = msgspec.defstruct("Placed", [("metadata", Meta), ("spec", Spec)])

loop = asyncio.new_event_loop()
client = Client(format={format!r})
pods = client.resource(Pod, namespace="team-0")
metadata = client.metadata(Pod, namespace="team-0")
names = [each.metadata.name for each in loop.run_until_complete(metadata.list(limit={gets})).items]

async def get():
    for name in names:
        await pods.get(name)

async def get_metadata():
    for name in names:
        await metadata.get(name)
"""
LISTS = {
    "list": "found = loop.run_until_complete(pods.list())",
    "list, model=": "found = loop.run_until_complete(pods.list(model=Placed))",
    "list of metadata": "found = loop.run_until_complete(metadata.list())",
}
WORK = {
    **LISTS,
    "get": "loop.run_until_complete(get())",
    "get of metadata": "loop.run_until_complete(get_metadata())",
}


class Turn(msgspec.Struct, frozen=True):
    """What a piece of work cost the client, and kube-apiserver."""

    client: Cost
    server: float


def run() -> Iterator[Row]:
    """Cold syncs, then lists and gets."""
    program = None if missing_assets() else client_go()
    if program is None:
        yield Row(NAME, missing_assets() or "skipped: no Go here to build client-go with")
        return
    with cluster_with(PODS) as cluster:
        yield from _sync_rows(_syncs(cluster, program))
        yield from _read_rows(_reads())


# --- cold syncs


def _syncs(cluster: Cluster, program: Path) -> dict[str, list[InformerCosts]]:
    contestants = {
        GO: [str(program), f"--kubeconfig={cluster.kubeconfig}"],
        MESSAGES: ours("--format=protobuf"),
        JSON: ours("--format=json"),
    }
    runs: dict[str, list[InformerCosts]] = {name: [] for name in contestants}
    for number in range(SYNCS + 1):
        for name, command in contestants.items():
            found = cluster.run_informer(command)
            if number:  # the first is for warming up
                runs[name].append(found)
    return runs


def _sync_rows(runs: Mapping[str, list[InformerCosts]]) -> Iterator[Row]:
    what = f"cold sync of {PODS:,} pods by protobuf"
    values: dict[str, Callable[[InformerCosts], float]] = {
        "wall": lambda each: each.sync.wall,
        "CPU": lambda each: each.sync.cpu,
        "peak memory": lambda each: each.sync.peak,
        "server's CPU": lambda each: each.server,
        "memory of a pod": lambda each: (each.sync.steady - each.sync.before) / PODS,
    }
    goals = dict(zip(values, (0.7, 0.45, 0.4, 1.1, 0.3), strict=True))
    for name, of in values.items():
        us, them, json = ([of(each) for each in runs[who]] for who in (MESSAGES, GO, JSON))
        yield ratio_of_turns(f"{what}, {name} / client-go", us, them, at_most=goals[name])
        yield ratio_of_turns(f"{what}, {name} / by JSON", us, json)
    for who, found in runs.items():
        yield figures(f"cold sync, {who}, server's CPU", [each.server for each in found], "s")
        yield figures(f"cold sync, {who}, CPU", [each.sync.cpu for each in found], "s")
        yield figures(f"cold sync, {who}, wall", [each.sync.wall for each in found], "s")


# --- lists and gets


def _reads() -> dict[str, list[Turn]]:
    contestants = {
        f"{name}, {format_}": Snippet(code, SETUP.format(format=format_.lower(), gets=GETS))
        for name, code in WORK.items()
        for format_ in (JSON, MESSAGES)
    }
    turns: dict[str, list[Turn]] = {name: [] for name in contestants}
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(turn_taking(each)) for name, each in contestants.items()
        }
        for number in range(TURNS + 1):
            for name, process in processes.items():
                used = started_cpu(SERVER)
                process.send(b"")
                cost = msgspec.json.decode(process.line(), type=Cost)
                if number:
                    turns[name].append(Turn(cost, started_cpu(SERVER) - used))
    return turns


def _read_rows(turns: Mapping[str, list[Turn]]) -> Iterator[Row]:
    """What decides about the default format, and what less than a whole object costs."""
    pods = -(-PODS // 12)
    for name in WORK:
        json, messages = (turns[f"{name}, {format_}"] for format_ in (JSON, MESSAGES))
        yield ratio_of_turns(f"{name}, CPU by protobuf / by JSON", _cpu(messages), _cpu(json))
        yield Row(
            f"{name}, server's CPU by protobuf / by JSON",
            f"{_mean_server(messages) / max(_mean_server(json), 1e-9):.2f}",
        )
    whole = _cpu(turns[f"list, {JSON}"])
    for name, goal in (("list, model=", 0.5), ("list of metadata", 0.25)):
        best = min((JSON, MESSAGES), key=lambda each: sum(_cpu(turns[f"{name}, {each}"])))
        cost = _cpu(turns[f"{name}, {best}"])
        yield ratio_of_turns(f"{name}, {best}, CPU / list, {JSON}", cost, whole, at_most=goal)
    for name, found in turns.items():
        each = pods if name.startswith("list") else GETS
        yield figures(f"{name}, for one pod", [cost / each * 1e6 for cost in _cpu(found)], "µs CPU")


def _cpu(turns: list[Turn]) -> list[float]:
    return [turn.client.cpu for turn in turns]


def _mean_server(turns: list[Turn]) -> float:
    # Linux counts CPU in hundredths of a second, so that the median of short turns says little.
    return statistics.fmean(turn.server for turn in turns)
