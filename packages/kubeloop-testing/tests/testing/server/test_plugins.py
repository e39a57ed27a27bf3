"""Admission plugins: classes of pods, default classes, protection of storage, pod security."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop_testing.server.kinds.rules.pod_security import violations
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import PODS, pod

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
STORAGE = "/apis/storage.k8s.io/v1/storageclasses"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
CONTAINER = {"name": "a", "image": "a"}
SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def with_spec(name: str, **spec: Any) -> dict[str, Any]:
    obj = pod(name)
    return {**obj, "spec": {**obj["spec"], **spec}}


def claim(name: str, **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    return {"metadata": {"name": name}, "spec": spec}


def reasons(level: str, **spec: Any) -> list[str]:
    return [each.reason for each in violations(level, {}, {"containers": [CONTAINER], **spec})]


async def test_a_pod_gets_the_priority_of_its_class(api: Api) -> None:
    await api.create(PRIORITIES, {"metadata": {"name": "low"}, "value": -5})

    created = await api.create(PODS, with_spec("a", priorityClassName="low"))
    missing = await api("POST", PODS, with_spec("b", priorityClassName="none"))
    own = await api("POST", PODS, with_spec("c", priority=3))

    assert created.json["spec"]["priority"] == -5
    assert (missing.code, own.code) == (403, 403)


async def test_the_default_priority_class_can_change(api: Api) -> None:
    default = {"metadata": {"name": "all"}, "value": 9, "globalDefault": True}
    await api.create(PRIORITIES, default)
    with_class = await api.create(PODS, pod("a"))
    await api("DELETE", f"{PRIORITIES}/all")
    without = await api.create(PODS, pod("b"))

    assert with_class.json["spec"]["priorityClassName"] == "all"
    assert without.json["spec"]["priority"] == 0


async def test_a_claim_gets_the_newest_default_class(api: Api) -> None:
    marked = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    await api.create(STORAGE, {"metadata": {"name": "fast", **marked}, "provisioner": "a/b"})

    chosen = await api.create(CLAIMS, claim("a"))
    none = await api.create(CLAIMS, claim("b", storageClassName=""))

    assert chosen.json["spec"]["storageClassName"] == "fast"
    assert none.json["spec"]["storageClassName"] == ""


async def test_a_claim_stays_until_no_pod_uses_it(api: Api) -> None:
    await api.create(CLAIMS, claim("a"))
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "a"}}
    await api.create(PODS, with_spec("p", volumes=[volume]))

    held = await api("DELETE", f"{CLAIMS}/a")
    still = await api.get(f"{CLAIMS}/a")
    await api("DELETE", f"{PODS}/p")
    gone = await api.get(f"{CLAIMS}/a")

    assert held.json["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert (still.code, gone.code) == (200, 404)


async def test_a_namespace_with_a_claim_ends(api: Api) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
    await api.create("/api/v1/namespaces/shop/persistentvolumeclaims", claim("a"))

    await api("DELETE", "/api/v1/namespaces/shop")

    assert (await api.get("/api/v1/namespaces/shop")).code == 404


async def test_only_a_bound_claim_of_an_expandable_class_grows(api: Api) -> None:
    expandable = {"provisioner": "a/b", "allowVolumeExpansion": True}
    await api.create(STORAGE, {"metadata": {"name": "fast"}, **expandable})
    await api.create(CLAIMS, claim("a", storageClassName="fast"))
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}

    pending = await api.patch(f"{CLAIMS}/a", more)
    await api.patch(f"{CLAIMS}/a/status", {"status": {"phase": "Bound"}})
    bound = await api.patch(f"{CLAIMS}/a", more)

    assert (pending.code, bound.code) == (422, 200)


async def test_labels_of_a_namespace_restrict_its_pods(api: Api) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    meta = {"name": "safe", "labels": {**labels, "pod-security.kubernetes.io/warn": "restricted"}}
    await api.create("/api/v1/namespaces", {"metadata": meta})
    path = "/api/v1/namespaces/safe/pods"

    warned = await api.create(path, pod("a"))
    rejected = await api("POST", path, with_spec("b", hostNetwork=True))

    assert len(warned.warnings) == 1
    assert rejected.code == 403
    assert "host namespaces (hostNetwork=true)" in rejected.json["message"]


def test_a_plain_pod_violates_only_the_restricted_level() -> None:
    assert reasons("baseline") == []
    assert reasons("restricted") == [
        "allowPrivilegeEscalation != false",
        "unrestricted capabilities",
        "runAsNonRoot != true",
        "seccompProfile",
    ]
    assert reasons("restricted", containers=[{**CONTAINER, "securityContext": SAFE}]) == []


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"hostPID": True}, "host namespaces"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, "hostPath volumes"),
        ({"securityContext": {"sysctls": [{"name": "kernel.msgmax"}]}}, "forbidden sysctls"),
        ({"securityContext": {"seLinuxOptions": {"user": "u"}}}, "seLinuxOptions"),
        ({"securityContext": {"windowsOptions": {"hostProcess": True}}}, "hostProcess"),
        (
            {"containers": [{**CONTAINER, "securityContext": {"procMount": "Unmasked"}}]},
            "procMount",
        ),
    ],
)
def test_the_baseline_level_forbids(spec: dict[str, Any], reason: str) -> None:
    assert reasons("baseline", **spec) == [reason]


def test_a_pod_with_its_own_users_may_run_as_root_in_them() -> None:
    context = {**SAFE, "runAsNonRoot": False, "runAsUser": 0}
    containers = [{**CONTAINER, "securityContext": context}]

    assert reasons("restricted", containers=containers, hostUsers=False) == []
    assert reasons("restricted", containers=containers) == ["runAsNonRoot != true", "runAsUser=0"]


async def test_a_new_node_is_tainted_until_it_is_ready(api: Api) -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}

    created = await api.create("/api/v1/nodes", {"metadata": {"name": "a"}})
    tainted = {"metadata": {"name": "b"}, "spec": {"taints": [taint]}}
    same = await api.create("/api/v1/nodes", tainted)

    assert created.json["spec"]["taints"] == [taint]
    assert same.json["spec"]["taints"] == [taint]
