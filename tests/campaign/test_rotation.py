"""Credentials that change while a watch is open, over real HTTPS: no event is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kubeloop.cache import Change
from kubeloop.config import ClusterConfig
from kubeloop.config.tls import CA_AGE
from kubeloop_testing import APIServer
from kubeloop_testing.threads import LoopThread

from .faults import Embedded
from .scenario import Scenario, scenario_at


@pytest.fixture
def speed() -> float:
    """Slow enough that no watch times out during a test."""
    return 10.0


class Versions:
    """A handler that collects the versions of its changes, in order."""

    def __init__(self) -> None:
        self.versions: list[str] = []

    def __call__(self, change: Change[Any]) -> None:
        assert change.new_entry is not None, "nothing is deleted here"
        self.versions.append(change.new_entry.version)


class WithCertificate:
    """The embedded server, for a client whose certificate is in files."""

    def __init__(self, cluster: Embedded, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder
        self.port = cluster.port
        self.write_certificate()

    def config(self, port: int) -> ClusterConfig:
        return ClusterConfig(
            server=f"https://127.0.0.1:{port}",
            ca=self._cluster.server.service.ca or b"",
            client_certificate_file=str(self._folder / "client.crt"),
            client_key_file=str(self._folder / "client.key"),
        )

    def write_certificate(self) -> None:
        groups = ("system:masters",)
        pair = self._cluster.server.service.client_certificate("admin", groups)
        pair.write(self._folder, "client")


def token(cluster: Embedded) -> None:
    cluster.server.rotate_token()
    cluster.write_token()


def certificate(cluster: Embedded) -> None:
    cluster.server.rotate_certificate()


def authority(cluster: Embedded) -> None:
    cluster.server.rotate_ca()
    cluster.write_ca()


async def rotate_while_watching(
    scenario: Scenario, server: APIServer, rotate: Callable[[], None]
) -> None:
    """The handler gets every write once and in order, over the old and over a new connection."""
    seen = Versions()
    scenario.informer.add_handler(on_change=seen, name="versions")
    written = [await scenario.put("web")]

    rotate()
    written += [await scenario.put("web") for _ in range(3)]
    await scenario.until(lambda: seen.versions == written)
    assert scenario.informer.stats().reflector.watches == 0  # still the streaming list

    scenario.clock.oversleep(CA_AGE)  # until every file is read again
    server.drop_connections()
    written += [await scenario.put("web") for _ in range(3)]
    await scenario.until(lambda: seen.versions == written)
    stats = scenario.informer.stats().reflector
    assert stats.watches > 0
    assert stats.rounds == 1, "a relist would have hidden a lost event"
    assert scenario.story.now == await scenario.truth()


@pytest.mark.parametrize("rotate", [token, certificate, authority], ids=lambda each: each.__name__)
async def test_rotation_while_a_watch_is_open_loses_no_event(
    cluster: Embedded, thread: LoopThread, speed: float, rotate: Callable[[Embedded], None]
) -> None:
    """X-3: the token and the CA are in files, and read again."""
    async with scenario_at(cluster, thread=thread, speed=speed) as scenario:
        await rotate_while_watching(scenario, cluster.server, lambda: rotate(cluster))


async def test_another_client_certificate_while_a_watch_is_open_loses_no_event(
    cluster: Embedded, thread: LoopThread, speed: float, tmp_path: Path
) -> None:
    """X-3: a client certificate in files."""
    certified = WithCertificate(cluster, tmp_path)
    async with scenario_at(certified, thread=thread, speed=speed) as scenario:
        await rotate_while_watching(scenario, cluster.server, certified.write_certificate)
        assert scenario.client.stats().tls_contexts == 2


async def test_a_token_that_comes_late_is_waited_for_and_no_event_is_lost(
    cluster: Embedded, thread: LoopThread, speed: float
) -> None:
    """X-3: until the token is in the file, all requests are rejected."""
    async with scenario_at(cluster, thread=thread, speed=speed) as scenario:
        cluster.server.rotate_token()
        cluster.server.drop_connections()
        await scenario.until(lambda: scenario.informer.stats().reflector.errors > 1)
        cluster.write_token()
        await scenario.write(Random(1), most=6)

        await scenario.wait_until_consistent()
