"""An edit among many: every conflict is another writer who got through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kubeloop.kit import SystemClock
from kubeloop.machinery import Conflict, DecodeError, api_error, failure

from .conftest import Recorder


class Waits:
    """The machine's clocks, but a wait only tells that it was begun."""

    def __init__(self, tell: Callable[[], None]) -> None:
        clock = SystemClock()
        self.now, self.time, self.timeout = clock.now, clock.time, clock.timeout
        self._tell = tell

    async def sleep(self, seconds: float) -> None:
        self._tell()


def a_map(version: int, **data: str) -> dict[str, Any]:
    metadata = {"name": "a", "uid": "u", "resourceVersion": str(version)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def lost() -> Exception:
    return api_error("PATCH configmaps/a", failure("Conflict", "changed"))


async def edit(recorder: Recorder) -> None:
    async with recorder.client.resource("v1", "ConfigMap").edit("a") as found:
        found["data"]["mine"] = "x"


async def test_an_edit_reads_the_newer_object_after_its_wait_and_not_before() -> None:
    """What was read before the wait would be old behind it, and meet the next conflict."""
    recorder = Recorder(a_map(1), lost(), a_map(2, theirs="y"), a_map(3))
    asked_by_then: list[list[str]] = []
    recorder.clock = Waits(
        lambda: asked_by_then.append([request.method for request in recorder.requests])
    )

    await edit(recorder)

    assert asked_by_then == [["GET", "PATCH"]]
    assert recorder.body == {"metadata": {"resourceVersion": "2"}, "data": {"mine": "x"}}


async def test_an_edit_outlasts_a_dozen_faster_ones() -> None:
    versions = range(2, 14)
    storm = [step for version in versions for step in (lost(), a_map(version))]
    recorder = Recorder(a_map(1), *storm, a_map(99), clock=Waits(lambda: None))

    await edit(recorder)

    assert recorder.body == {"metadata": {"resourceVersion": "13"}, "data": {"mine": "x"}}


async def test_an_edit_that_always_loses_says_so_in_the_end() -> None:
    storm = [step for version in range(2, 40) for step in (lost(), a_map(version))]
    recorder = Recorder(a_map(1), *storm, clock=Waits(lambda: None))

    with pytest.raises(Conflict, match="changed"):
        await edit(recorder)


@pytest.mark.parametrize("metadata", [{"name": "a"}, {}, None, 5])
async def test_an_object_without_a_version_is_not_edited(metadata: Any) -> None:
    """Some servers behind an aggregator keep none."""
    recorder = Recorder({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {}})

    with pytest.raises(DecodeError, match="without a resourceVersion"):
        await edit(recorder)

    assert [request.method for request in recorder.requests] == ["GET"]
