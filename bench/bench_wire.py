"""Typed decoding and projection of realistic pods: against orjson to dicts, and as protobuf."""

from __future__ import annotations

from collections.abc import Iterator

from bench.contest import Snippet, in_turns, side_by_side
from bench.measure import Row, figure, figures, ratio, ratio_of_turns
from bench.pods import pod_list_file
from bench.scale import count

NAME = "wire: 20,000 pods of 6 kB"
GOAL = (
    "typed as fast as dicts in 0.75 of the memory; split and projected 8 times as fast; protobuf "
    "decoded in 6 times the time of JSON"
)

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

MESSAGES = 500
MESSAGE_SETUP = f"""
import msgspec
from bench.pods import pod
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.projection_protobuf import MessageProjection
from kubeloop.wire.protobuf_codec import message_reader
from kubeloop.wire.protobuf_writing import message_bytes

data = [pod(number) for number in range({MESSAGES})]
texts = [msgspec.json.encode(each) for each in data]
messages = [message_bytes("core_v1.Pod", each) for each in data]
reader = message_reader(Pod)
projection = MessageProjection("core_v1.Pod", (), ("metadata.managedFields",))

def walk(message):
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for each in value if field.is_repeated else (value,):
                walk(each)

def project(message):
    parsed = projection.parse(message)
    return projection.head(parsed), projection.cut(parsed, message)
"""
# Each pod is dropped at once, so that memory and the garbage collector do not decide.
MESSAGE_SNIPPETS = {
    "JSON": "for each in texts: Pod.from_json(each)",
    "protobuf": "for each in messages: reader.decode(each)",
    "protobuf, unchecked": "for each in messages: reader.read(reader.parse(each))",
    "walk": "for each in messages: walk(reader.parse(each))",
    "projected": "for each in messages: project(each)",
}


def run() -> Iterator[Row]:
    """Each way in its own interpreter, with the garbage collector as a user has it."""
    yield from _json_rows()
    yield from _protobuf_rows()


def _protobuf_rows() -> Iterator[Row]:
    """Protobuf against JSON, beside what upb's own walk over all fields costs."""
    contestants = {name: Snippet(code, MESSAGE_SETUP) for name, code in MESSAGE_SNIPPETS.items()}
    turns = in_turns(contestants, times=count("MESSAGE_TURNS", 15, full=40), warm_up=2)
    cpu = {name: [cost.cpu for cost in found] for name, found in turns.items()}
    yield ratio_of_turns(
        "a pod in full, protobuf / JSON, CPU", cpu["protobuf"], cpu["JSON"], at_most=6.0
    )
    without = "without the check for unknown fields"
    yield ratio_of_turns(f"the same, {without}", cpu["protobuf, unchecked"], cpu["JSON"])
    yield ratio_of_turns("upb's walk over all fields / JSON, CPU", cpu["walk"], cpu["JSON"])
    for name, costs in cpu.items():
        yield figures(f"a pod, {name}", [cost / MESSAGES * 1e6 for cost in costs], "µs CPU")


def _json_rows() -> list[Row]:
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
