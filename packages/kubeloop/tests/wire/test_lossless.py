"""A typed read-modify-write loses nothing, at any depth, for every generated kind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeloop.wire import Kind, Model
from kubeloop.wire.core.v1 import Container, Pod, Toleration
from kubeloop.wire.plan import node_for
from tests.wire.random_json import every_class, json_for, without_nulls


def _with_type(data: dict[str, Any], cls: type[Model]) -> dict[str, Any]:
    if not issubclass(cls, Kind):
        return data
    empty = cls()
    return {"apiVersion": empty.api_version, "kind": empty.kind} | data


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "cls", every_class(), ids=lambda cls: f"{cls.__module__[24:]}.{cls.__name__}"
)
def test_decoding_and_encoding_lose_nothing(cls: type[Model]) -> None:
    node = node_for(cls)

    @settings(max_examples=8)
    @given(json_for(node))
    def round_trip(data: dict[str, Any]) -> None:
        model = cls.from_dict(data)

        assert model.to_dict() == _with_type(without_nulls(node, data), cls)
        assert cls.from_json(model.to_json()) == model

    round_trip()


def _pod(*containers: dict[str, Any]) -> Pod:
    return Pod.from_dict({"spec": {"containers": list(containers), "zzNew": {"deep": [None]}}})


def test_elements_that_are_changed_keep_what_is_new_in_them() -> None:
    pod = _pod({"name": "a", "zz": 1}, {"name": "b", "zz": 2})

    pod.spec.containers[1].image = "web:2"

    assert pod.to_dict()["spec"] == {
        "containers": [{"name": "a", "zz": 1}, {"image": "web:2", "name": "b", "zz": 2}],
        "zzNew": {"deep": [None]},
    }


def test_elements_that_are_moved_added_or_removed_keep_what_is_theirs() -> None:
    pod = _pod({"name": "a", "zz": 1}, {"name": "b", "zz": 2}, {"name": "c", "zz": 3})

    del pod.spec.containers[0]
    pod.spec.containers.reverse()
    pod.spec.containers.insert(1, Container(name="new"))
    pod.spec.containers[2].name = "renamed"

    assert pod.to_dict()["spec"]["containers"] == [
        {"name": "c", "zz": 3},
        {"name": "new"},
        {"name": "renamed", "zz": 2},
    ]


def test_elements_without_a_name_are_distinguished_too() -> None:
    pod = Pod.from_dict({"spec": {"tolerations": [{"key": "x", "zz": 1}, {"key": "x", "zz": 2}]}})

    pod.spec.tolerations = [pod.spec.tolerations[1], Toleration(key="x")]
    pod.spec.tolerations[0].effect = "NoSchedule"

    assert pod.to_dict()["spec"]["tolerations"] == [
        {"effect": "NoSchedule", "key": "x", "zz": 2},
        {"key": "x"},
    ]


def test_a_part_that_moves_to_another_object_takes_what_is_new_with_it() -> None:
    old = _pod({"name": "a", "zz": 1})
    new = Pod()

    new.spec.containers.append(old.spec.containers[0])

    assert new.to_dict()["spec"] == {"containers": [{"name": "a", "zz": 1}]}


@given(st.permutations(list(range(5))), st.lists(st.integers(0, 4), unique=True))
def test_any_order_and_any_removal_keeps_each_elements_own(
    order: list[int], removed: list[int]
) -> None:
    pod = _pod(*({"name": f"c{i}", "zz": {"mine": i}} for i in range(5)))
    before = list(pod.spec.containers)

    pod.spec.containers[:] = [before[i] for i in order if i not in removed]

    assert pod.to_dict()["spec"].get("containers", []) == [
        {"name": f"c{i}", "zz": {"mine": i}} for i in order if i not in removed
    ]
