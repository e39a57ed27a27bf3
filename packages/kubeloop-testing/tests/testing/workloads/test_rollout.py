"""The sizes of a deployment's replica sets during a rollout, without a server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire.apps.v1 import Deployment
from kubeloop_testing.workloads.rollout import Bounds, Size, bounds_of, next_sizes


def a_deployment(replicas: int, surge: int | str, unavailable: int | str) -> Deployment:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    return Deployment.from_dict({"spec": {"replicas": replicas, "strategy": strategy}})


@pytest.mark.parametrize(
    ("spec", "most", "fewest"),
    [
        ((10, "25%", "25%"), 13, 8),  # surge is rounded up, unavailability down
        ((3, 1, 0), 4, 3),
        ((3, 0, 0), 3, 2),  # otherwise no pod could ever be replaced
        ((2, 0, 5), 2, 0),
    ],
)
def test_percentages_are_rounded_in_favour_of_availability(
    spec: tuple[int, int | str, int | str], most: int, fewest: int
) -> None:
    bounds = bounds_of(a_deployment(*spec))

    assert (bounds.most, bounds.fewest) == (most, fewest)


def test_a_rollout_begins_with_surge_and_unavailable() -> None:
    bounds = Bounds(desired=4, surge=1, unavailable=1)

    sizes = next_sizes(bounds, Size("new", 0, 0), [Size("old", 4, 4)])

    assert sizes == {"new": 1, "old": 3}


def test_unavailable_old_pods_are_scaled_down_first() -> None:
    bounds = Bounds(desired=4, surge=1, unavailable=0)

    sizes = next_sizes(bounds, Size("new", 0, 0), [Size("older", 2, 2), Size("broken", 2, 0)])

    assert sizes == {"new": 1, "older": 2, "broken": 2}  # availability comes first
    assert next_sizes(bounds, Size("new", 2, 2), [Size("older", 2, 2), Size("broken", 1, 0)]) == {
        "new": 2,
        "older": 2,
        "broken": 0,
    }


def test_scaling_a_deployment_down_scales_its_new_set() -> None:
    assert next_sizes(Bounds(2, 1, 0), Size("new", 5, 5), []) == {"new": 2}


@given(
    desired=st.integers(0, 12),
    surge=st.integers(0, 4),
    unavailable=st.integers(0, 4),
    old=st.lists(st.integers(0, 12), max_size=3),
    chance=st.randoms(use_true_random=False),
)
def test_every_rollout_completes_within_its_limits(
    desired: int, surge: int, unavailable: int, old: list[int], chance: object
) -> None:
    unavailable = min(unavailable, desired) if surge else min(max(unavailable, 1), desired)
    bounds = Bounds(desired, surge, unavailable)
    available = {f"old-{number}": count for number, count in enumerate(old)}
    replicas = dict(available)
    available["new"] = replicas["new"] = 0
    total, enough = sum(old), sum(old)

    for _ in range(200):
        old_sizes = [Size(name, replicas[name], available[name]) for name in list(replicas)[:-1]]
        replicas = {
            **dict.fromkeys(replicas, 0),
            **next_sizes(bounds, Size("new", replicas["new"], available["new"]), old_sizes),
        }
        assert sum(replicas.values()) <= max(total, bounds.most)
        available = {name: min(count, replicas[name]) for name, count in available.items()}
        assert sum(available.values()) >= min(enough, bounds.fewest)
        total, enough = sum(replicas.values()), sum(available.values())
        # Some pods of the new set become available, others later.
        missing = replicas["new"] - available["new"]
        available["new"] += chance.randint(min(missing, 1), missing)  # type: ignore[attr-defined]
        enough = max(enough, min(sum(available.values()), bounds.fewest))

    assert replicas == {**dict.fromkeys(replicas, 0), "new": desired}


def test_a_stale_status_does_not_count_deleted_pods_as_available() -> None:
    sizes = next_sizes(Bounds(4, 1, 1), Size("new", 1, 0), [Size("old", 3, available=4)])

    assert sizes == {"new": 2, "old": 3}
