"""Clocks and random numbers of an interpreter, from the seed; in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import datetime, json, os, random, secrets, socket, threading, time, uuid
from time import monotonic as imported_before
from random import Random
from kubeloop_testing.simulation import determinism
from kubeloop_testing.simulation.loop import Incarnation, SimulatedLoop, context_of
from kubeloop_testing.simulation.network import Network

determinism.install()

def values():
    return {
        "random": [random.random(), random.randint(0, 10**9), random.choice("abcdef")],
        "own generator": Random().random(),
        "seeded again": (random.seed(), random.random())[1],
        "system generator": random.SystemRandom().random(),
        "urandom": os.urandom(8).hex(),
        "secrets": [secrets.token_hex(8), secrets.randbelow(10**9)],
        "uuid1": str(uuid.uuid1()),
        "uuid4": str(uuid.uuid4()),
    }

def clocks():
    return {
        "time": time.time(),
        "time_ns": time.time_ns(),
        "monotonic": time.monotonic(),
        "perf_counter": time.perf_counter(),
        "imported before": imported_before(),
        "process_time": time.process_time(),
        "thread_time": time.thread_time(),
        "now": datetime.datetime.now(datetime.UTC).isoformat(),
        "utcnow": datetime.datetime.utcnow().isoformat(),
        "today": datetime.date.today().isoformat(),
        "gmtime": list(time.gmtime())[:6],
        "strftime": time.strftime("%Y"),
    }

def begin(seed):
    loop = SimulatedLoop(Network(Random(seed)))
    determinism.begin(loop, seed)
    uuid._last_timestamp = None  # as in a new process
    return loop

found = {}
for name, seed in (("first", 1), ("again", 1), ("other", 2)):
    loop = begin(seed)
    found[name] = values()
    if name == "first":
        found["clocks"] = clocks()
        time.sleep(90)
        found["after sleep"] = clocks()
        found["loop"] = loop.time()
process = Incarnation("manager", 3)
found["host"] = context_of(process).run(socket.gethostname)
determinism.set_skew("manager", 3600)
found["skew"] = context_of(process).run(time.time) - time.time()
found["steady"] = context_of(process).run(time.monotonic) - time.monotonic()
try:
    threading.Thread(target=print, name="worker").start()
except RuntimeError as error:
    found["thread"] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return dict(json.loads(ended.stdout))


pytestmark = pytest.mark.timeout(60)  # an interpreter starts


def test_random_numbers_come_from_the_seed(found: dict[str, Any]) -> None:
    assert found["first"] == found["again"]
    assert all(found["first"][name] != found["other"][name] for name in found["first"])


def test_every_clock_shows_the_virtual_time(found: dict[str, Any]) -> None:
    clocks = found["clocks"]

    assert clocks["now"] == "2030-01-01T00:00:00+00:00"
    assert clocks["utcnow"] == "2030-01-01T00:00:00"
    assert clocks["today"].startswith("20")
    assert clocks["gmtime"] == [2030, 1, 1, 0, 0, 0]
    assert clocks["time_ns"] == clocks["time"] * 1e9
    assert clocks["monotonic"] == clocks["perf_counter"] == clocks["imported before"]


def test_time_sleep_moves_the_virtual_time(found: dict[str, Any]) -> None:
    assert found["loop"] == 90
    for name in found["clocks"].keys() - {
        "time_ns",
        "now",
        "utcnow",
        "today",
        "gmtime",
        "strftime",
    }:
        assert found["after sleep"][name] - found["clocks"][name] == 90
    assert found["after sleep"]["now"] == "2030-01-01T00:01:30+00:00"


def test_a_process_has_a_host_name_and_a_wall_clock_of_its_own(found: dict[str, Any]) -> None:
    assert found["host"] == "manager"
    assert found["skew"] == 3600
    assert found["steady"] == 0


def test_a_thread_is_refused_with_what_to_do(found: dict[str, Any]) -> None:
    assert found["thread"].startswith("start worker: a simulation has no threads")
    assert "asyncio.to_thread" in found["thread"]
