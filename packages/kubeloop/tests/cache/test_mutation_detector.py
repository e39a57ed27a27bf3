"""MutationDetector: finds code that changes a cached object."""

from __future__ import annotations

import asyncio

import pytest

from kubeloop.cache import CacheMutated, EntryCodec, MutationDetector, is_detector_enabled
from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import Pod
from tests.cache.objects import key, pod


@pytest.mark.parametrize(
    ("value", "expected"), [("true", True), ("1", True), ("no", False), ("", False)]
)
def test_an_environment_variable_enables_it(value: str, expected: bool) -> None:
    """CCH-98: KUBE_CACHE_MUTATION_DETECTOR."""
    assert is_detector_enabled({"KUBE_CACHE_MUTATION_DETECTOR": value}) is expected
    assert not is_detector_enabled({})


async def test_a_change_is_found_within_a_second() -> None:
    """CCH-98: with the key and both states; without a callback it is fatal."""
    clock, codec = ManualClock(), EntryCodec(Pod, store_as="objects")
    detector = MutationDetector(codec, clock=clock)
    stored = codec.parse(pod("web", labels={"app": "web"}))
    detector.add(stored)
    running = asyncio.create_task(detector.run())
    await clock.advance(5)
    assert not running.done()

    codec.decode(stored).metadata.labels["app"] = "changed"
    await clock.advance(1)

    with pytest.raises(CacheMutated, match="shop/web") as caught:
        await running
    assert caught.value.key == key("web")
    assert b"changed" in caught.value.after
    assert b"changed" not in caught.value.before


def test_reading_changes_nothing() -> None:
    """CCH-98: missing fields read as empty and stay missing."""
    codec = EntryCodec(Pod, store_as="objects")
    detector = MutationDetector(codec)
    stored = codec.parse(pod("web"))
    detector.add(stored)

    decoded = codec.decode(stored)
    assert not decoded.metadata.labels
    assert not decoded.spec.containers
    assert not decoded.status.conditions
    detector.check_nowait()

    assert detector.stats().mutations == 0


def test_the_callback_is_called_once_for_each_mutation() -> None:
    """CCH-98: in place of the end of run()."""
    found: list[CacheMutated] = []
    codec = EntryCodec(dict, store_as="objects")
    detector = MutationDetector(codec, on_mutation=found.append)
    stored = codec.parse(pod("web"))
    detector.add(stored)

    codec.decode(stored)["spec"] = "changed"
    detector.check_nowait()
    detector.check_nowait()

    assert [each.key for each in found] == [key("web")]
    assert detector.stats().mutations == 1
    assert detector.stats().checks == 2


async def test_objects_are_checked_for_minutes_and_not_forever() -> None:
    """CCH-98: copies are rotated every two minutes."""
    clock, codec = ManualClock(), EntryCodec(dict, store_as="objects")
    detector = MutationDetector(codec, clock=clock, on_mutation=lambda _: None)
    detector.check_nowait()
    detector.add(codec.parse(pod("web")))
    watched = []
    for _ in range(3):
        await clock.advance(121)
        detector.check_nowait()
        watched.append(detector.stats().objects)

    assert watched == [1, 0, 0]
