"""The verbs of clients decide as kubectl does, and use its words."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from kubeloop.clients import rollout_status
from kubeloop.errors import InvalidArgument
from kubeloop.runtime import Client
from kubeloop.wire.apps.v1 import DaemonSet, Deployment, StatefulSet
from kubeloop.wire.core.v1 import Node, Pod
from tests.support.kubectl import Kubectl, kubectl, kubectl_cache, kubectl_program

__all__ = ["kubectl", "kubectl_cache", "kubectl_program"]  # fixtures

pytestmark = pytest.mark.timeout(60)  # programs are started, and machines are busy


def workload(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "app:1"}]},
            },
            **spec,
        },
    }


DEADLINE = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
ROLLING: dict[str, Any] = {"type": "RollingUpdate"}
# The strategy, and statuses that stand for the branches of the decision.
STATUSES: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "Deployment": (
        {"replicas": 2},
        [
            {},
            {"observedGeneration": 1},
            {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 2, "readyReplicas": 3},
            {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2},
            {
                "observedGeneration": 1,
                "replicas": 2,
                "updatedReplicas": 2,
                "readyReplicas": 2,
                "availableReplicas": 2,
            },
            {"observedGeneration": 1, "conditions": [DEADLINE]},
        ],
    ),
    "StatefulSet": (
        {"replicas": 3, "serviceName": "db"},
        [
            {"replicas": 0},
            {"replicas": 3, "observedGeneration": 1, "readyReplicas": 1},
            {"replicas": 3, "observedGeneration": 1, "readyReplicas": 3, "updatedReplicas": 1},
            {"replicas": 3, "observedGeneration": 1, "readyReplicas": 3, "updatedReplicas": 3},
        ],
    ),
    "DaemonSet": (
        {},
        [
            {
                "currentNumberScheduled": 0,
                "numberMisscheduled": 0,
                "desiredNumberScheduled": 3,
                "numberReady": 0,
                "observedGeneration": generation,
                "updatedNumberScheduled": updated,
                "numberAvailable": available,
            }
            for generation, updated, available in ((0, 0, 0), (1, 1, 3), (1, 3, 2), (1, 3, 3))
        ],
    ),
}
CLASSES: dict[str, type[Deployment | StatefulSet | DaemonSet]] = {
    "Deployment": Deployment,
    "StatefulSet": StatefulSet,
    "DaemonSet": DaemonSet,
}


@pytest.mark.parametrize("kind", STATUSES)
async def test_a_rollout_has_the_text_of_kubectl(
    kubectl: Kubectl, kube_client: Client, kind: str
) -> None:
    spec, statuses = STATUSES[kind]
    objects: Any = kube_client.resource(CLASSES[kind], namespace=kubectl.namespace)
    await objects.create(CLASSES[kind].from_dict(workload(kind, "web", **spec)))

    for status in statuses:
        found = await objects.get("web")
        found.status = type(found.status).from_dict(status)
        found = await objects.status.update(found, unconditional=True)
        ended = kubectl.run("rollout", "status", f"{kind}/web", "--watch=false")
        ours = rollout_status(found)

        theirs = ended.stderr.removeprefix("error: ") if ended.returncode else ended.stdout
        assert (ours.message, ours.state == "failed") == (theirs.strip(), ended.returncode != 0)


async def test_a_strategy_without_progress_is_an_error_of_kubectl_too(
    kubectl: Kubectl, kube_client: Client
) -> None:
    manifest = workload("DaemonSet", "agent", updateStrategy={"type": "OnDelete"})
    kubectl("create", "--filename=-", stdin=json.dumps(manifest))

    theirs = kubectl.refused("rollout", "status", "daemonset/agent", "--watch=false")
    with pytest.raises(InvalidArgument) as ours:
        await kube_client.apps_v1.daemon_sets(kubectl.namespace).rollout("agent").status()

    assert theirs.removeprefix("error: ") in str(ours.value)


# --- drain

DRAINED: dict[str, dict[str, Any]] = {
    "managed": {"owner": "ReplicaSet"},
    "daemon": {"owner": "DaemonSet"},
    "orphan": {"owner": "DaemonSet", "owner_name": "gone"},
    "static": {"annotations": {"kubernetes.io/config.mirror": "1"}},
    "local": {"owner": "ReplicaSet", "volumes": [{"name": "tmp", "emptyDir": {}}]},
    "alone": {},
    "alone-local": {"volumes": [{"name": "tmp", "emptyDir": {}}]},
}
FLAGS = {
    "force": "--force",
    "ignore_daemonsets": "--ignore-daemonsets",
    "delete_emptydir_data": "--delete-emptydir-data",
}


def a_pod_to_drain(name: str, node: str, how: dict[str, Any]) -> dict[str, Any]:
    owner = {
        "apiVersion": "apps/v1",
        "kind": how.get("owner"),
        "name": how.get("owner_name", "agent"),
        "uid": "00000000-0000-0000-0000-000000000001",
        "controller": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "annotations": how.get("annotations", {}),
            "finalizers": ["example.com/keep"],  # or the garbage collector deletes it
            "ownerReferences": [owner] if how.get("owner") else [],
        },
        "spec": {
            "nodeName": node,
            "containers": [{"name": "main", "image": "app:1"}],
            "volumes": how.get("volumes", []),
        },
    }


async def test_a_drain_decides_as_kubectl(kubectl: Kubectl, kube_client: Client) -> None:
    node, namespace = kubectl.namespace, kubectl.namespace
    await kube_client.core_v1.nodes().create(Node.from_dict({"metadata": {"name": node}}))
    sets = kube_client.apps_v1.daemon_sets(namespace)
    await sets.create(DaemonSet.from_dict(workload("DaemonSet", "agent")))
    pods = kube_client.core_v1.pods(namespace)
    for name, how in DRAINED.items():
        await pods.create(Pod.from_dict(a_pod_to_drain(name, node, how)))

    for chosen in itertools.product([False, True], repeat=3):
        options: Any = dict(zip(FLAGS, chosen, strict=True))
        flags = [flag for name, flag in FLAGS.items() if options[name]]
        ended = kubectl.run("drain", node, "--dry-run=client", *flags)
        plan = await kube_client.core_v1.nodes().drain_plan(node, **options)

        refused = {pod for pods in plan.refused.values() for pod in pods}
        theirs = {line.split()[2] for line in ended.stdout.splitlines() if "evicting" in line}
        assert bool(ended.returncode) == bool(refused), flags
        assert theirs == (
            set() if refused else {f"{namespace}/{p.metadata.name}" for p in plan.evict}
        )
        for reason, keys in plan.refused.items():
            assert re.search(f"cannot delete {re.escape(reason)}[^:]*: {keys[0]}", ended.stderr)
        # kubectl drops the warning about local data of a pod that has a controller.
        warned = ended.stderr.removeprefix("Warning: ").strip()
        assert refused or set(filter(None, warned.split("; "))) <= set(plan.warnings)


# --- access


async def test_what_is_allowed_is_listed_in_the_rows_of_kubectl(
    kubectl: Kubectl, kube_client: Client
) -> None:
    theirs = kubectl("auth", "can-i", "--list", "--no-headers").splitlines()

    found = await kube_client.what_can_i(namespace=kubectl.namespace)

    ours = [
        [each.full_resource, f"[{each.url}]", f"[{each.name}]", f"[{' '.join(each.verbs)}]"]
        for each in found.rules
    ]
    assert [" ".join(row).split() for row in ours] == [line.split() for line in theirs]
    assert theirs
