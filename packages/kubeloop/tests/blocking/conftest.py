"""A server in a separate thread, a blocking client for it, and programs in other processes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import Container, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, running_in_thread


@pytest.fixture
def server() -> Iterator[APIServer]:
    with running_in_thread(APIServer()) as running:
        yield running


@pytest.fixture
def client(server: APIServer) -> Iterator[Client]:
    with Client(server.config) as connected:
        yield connected


def a_pod(name: str = "web", **labels: str) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=PodSpec(containers=[Container(name="main", image="app:1")]),
    )


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; the time limit of the test applies."""
    while not condition():
        time.sleep(0.001)


_HEAD = """
import gc, os, signal, sys, threading, warnings
from kubeloop.blocking import Client, PORTAL
from kubeloop.config import ClusterConfig
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta

# The process that runs the tests may ignore Ctrl-C; the program of a user does not.
signal.signal(signal.SIGINT, signal.default_int_handler)
config = ClusterConfig(server=sys.argv[1], anonymous=True, namespace="default")
client = Client(config)
maps = client.core_v1.config_maps()

def a_map(name):
    return ConfigMap(metadata=ObjectMeta(name=name))

def fork():
    with warnings.catch_warnings():  # newer Pythons warn of forks in a process with threads
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()

def children_end_well(*pids):
    for pid in pids:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""


@contextmanager
def program(server: APIServer, text: str) -> Iterator[subprocess.Popen[str]]:
    """A program with a `client` and `maps` in a separate process."""
    whole = _HEAD + textwrap.dedent(text)
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", whole, server.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def output_of(server: APIServer, text: str) -> list[str]:
    """The output of a program that exits with 0 and writes nothing to stderr."""
    with program(server, text) as process:
        output, errors = process.communicate(timeout=30)
    assert errors == ""
    assert process.returncode == 0
    return output.splitlines()
