"""Realistic pods of about 6 kB, the same ones every time."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["pod", "pod_list", "pod_list_file"]


def pod(number: int) -> dict[str, Any]:
    """A running pod as a busy cluster has it: two containers, a volume or five, managedFields."""
    app = f"service-{number % 40}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(number, app),
        "spec": _spec(number, app),
        "status": _status(number, app),
    }


def pod_list(count: int) -> bytes:
    """The answer to a list of `count` pods."""
    items = [
        {k: v for k, v in pod(i).items() if k in ("metadata", "spec", "status")}
        for i in range(count)
    ]
    head = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "4242424"}}
    return json.dumps(head | {"items": items}, separators=(",", ":")).encode()


@contextmanager
def pod_list_file(count: int) -> Iterator[Path]:
    """The same in a file, for snippets that would each take seconds to make it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pods.json")
        path.write_bytes(pod_list(count))
        yield path


def _metadata(number: int, app: str) -> dict[str, Any]:
    name = f"{app}-7d9c6b5f4d-{number:05d}"
    return {
        "name": name,
        "generateName": f"{app}-7d9c6b5f4d-",
        "namespace": f"team-{number % 12}",
        "uid": f"6f0d2c1e-0000-4000-8000-{number:012d}",
        "resourceVersion": str(1_000_000 + number),
        "generation": 1,
        "creationTimestamp": "2026-03-04T05:06:07Z",
        "labels": {
            "app.kubernetes.io/name": app,
            "app.kubernetes.io/instance": f"{app}-prod",
            "app.kubernetes.io/version": "1.14.2",
            "pod-template-hash": "7d9c6b5f4d",
            "tier": "backend" if number % 3 else "frontend",
        },
        "annotations": {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": "9102",
            "checksum/config": f"{number:064x}",
        },
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": f"{app}-7d9c6b5f4d",
                "uid": f"aa0d2c1e-0000-4000-8000-{number % 40:012d}",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        "managedFields": [
            {
                "manager": manager,
                "operation": "Update",
                "apiVersion": "v1",
                "time": "2026-03-04T05:06:07Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {".": {}, "f:tier": {}, "f:pod-template-hash": {}}},
                    "f:spec": {"f:containers": {'k:{"name":"app"}': {".": {}, "f:image": {}}}},
                },
            }
            for manager in ("kube-controller-manager", "kubelet")
        ],
    }


def _container(name: str, image: str, port: str, number: int) -> dict[str, Any]:
    return {
        "name": name,
        "image": image,
        "args": ["--listen=:8080", "--log-level=info", "--config=/etc/app/config.yaml"],
        "ports": [{"name": port, "containerPort": number, "protocol": "TCP"}],
        "env": [
            {
                "name": "POD_NAME",
                "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
            },
            {"name": "DATABASE", "valueFrom": {"secretKeyRef": {"name": "db", "key": "url"}}},
            {"name": "REGION", "value": "eu-central-1"},
        ],
        "resources": {
            "limits": {"cpu": "500m", "memory": "512Mi"},
            "requests": {"cpu": "100m", "memory": "256Mi"},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/app", "readOnly": True},
            {"name": "token", "mountPath": "/var/run/secrets/token", "readOnly": True},
        ],
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": port, "scheme": "HTTP"},
            "initialDelaySeconds": 10,
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
        },
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
        },
    }


def _spec(number: int, app: str) -> dict[str, Any]:
    return {
        "volumes": [
            {"name": "config", "configMap": {"name": f"{app}-config", "defaultMode": 420}},
            {
                "name": "token",
                "projected": {
                    "defaultMode": 420,
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                        {
                            "configMap": {
                                "name": "kube-root-ca.crt",
                                "items": [{"key": "ca.crt", "path": "ca.crt"}],
                            }
                        },
                    ],
                },
            },
        ],
        "containers": [
            # Two ports of one name would have the server warn at every write.
            _container("app", f"registry.example.com/{app}:1.14.2", "http", 8080),
            _container("proxy", "registry.example.com/proxy:3.2.1", "admin", 9102),
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": app,
        "serviceAccount": app,
        "nodeName": f"node-{number % 200}",
        "securityContext": {"fsGroup": 2000},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {
                "key": f"node.kubernetes.io/{why}",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }
            for why in ("not-ready", "unreachable")
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def _status(number: int, app: str) -> dict[str, Any]:
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    return {
        "phase": "Running",
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "lastProbeTime": None,
                "lastTransitionTime": "2026-03-04T05:06:09Z",
            }
            for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "hostIP": f"192.0.2.{number % 200}",
        "hostIPs": [{"ip": f"192.0.2.{number % 200}"}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": "2026-03-04T05:06:07Z",
        "containerStatuses": [
            {
                "name": name,
                "state": {"running": {"startedAt": "2026-03-04T05:06:08Z"}},
                "lastState": {},
                "ready": True,
                "restartCount": number % 3,
                "image": f"registry.example.com/{app}:1.14.2",
                "imageID": f"registry.example.com/{app}@sha256:{number:064x}",
                "containerID": f"containerd://{number:064x}",
                "started": True,
            }
            for name in ("app", "proxy")
        ],
        "qosClass": "Burstable",
    }
