"""Limit ranges, and the protection of claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from kubeloop_testing.server.admission.plugins.limit_ranger import (
    check_limits,
    with_default_limits,
)
from kubeloop_testing.server.controllers.manager import ControllerManager
from kubeloop_testing.server.controllers.protection import ProtectionController
from kubeloop_testing.server.identity import Objects
from kubeloop_testing.server.statuses import StatusError
from kubeloop_testing.server.storage.store import Change, Store

Json = dict[str, Any]
CLAIMS = ("", "persistentvolumeclaims")


def objects_of(**collections: list[Json]) -> Objects:
    def objects(_: str, plural: str) -> Iterable[Json]:
        return collections.get(plural, [])

    return objects


def pod(**spec: Any) -> Json:
    containers = [{"name": "a", "image": "i", "resources": {}}]
    meta = {"name": "p", "namespace": "shop"}
    return {"metadata": meta, "spec": {"containers": containers, **spec}}


def limits(**item: Any) -> Json:
    meta = {"name": "l", "namespace": "shop"}
    return {"metadata": meta, "spec": {"limits": [{"type": "Container", **item}]}}


def admit(obj: Json, **collections: list[Json]) -> Json:
    objects = objects_of(**collections)
    admitted = with_default_limits(obj, objects)
    check_limits(admitted, objects, "pods")
    return admitted


def test_containers_get_the_default_limits_of_their_namespace() -> None:
    found = admit(pod(), limitranges=[limits(default={"cpu": "1"}, defaultRequest={"cpu": "1"})])

    resources = found["spec"]["containers"][0]["resources"]
    assert resources == {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
    assert "cpu limit for container a" in next(iter(found["metadata"]["annotations"].values()))


def test_a_pod_that_exceeds_a_limit_is_forbidden() -> None:
    with pytest.raises(StatusError, match="maximum cpu usage per Container is 1"):
        admit(pod(), limitranges=[limits(max={"cpu": "1"})])


def claim(**meta: Any) -> Json:
    protection = ["kubernetes.io/pvc-protection"]
    own = {"name": "c", "namespace": "shop", "finalizers": protection, **meta}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": own}


def test_a_deleted_claim_stays_until_no_pod_uses_it() -> None:
    store = Store()
    manager = ControllerManager(store, [ProtectionController(store)])
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    user = {"apiVersion": "v1", "kind": "Pod", **pod(volumes=volumes)}
    entry = store.write(("", "pods"), user)

    store.write(CLAIMS, claim(deletionTimestamp="2020-01-01T00:00:00Z"))
    manager.work()
    assert store.get(CLAIMS, "shop/c") is not None

    store.remove(("", "pods"), entry.key)
    manager.work()
    assert store.get(CLAIMS, "shop/c") is None


class Observer:
    """A controller that records the changes it observes."""

    collections = frozenset({CLAIMS})
    busy = False

    def __init__(self, *, observes_deletions: bool) -> None:
        self.observes_deletions = observes_deletions
        self.observed: list[str] = []

    def observe(self, change: Change) -> bool:
        self.observed.append(change.key)
        return False

    def work(self) -> None:
        """Nothing is queued."""


def test_a_controller_observes_the_changes_of_its_collections_and_all_deletions() -> None:
    store = Store(history=10)
    of_claims, of_deletions = (Observer(observes_deletions=each) for each in (False, True))
    ControllerManager(store, [of_claims, of_deletions])

    store.write(CLAIMS, {"metadata": {"name": "claim"}})
    store.write(("", "configmaps"), {"metadata": {"name": "map"}})
    store.remove(("", "configmaps"), "map")

    assert of_claims.observed == ["claim"]
    assert of_deletions.observed == ["claim", "map"]
