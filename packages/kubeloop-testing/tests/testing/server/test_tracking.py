"""The cache of the owners of new objects."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop_testing.server.apply.managed import track
from kubeloop_testing.server.apply.tracking import Tracker
from kubeloop_testing.server.registry import Registry, ServedResource
from tests.testing.server.server_objects import pod


@pytest.fixture
def served() -> ServedResource:
    found = Registry().find("", "v1", "pods")
    assert found is not None
    return found


def _track(
    tracker: Tracker, served: ServedResource, obj: dict[str, Any], now: str
) -> dict[str, Any]:
    return tracker.track(served, None, obj, manager="me", subresource="", now=now)


def test_a_second_object_with_the_same_fields_has_the_same_owners(served: ServedResource) -> None:
    tracker = Tracker()
    _track(tracker, served, pod("one", app="y"), "2030-01-01T00:00:00Z")

    cached = _track(tracker, served, pod("two", app="x"), "2030-01-01T00:00:05Z")

    assert cached == track(
        None,
        pod("two", app="x"),
        manager="me",
        api_version="v1",
        subresource="",
        facts=served.facts,
        now="2030-01-01T00:00:05Z",
    )


@pytest.mark.parametrize("other", [pod("two"), pod("two", tier="y"), {**pod("two"), "spec": {}}])
def test_an_object_with_other_fields_is_tracked_separately(
    served: ServedResource, other: dict[str, Any]
) -> None:
    tracker = Tracker()
    first = _track(tracker, served, pod("one", app="x"), "2030-01-01T00:00:00Z")

    found = _track(tracker, served, other, "2030-01-01T00:00:00Z")

    assert found["metadata"].get("managedFields") != first["metadata"]["managedFields"]
