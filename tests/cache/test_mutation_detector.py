"""MutationDetector: who changes what a cache holds is found out."""

from __future__ import annotations

import asyncio

import pytest

from kubeloop.cache import CacheMutated, EntryCodec, MutationDetector, is_detector_enabled
from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import Pod
from tests.cache.objects import key, pod


@pytest.mark.parametrize(
    ("said", "wanted"), [("true", True), ("1", True), ("no", False), ("", False)]
)
def test_an_environment_variable_enables_it(said: str, wanted: bool) -> None:
    """CCH-98: KUBE_CACHE_MUTATION_DETECTOR."""
    assert is_detector_enabled({"KUBE_CACHE_MUTATION_DETECTOR": said}) is wanted
    assert not is_detector_enabled({})


async def test_a_change_is_found_within_a_second() -> None:
    """CCH-98: with the key and both states; without anybody to tell, it is fatal."""
    clock, codec = ManualClock(), EntryCodec(Pod, store_as="objects")
    detector = MutationDetector(codec, clock=clock)
    held = codec.parse(pod("web", labels={"app": "web"}))
    detector.add(held)
    running = asyncio.create_task(detector.run())
    await clock.advance(5)
    assert not running.done()

    codec.decode(held).metadata.labels["app"] = "changed"
    await clock.advance(1)

    with pytest.raises(CacheMutated, match="shop/web") as caught:
        await running
    assert caught.value.key == key("web")
    assert b"changed" in caught.value.after
    assert b"changed" not in caught.value.before


def test_reading_changes_nothing() -> None:
    """CCH-98: fields that are not there read as empty and stay away."""
    codec = EntryCodec(Pod, store_as="objects")
    detector = MutationDetector(codec)
    held = codec.parse(pod("web"))
    detector.add(held)

    given = codec.decode(held)
    assert not given.metadata.labels
    assert not given.spec.containers
    assert not given.status.conditions
    detector.check_nowait()

    assert detector.stats().mutations == 0


def test_the_callback_is_called_once_for_each_mutation() -> None:
    """CCH-98: a failure callback instead of the end."""
    told: list[CacheMutated] = []
    codec = EntryCodec(dict, store_as="objects")
    detector = MutationDetector(codec, on_mutation=told.append)
    held = codec.parse(pod("web"))
    detector.add(held)

    codec.decode(held)["spec"] = "changed"
    detector.check_nowait()
    detector.check_nowait()

    assert [each.key for each in told] == [key("web")]
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
