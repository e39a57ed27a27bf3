"""Admission plugins: protection of storage, default classes, resizing, pod security."""

from __future__ import annotations

from typing import Any

from tests.conformance.rule_steps import Body, Step, change, create, delete, rejections

_NAMESPACES = "/api/v1/namespaces"
_PODS = "/api/v1/namespaces/{ns}/pods"
_RESTRICTED_PODS = "/api/v1/namespaces/{ns}-r/pods"
_CLAIMS = "/api/v1/namespaces/{ns}/persistentvolumeclaims"
_VOLUMES = "/api/v1/persistentvolumes"
_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
_PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
_INGRESS_CLASSES = "/apis/networking.k8s.io/v1/ingressclasses"
_INGRESSES = "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses"
_INGRESS = {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}
_DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}-r/deployments"
_CRON_JOBS = "/apis/batch/v1/namespaces/{ns}-r/cronjobs"

_STORAGE = {"requests": {"storage": "1Gi"}}
_MORE = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
_CLAIM: Body = {
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": _STORAGE,
        "storageClassName": "x-{ns}",
    }
}
_VOLUME: Body = {
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "hostPath": {"path": "/data"},
    }
}


def _marked(kind: str) -> Body:
    """Metadata of a class that is the default one."""
    return {"annotations": {f"{kind}.kubernetes.io/is-default-class": "true"}}


def _labels(labels: dict[str, str]) -> Body:
    prefix = "pod-security.kubernetes.io/"
    found = {f"{prefix}{key.replace('_', '-')}": value for key, value in labels.items()}
    return {"metadata": {"labels": found}}


def _restrict(**labels: str) -> Step:
    return change(_NAMESPACES, _labels(labels), "{ns}")


def _restricted(*steps: Step, **labels: str) -> list[Step]:
    """Steps in a namespace of its own: kube-apiserver sees changed labels a little later."""
    body = _labels(labels)
    meta = {"name": "{ns}-r", **body["metadata"]}
    return [create(_NAMESPACES, {"metadata": meta}), *steps, delete(_NAMESPACES, "{ns}-r")]


# kube-apiserver reads pods of a namespace from a cache that is filled a little later.
_PAUSE: list[Step] = [("GET", _NAMESPACES + "/{ns}", None)] * 20


def _pod(container: Body | None = None, **spec: Any) -> Body:
    return {"spec": {"containers": [{"name": "a", "image": "a", **(container or {})}], **spec}}


def _secured(**context: Any) -> Body:
    return _pod({"securityContext": context})


_SAFE_CONTAINER: Body = {
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
}
_SAFE = _pod(_SAFE_CONTAINER)
_BASELINE: list[Body] = [
    _pod(hostNetwork=True, hostPID=True, hostIPC=True),
    _secured(privileged=True),
    _secured(capabilities={"add": ["NET_ADMIN", "CHOWN", "SYS_TIME"]}),
    _pod(volumes=[{"name": "v", "hostPath": {"path": "/"}}]),
    _pod({"ports": [{"containerPort": 80, "hostPort": 8080}]}),
    _pod({"livenessProbe": {"httpGet": {"port": 80, "host": "example.com"}}}),
    _pod({"lifecycle": {"preStop": {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}}}),
    _secured(seLinuxOptions={"type": "spc_t", "user": "u", "role": "r"}),
    _pod(securityContext={"seLinuxOptions": {"type": "spc_t"}}),
    _secured(seccompProfile={"type": "Unconfined"}),
    _pod(securityContext={"seccompProfile": {"type": "Unconfined"}}),
    _secured(appArmorProfile={"type": "Unconfined"}),
    _pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
    _pod(securityContext={"sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}]}),
    {
        "spec": {
            "initContainers": [
                {"name": "i", "image": "i", "securityContext": {"privileged": True}}
            ],
            "containers": [
                {"name": "a", "image": "a", "securityContext": {"privileged": True}},
                {"name": "b", "image": "b"},
            ],
        }
    },
]
_RESTRICTED: list[Body] = [
    _pod(),
    _SAFE,
    _pod({"securityContext": {**_SAFE_CONTAINER["securityContext"], "runAsUser": 0}}),
    _pod({"securityContext": {**_SAFE_CONTAINER["securityContext"], "runAsNonRoot": False}}),
    _pod(
        {
            "securityContext": {
                **_SAFE_CONTAINER["securityContext"],
                "capabilities": {"drop": ["ALL"], "add": ["CHOWN", "NET_BIND_SERVICE"]},
            }
        }
    ),
    _pod(_SAFE_CONTAINER, securityContext={"runAsNonRoot": False, "runAsUser": 0}),
    _pod(_SAFE_CONTAINER, volumes=[{"name": "v", "nfs": {"server": "a", "path": "/"}}]),
    _pod(
        _SAFE_CONTAINER,
        volumes=[{"name": "v", "hostPath": {"path": "/"}}, {"name": "e", "emptyDir": {}}],
    ),
    _pod(
        {"securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}},
        securityContext={"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    ),
    _pod(os={"name": "windows"}),
    _secured(privileged=True),
    _pod(hostUsers=False),
]
_TEMPLATE = {"metadata": {"labels": {"a": "b"}}, **_secured(privileged=True)}

CASES: dict[str, list[Step]] = {
    "claims and volumes are protected": [
        create(_CLAIMS, _CLAIM, "c"),
        create(
            _CLAIMS,
            {"metadata": {"finalizers": ["kubernetes.io/pvc-protection"]}, **_CLAIM},
            "d",
        ),
        create(_CLAIMS, {"metadata": {"finalizers": ["example.com/own"]}, **_CLAIM}, "e"),
        create(f"{_VOLUMES}?dryRun=All", _VOLUME),
        change(_CLAIMS, {"metadata": {"finalizers": None}}, "c"),
        delete(_CLAIMS, "c"),
    ],
    "only a bound claim of an expandable class can grow": [
        create(_CLASSES, {"provisioner": "example.com/disks", "allowVolumeExpansion": True}),
        create(_CLAIMS, _CLAIM, "c"),
        change(_CLAIMS, _MORE, "c"),
        change(_CLAIMS, {"status": {"phase": "Bound"}}, "c", "status"),
        change(_CLAIMS, _MORE, "c"),
        change(_CLASSES, {"allowVolumeExpansion": False}),
        delete(_CLASSES),
    ],
    "a claim of a class that cannot be expanded": [
        create(_CLASSES, {"provisioner": "example.com/disks"}),
        create(_CLAIMS, _CLAIM, "c"),
        change(_CLAIMS, {"status": {"phase": "Bound"}}, "c", "status"),
        change(_CLAIMS, _MORE, "c"),
        delete(_CLASSES),
        change(_CLAIMS, _MORE, "c"),
    ],
    "a claim gets the default storage class": [
        create(_CLASSES, {"metadata": _marked("storageclass"), "provisioner": "example.com/a"}),
        *_PAUSE,
        create(_CLAIMS, {"spec": {**_CLAIM["spec"], "storageClassName": None}}, "c"),
        create(_CLAIMS, {"spec": {**_CLAIM["spec"], "storageClassName": ""}}, "d"),
        create(_CLAIMS, _CLAIM, "e"),
        create(
            _CLAIMS,
            {
                "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "own"}},
                "spec": {**_CLAIM["spec"], "storageClassName": None},
            },
            "f",
        ),
        delete(_CLASSES),
    ],
    "an ingress gets the default ingress class": [
        create(
            _INGRESS_CLASSES,
            {"metadata": _marked("ingressclass"), "spec": {"controller": "example.com/a"}},
        ),
        *_PAUSE,
        create(_INGRESSES, {"spec": _INGRESS}, "a"),
        create(_INGRESSES, {"spec": {**_INGRESS, "ingressClassName": "own"}}, "b"),
        delete(_INGRESS_CLASSES),
    ],
    "pods get the default priority class": [
        create(_PRIORITIES, {"value": 7, "globalDefault": True, "preemptionPolicy": "Never"}),
        *_PAUSE,
        create(_PODS, _pod(), "a"),
        create(_PODS, _pod(priorityClassName="system-node-critical"), "b"),
        create(_PODS, _pod(priority=3), "c"),
        create(_PRIORITIES, {"value": 8, "globalDefault": True}, "y-{ns}"),
        change(_PRIORITIES, {"description": "the default"}),
        delete(_PRIORITIES),
    ],
    "pods get the topology of their node": [
        create(
            "/api/v1/nodes",
            {
                "metadata": {
                    "labels": {
                        "topology.kubernetes.io/zone": "a",
                        "topology.kubernetes.io/region": "b",
                        "other": "c",
                    }
                }
            },
        ),
        *_PAUSE,
        create(_PODS, _pod(nodeName="x-{ns}"), "a"),
        create(
            _PODS,
            {
                "metadata": {"labels": {"topology.kubernetes.io/zone": "z"}},
                **_pod(nodeName="x-{ns}"),
            },
            "b",
        ),
        create(
            _PODS, {"metadata": {"labels": {"topology.kubernetes.io/zone": "z"}}, **_pod()}, "c"
        ),
        create(f"{_PODS}/c/binding", {"target": {"kind": "Node", "name": "x-{ns}"}}, "c"),
        ("GET", f"{_PODS}/c", None),
        delete("/api/v1/nodes"),
    ],
    "a pod is replaced by its manifest": [
        create(_PODS, _pod(), "a"),
        ("PUT", f"{_PODS}/a", {"metadata": {"name": "a", "labels": {"b": "c"}}, **_pod()}),
        (
            "PUT",
            f"{_PODS}/a",
            {"metadata": {"name": "a"}, **_pod(tolerations=[{"key": "x", "operator": "Exists"}])},
        ),
        ("PUT", f"{_PODS}/a", {"metadata": {"name": "a"}, **_pod()}),
    ],
    "pods in a baseline namespace": _restricted(
        *rejections(_RESTRICTED_PODS, *_BASELINE, name="a"),
        *rejections(_RESTRICTED_PODS, _pod(), _SAFE, name="a"),
        enforce="baseline",
    ),
    "pods in a restricted namespace": _restricted(
        *rejections(_RESTRICTED_PODS, *_RESTRICTED, name="a"),
        enforce="restricted",
    ),
    "workloads in a restricted namespace": _restricted(
        create(
            f"{_DEPLOYMENTS}?dryRun=All",
            {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": _TEMPLATE}},
            "a",
        ),
        create(
            f"{_CRON_JOBS}?dryRun=All",
            {
                "spec": {
                    "schedule": "0 0 * * *",
                    "jobTemplate": {
                        "spec": {
                            "template": {
                                "spec": {**_pod()["spec"], "restartPolicy": "Never"},
                            }
                        }
                    },
                }
            },
            "a",
        ),
        enforce="restricted",
    ),
    "warnings about pods": _restricted(
        create(_RESTRICTED_PODS, _pod(), "a"),
        create(_RESTRICTED_PODS, _SAFE, "b"),
        change(_RESTRICTED_PODS, {"metadata": {"labels": {"a": "b"}}}, "a"),
        change(_RESTRICTED_PODS, {"spec": {"containers": [{"name": "a", "image": "other"}]}}, "a"),
        warn="restricted",
    ),
    "warnings differ from what is enforced": _restricted(
        create(_RESTRICTED_PODS, _pod(), "a"),
        create(_RESTRICTED_PODS, _secured(privileged=True), "b"),
        enforce="baseline",
        warn="restricted",
        audit="restricted",
    ),
    "no warnings about what is enforced": _restricted(
        create(_RESTRICTED_PODS, _pod(), "a"),
        create(_RESTRICTED_PODS, _secured(privileged=True), "b"),
        enforce="baseline",
        warn="privileged",
    ),
    "an older version of the standards": _restricted(
        create(_RESTRICTED_PODS, _secured(privileged=True), "a"),
        enforce="baseline",
        enforce_version="v1.30",
    ),
    "a stricter level warns about existing pods": [
        create(_PODS, _secured(privileged=True), "a"),
        create(_PODS, _secured(privileged=True), "b"),
        create(_PODS, _pod(hostNetwork=True), "c"),
        *_PAUSE,
        _restrict(enforce="baseline"),
        _restrict(enforce="restricted"),
        _restrict(enforce="privileged"),
    ],
    "wrong labels of pod security": [
        _restrict(enforce="strict"),
        _restrict(enforce_version="newest"),
        _restrict(warn="none", audit="none", audit_version="1.25"),
        create(
            f"{_NAMESPACES}?dryRun=All",
            {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "x"}}},
        ),
    ],
    "a pod that violates a new level can change": [
        create(_PODS, _pod(), "p"),
        *_PAUSE,
        _restrict(enforce="restricted"),
        *_PAUSE,
        change(_PODS, {"metadata": {"labels": {"a": "b"}}}, "p"),
        change(_PODS, {"spec": {"containers": [{"name": "a", "image": "other"}]}}, "p"),
    ],
}
