"""The names that keep a deleted object in the API."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.meta import add_finalizer, has_finalizer, remove_finalizer
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ObjectMeta


def test_a_finalizer_is_added_once_and_at_the_end() -> None:
    pod = Pod(metadata=ObjectMeta(finalizers=["a"]))

    assert add_finalizer(pod, "b") is True
    assert add_finalizer(pod, "b") is False
    assert pod.metadata.finalizers == ["a", "b"]
    assert has_finalizer(pod, "b")


def test_a_finalizer_is_removed_wherever_it_stands() -> None:
    pod = Pod(metadata=ObjectMeta(finalizers=["a", "b", "a", "c"]))

    assert remove_finalizer(pod, "a") is True
    assert remove_finalizer(pod, "a") is False
    assert pod.metadata.finalizers == ["b", "c"]


def test_an_object_without_metadata_can_get_a_finalizer() -> None:
    pod = Pod()

    assert not has_finalizer(pod, "a")
    assert add_finalizer(pod, "a")
    assert pod.to_dict()["metadata"] == {"finalizers": ["a"]}


def test_finalizers_of_a_dict_change_in_place() -> None:
    obj: dict[str, Any] = {"kind": "Website"}

    assert add_finalizer(obj, "a") is True
    assert add_finalizer(obj, "a") is False
    assert obj == {"kind": "Website", "metadata": {"finalizers": ["a"]}}
    assert remove_finalizer(obj, "a") is True
    assert obj == {"kind": "Website", "metadata": {}}


def test_asking_changes_nothing() -> None:
    obj: dict[str, Any] = {"metadata": None}

    assert not has_finalizer(obj, "a")
    assert not remove_finalizer(obj, "a")
    assert obj == {"metadata": None}


@pytest.mark.parametrize("obj", [{"metadata": 7}, {"metadata": {"finalizers": "a"}}])
def test_a_dict_of_another_shape_is_refused(obj: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="expected"):
        has_finalizer(obj, "a")
