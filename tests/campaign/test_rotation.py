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
from kubeloop.testing import APIServer
from kubeloop.testing.threads import LoopThread

from .faults import Embedded
from .world import World, world_at


@pytest.fixture
def speed() -> float:
    """No watch ends by itself while a test lasts."""
    return 10.0


class Told:
    """The versions that a handler was told, in order."""

    def __init__(self) -> None:
        self.versions: list[str] = []

    def __call__(self, change: Change[Any]) -> None:
        assert change.new_entry is not None, "nothing is deleted here"
        self.versions.append(change.new_entry.version)


class WithCertificate:
    """The embedded server, for a client whose certificate is in files."""

    def __init__(self, place: Embedded, folder: Path) -> None:
        self._place = place
        self._folder = folder
        self.port = place.port
        self.write_certificate()

    def config(self, port: int) -> ClusterConfig:
        return ClusterConfig(
            server=f"https://127.0.0.1:{port}",
            ca=self._place.server.service.ca or b"",
            client_certificate_file=str(self._folder / "client.crt"),
            client_key_file=str(self._folder / "client.key"),
        )

    def write_certificate(self) -> None:
        groups = ("system:masters",)
        pair = self._place.server.service.client_certificate("admin", groups)
        pair.write(self._folder, "client")


def token(place: Embedded) -> None:
    place.server.rotate_token()
    place.write_token()


def certificate(place: Embedded) -> None:
    place.server.rotate_certificate()


def authority(place: Embedded) -> None:
    place.server.rotate_ca()
    place.write_ca()


async def rotate_while_watching(
    world: World, server: APIServer, rotate: Callable[[], None]
) -> None:
    """Every write is told once and in order: over the old connection, and over a new one."""
    told = Told()
    world.informer.add_handler(on_change=told, name="told")
    written = [await world.put("web")]

    rotate()
    written += [await world.put("web") for _ in range(3)]
    await world.until(lambda: told.versions == written)
    assert world.informer.stats().reflector.watches == 0  # still the one that brought the state

    world.clock.oversleep(CA_AGE)  # until every file is read again
    server.drop_connections()
    written += [await world.put("web") for _ in range(3)]
    await world.until(lambda: told.versions == written)
    stats = world.informer.stats().reflector
    assert stats.watches > 0
    assert stats.rounds == 1, "a new state would have hidden a loss"
    assert world.story.now == await world.truth()


@pytest.mark.parametrize("rotate", [token, certificate, authority], ids=lambda each: each.__name__)
async def test_rotation_while_a_watch_is_open_loses_no_event(
    place: Embedded, thread: LoopThread, speed: float, rotate: Callable[[Embedded], None]
) -> None:
    """X-3: the token and the CA are in files, and read again."""
    async with world_at(place, thread=thread, speed=speed) as world:
        await rotate_while_watching(world, place.server, lambda: rotate(place))


async def test_another_client_certificate_while_a_watch_is_open_loses_no_event(
    place: Embedded, thread: LoopThread, speed: float, tmp_path: Path
) -> None:
    """X-3."""
    certified = WithCertificate(place, tmp_path)
    async with world_at(certified, thread=thread, speed=speed) as world:
        await rotate_while_watching(world, place.server, certified.write_certificate)
        assert world.client.stats().tls_contexts == 2


async def test_a_token_that_comes_late_is_waited_for_and_no_event_is_lost(
    place: Embedded, thread: LoopThread, speed: float
) -> None:
    """X-3: until the file has it, everybody is refused."""
    async with world_at(place, thread=thread, speed=speed) as world:
        place.server.rotate_token()
        place.server.drop_connections()
        await world.until(lambda: world.informer.stats().reflector.errors > 1)
        place.write_token()
        await world.write(Random(1), most=6)

        await world.is_true_again()
