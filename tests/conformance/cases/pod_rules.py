"""Rules and defaults of pods, asked of kube-apiserver and of the embedded server.

Each case is a list of requests; `{ns}` is a fresh namespace.
"""

from __future__ import annotations

from typing import Any

_PODS = "/api/v1/namespaces/{ns}/pods"
_MERGE = {"Content-Type": "application/merge-patch+json"}
_JSON_PATCH = {"Content-Type": "application/json-patch+json"}


def _pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A pod with one container and these fields in the container and in the spec."""
    containers = [{"name": "a", "image": "i:1", **(container or {})}]
    return {"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


def _create(container: dict[str, Any] | None = None, **spec: Any) -> list[tuple[Any, ...]]:
    return [("POST", _PODS, _pod(container, **spec))]


def _volumes(*sources: dict[str, Any]) -> list[tuple[Any, ...]]:
    """A pod with one volume for each source."""
    return _create(
        volumes=[{"name": f"v{number}", **source} for number, source in enumerate(sources)]
    )


def _patch(patch: Any, **spec: Any) -> list[tuple[Any, ...]]:
    return [*_create(**spec), ("PATCH", f"{_PODS}/p", {"spec": patch}, _MERGE)]


CASES: dict[str, list[tuple[Any, ...]]] = {
    "a pod without a spec": [("POST", _PODS, {"metadata": {"name": "p"}})],
    "a minimal pod": _create(),
    "a pod with bad policies": _create(
        restartPolicy="Sometimes",
        dnsPolicy="Wrong",
        preemptionPolicy="Maybe",
        hostname="A.b",
        subdomain="x_y",
        nodeName="A b",
        serviceAccountName="A_b",
        schedulerName="A_b",
        priorityClassName="none-such",
        terminationGracePeriodSeconds=-5,
        activeDeadlineSeconds=0,
    ),
    "a pod with an unknown priority class": _create(priorityClassName="none-such"),
    "a pod with a system priority class": _create(priorityClassName="system-node-critical"),
    "a pod with a priority that is not its class's": _create(priority=7),
    "a pod with an unknown runtime class": _create(runtimeClassName="none-such"),
    "a pod with overhead but no runtime class": _create(overhead={"cpu": "1"}),
    "image pull secrets without names": _create(imagePullSecrets=[{}, {"name": "a"}]),
    "host aliases that are no addresses": _create(
        hostAliases=[{"ip": "bad", "hostnames": ["A_b"]}, {"ip": "01.2.3.4", "hostnames": ["a"]}]
    ),
    "host aliases with the host's network": _create(
        hostNetwork=True, hostAliases=[{"ip": "1.2.3.4", "hostnames": ["a"]}]
    ),
    "readiness gates": _create(readinessGates=[{"conditionType": "A b"}, {}]),
    "scheduling gates": _create(schedulingGates=[{"name": "A b"}, {"name": "a"}, {"name": "a"}]),
    "scheduling gates with a node": _create(schedulingGates=[{"name": "a"}], nodeName="n"),
    "a pod with scheduling gates": _create(schedulingGates=[{"name": "a"}]),
    "topology spread constraints": _create(
        topologySpreadConstraints=[
            {},
            {
                "maxSkew": -1,
                "topologyKey": "a b",
                "whenUnsatisfiable": "Perhaps",
                "minDomains": 0,
                "nodeAffinityPolicy": "x",
                "nodeTaintsPolicy": "y",
                "matchLabelKeys": ["a", "b c"],
                "labelSelector": {"matchLabels": {"a": "b c"}},
            },
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "minDomains": 2,
                "labelSelector": {"matchLabels": {"a": "b"}},
                "matchLabelKeys": ["a"],
            },
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "matchLabelKeys": ["q"],
            },
        ]
    ),
    "node affinity": _create(
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []},
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 0, "preference": {"matchExpressions": [{"key": "a b"}]}},
                    {
                        "weight": 101,
                        "preference": {
                            "matchExpressions": [
                                {"key": "a", "operator": "In"},
                                {"key": "a", "operator": "Exists", "values": ["b"]},
                                {"key": "a", "operator": "Gt", "values": ["b", "c"]},
                                {"key": "a", "operator": "Lt", "values": ["x"]},
                                {"key": "a", "operator": "Wrong", "values": ["x"]},
                            ],
                            "matchFields": [
                                {"key": "metadata.uid", "operator": "In", "values": ["x"]},
                                {"key": "metadata.name", "operator": "In", "values": ["A b"]},
                                {"key": "metadata.name", "operator": "In", "values": ["a", "b"]},
                                {"key": "metadata.name", "operator": "Exists"},
                            ],
                        },
                    },
                ],
            }
        }
    ),
    "required node affinity": _create(
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "", "operator": "NotIn"}]},
                        {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]},
                        {},
                    ]
                }
            }
        }
    ),
    "pod affinity": _create(
        affinity={
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {},
                    {
                        "topologyKey": "a b",
                        "namespaces": ["A_b"],
                        "labelSelector": {"matchExpressions": [{"key": "a", "operator": "X"}]},
                        "namespaceSelector": {"matchLabels": {"a b": "c"}},
                    },
                ],
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 0, "podAffinityTerm": {"topologyKey": ""}},
                    {
                        "weight": 101,
                        "podAffinityTerm": {
                            "topologyKey": "zone",
                            "matchLabelKeys": ["a"],
                            "mismatchLabelKeys": ["a"],
                            "labelSelector": {"matchLabels": {"a": "b"}},
                        },
                    },
                ],
            },
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "zone", "matchLabelKeys": ["q"]},
                    {"topologyKey": "", "labelSelector": {}},
                ],
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": -1, "podAffinityTerm": {"topologyKey": "zone"}}
                ],
            },
        }
    ),
    "pod affinity with label keys": [
        (
            "POST",
            _PODS,
            {
                "metadata": {"name": "p", "labels": {"app": "web", "tier": "x"}},
                "spec": {
                    "containers": [{"name": "a", "image": "i:1"}],
                    "affinity": {
                        "podAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": [
                                {
                                    "topologyKey": "zone",
                                    "matchLabelKeys": ["app"],
                                    "mismatchLabelKeys": ["tier"],
                                    "labelSelector": {},
                                }
                            ]
                        }
                    },
                    "topologySpreadConstraints": [
                        {
                            "maxSkew": 1,
                            "topologyKey": "zone",
                            "whenUnsatisfiable": "DoNotSchedule",
                            "matchLabelKeys": ["app"],
                            "labelSelector": {},
                        }
                    ],
                },
            },
        )
    ],
    "tolerations": _create(
        tolerations=[
            {"key": "a b", "operator": "Equal"},
            {"operator": "Equal", "value": "x"},
            {"key": "a", "operator": "Exists", "value": "x"},
            {"key": "a", "operator": "Wrong"},
            {"key": "a", "effect": "Wrong"},
            {"key": "a", "tolerationSeconds": 5},
            {"key": "a", "operator": "Equal", "value": "b c"},
            {"key": "a", "operator": "Gt", "value": "5"},
            {"key": "a", "operator": "Lt", "value": "x"},
        ]
    ),
    "dns config": _create(
        dnsPolicy="None",
        dnsConfig={
            "nameservers": ["a", "1.2.3.4", "1.2.3.4", "1.2.3.5"],
            "searches": ["A_b", "a b"],
            "options": [{}, {"name": "x", "value": "1"}],
        },
    ),
    "dns policy None without nameservers": _create(dnsPolicy="None"),
    "an unknown os": _create(os={"name": "plan9"}),
    "an os without a name": _create(os={}),
    "linux fields on windows": _create(
        {"securityContext": {"privileged": True, "runAsUser": 1, "capabilities": {"add": ["A"]}}},
        os={"name": "windows"},
        hostPID=True,
        hostIPC=True,
        hostUsers=False,
        shareProcessNamespace=True,
        securityContext={
            "runAsUser": 1,
            "fsGroup": 2,
            "seLinuxOptions": {"level": "a"},
            "seccompProfile": {"type": "RuntimeDefault"},
            "sysctls": [{"name": "a.b", "value": "1"}],
            "supplementalGroups": [1],
            "runAsGroup": 3,
            "fsGroupChangePolicy": "Always",
        },
    ),
    "windows fields on linux": _create(
        {"securityContext": {"windowsOptions": {"runAsUserName": "x"}}},
        os={"name": "linux"},
        securityContext={"windowsOptions": {"gmsaCredentialSpecName": "x"}},
    ),
    "windows options": _create(
        {"securityContext": {"windowsOptions": {"hostProcess": True, "runAsUserName": ""}}},
        securityContext={
            "windowsOptions": {
                "gmsaCredentialSpecName": "A b",
                "gmsaCredentialSpec": "",
                "runAsUserName": "a\\b\\c",
                "hostProcess": False,
            }
        },
    ),
    "the security context of a pod": _create(
        securityContext={
            "runAsUser": -1,
            "runAsGroup": -2,
            "fsGroup": -3,
            "supplementalGroups": [-4],
            "fsGroupChangePolicy": "Wrong",
            "supplementalGroupsPolicy": "Wrong",
            "seLinuxChangePolicy": "Wrong",
            "sysctls": [
                {"name": "A B", "value": "1"},
                {"name": "", "value": "1"},
                {"name": "kernel.shm_rmid_forced", "value": "1"},
                {"name": "kernel.shm_rmid_forced", "value": "1"},
            ],
            "seccompProfile": {"type": "Localhost"},
            "appArmorProfile": {"type": "RuntimeDefault", "localhostProfile": "x"},
        }
    ),
    "seccomp and apparmor profiles": _create(
        {
            "securityContext": {
                "seccompProfile": {"type": "Wrong"},
                "appArmorProfile": {"type": "Localhost"},
            }
        },
        securityContext={
            "seccompProfile": {"type": "RuntimeDefault", "localhostProfile": "x"},
            "appArmorProfile": {"type": "Localhost", "localhostProfile": " "},
        },
    ),
    "an absolute seccomp profile": _create(
        {"securityContext": {"seccompProfile": {"type": ""}}},
        securityContext={"seccompProfile": {"type": "Localhost", "localhostProfile": "/a/../b"}},
    ),
    "the security context of a container": _create(
        {
            "securityContext": {
                "privileged": True,
                "allowPrivilegeEscalation": False,
                "runAsUser": -1,
                "runAsGroup": -2,
                "procMount": "Wrong",
            }
        }
    ),
    "a proc mount with host users": _create({"securityContext": {"procMount": "Unmasked"}}),
    "host ports that differ in the host's network": _create(
        {"ports": [{"containerPort": 80, "hostPort": 81}, {"containerPort": 82}]},
        hostNetwork=True,
    ),
    "container ports": _create(
        {
            "ports": [
                {},
                {"containerPort": 70000, "hostPort": -1, "protocol": "X", "hostIP": "bad"},
                {"containerPort": 1, "name": "UPPER"},
                {"containerPort": 2, "name": "a-name-that-is-far-too-long"},
                {"containerPort": 3, "name": "ok"},
                {"containerPort": 4, "name": "ok"},
                {"containerPort": 5, "hostPort": 99, "hostIP": "01.2.3.4"},
                {"containerPort": 5, "hostPort": 99},
            ]
        }
    ),
    "the same host port twice": _create(
        {"ports": [{"containerPort": 5, "hostPort": 99}, {"containerPort": 6, "hostPort": 99}]}
    ),
    "environment variables": _create(
        {
            "env": [
                {},
                {"name": "a=b"},
                {"name": "ok", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}},
                {"name": "f", "valueFrom": {}},
                {"name": "g", "valueFrom": {"fieldRef": {}}},
                {"name": "g2", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}},
                {"name": "g3", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['A b']"}}},
                {
                    "name": "g4",
                    "valueFrom": {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v2"}},
                },
                {"name": "h", "valueFrom": {"configMapKeyRef": {}}},
                {"name": "i", "valueFrom": {"secretKeyRef": {"name": "a", "key": "a/b"}}},
                {"name": "j", "valueFrom": {"resourceFieldRef": {}}},
                {"name": "k", "valueFrom": {"resourceFieldRef": {"resource": "limits.x"}}},
                {
                    "name": "l",
                    "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2"}},
                },
                {
                    "name": "m",
                    "valueFrom": {
                        "resourceFieldRef": {"resource": "limits.memory", "divisor": "1Ki"},
                        "fieldRef": {"fieldPath": "metadata.name"},
                    },
                },
                {
                    "name": "n",
                    "valueFrom": {
                        "resourceFieldRef": {"resource": "requests.memory", "divisor": "3"}
                    },
                },
                {"name": "o", "valueFrom": {"fileKeyRef": {}}},
            ]
        }
    ),
    "sources of environment variables": _create(
        {
            "envFrom": [
                {},
                {"prefix": "a=b", "configMapRef": {"name": "a"}},
                {"configMapRef": {}},
                {"secretRef": {"name": "A_b"}},
                {"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}},
            ]
        }
    ),
    "valid environment variables": _create(
        {
            "env": [
                {"name": "a.b-c_d", "value": ""},
                {"name": "b", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "c", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                {"name": "d", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "k"}}},
            ],
            "envFrom": [{"prefix": "P", "secretRef": {"name": "s", "optional": True}}],
        }
    ),
    "probes": _create(
        {
            "livenessProbe": {"successThreshold": 2, "exec": {"command": []}},
            "readinessProbe": {
                "httpGet": {"port": 0, "path": "x", "scheme": "FTP", "httpHeaders": [{"name": ""}]},
                "tcpSocket": {"port": "UPPER"},
                "initialDelaySeconds": -1,
                "timeoutSeconds": -2,
                "periodSeconds": -3,
                "successThreshold": -4,
                "failureThreshold": -5,
                "terminationGracePeriodSeconds": 5,
            },
            "startupProbe": {"grpc": {"port": 0}, "terminationGracePeriodSeconds": 0},
        }
    ),
    "a probe without a handler": _create({"livenessProbe": {}}),
    "valid probes": _create(
        {
            "livenessProbe": {"exec": {"command": ["a"]}, "terminationGracePeriodSeconds": 3},
            "readinessProbe": {"httpGet": {"port": "web"}},
            "startupProbe": {"grpc": {"port": 5}},
        }
    ),
    "lifecycle handlers": _create(
        {
            "lifecycle": {
                "postStart": {},
                "preStop": {"sleep": {"seconds": 100}, "exec": {"command": []}},
            }
        }
    ),
    "a valid lifecycle": _create(
        {
            "lifecycle": {
                "postStart": {"httpGet": {"port": 80}},
                "preStop": {"sleep": {"seconds": 3}},
            }
        }
    ),
    "a stop signal": _create({"lifecycle": {"stopSignal": "SIGTERM"}}),
    "a stop signal with an os": _create(
        {"lifecycle": {"stopSignal": "SIGWRONG"}}, os={"name": "linux"}
    ),
    "containers with bad fields": _create(
        {
            "name": "A_b",
            "image": " ",
            "imagePullPolicy": "Wrong",
            "terminationMessagePolicy": "Wrong",
            "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "X"}, {}],
            "restartPolicy": "Wrong",
            "volumeDevices": [{"name": "x", "devicePath": "../a"}, {}],
            "volumeMounts": [
                {"name": "none", "mountPath": "/a"},
                {"name": "v", "mountPath": ""},
                {"name": "v", "mountPath": "/a"},
                {"name": "v", "mountPath": "/b", "subPath": "../x"},
                {"name": "v", "mountPath": "/c", "subPath": "/x"},
                {"name": "v", "mountPath": "/d", "subPath": "a", "subPathExpr": "b"},
                {"name": "v", "mountPath": "/e", "mountPropagation": "Wrong"},
                {"name": "v", "mountPath": "/f", "mountPropagation": "Bidirectional"},
                {"name": "v", "mountPath": "/g", "recursiveReadOnly": "Enabled"},
                {"name": "v", "mountPath": "/h", "recursiveReadOnly": "Wrong", "readOnly": True},
                {"mountPath": "/i"},
            ],
        },
        volumes=[{"name": "v"}],
    ),
    "containers with the same name": _create(
        initContainers=[{"name": "a", "image": "i"}, {"name": "b", "image": "i"}],
        ephemeralContainers=[{"name": "b", "image": "i"}],
    ),
    "no containers": [("POST", _PODS, {"metadata": {"name": "p"}, "spec": {"containers": []}})],
    "init containers": _create(
        initContainers=[
            {"name": "b", "image": "i", "livenessProbe": {"exec": {"command": ["a"]}}},
            {"name": "c", "image": "i", "lifecycle": {"preStop": {"exec": {"command": ["a"]}}}},
            {"name": "d", "image": "i", "restartPolicy": "Always"},
            {"name": "e", "image": "i", "restartPolicy": "Never"},
            {
                "name": "f",
                "image": "i",
                "restartPolicy": "Always",
                "readinessProbe": {"exec": {"command": []}},
                "startupProbe": {},
            },
        ]
    ),
    "a valid sidecar": _create(
        initContainers=[
            {
                "name": "s",
                "image": "i",
                "restartPolicy": "Always",
                "startupProbe": {"tcpSocket": {"port": 1}},
            }
        ]
    ),
    "restart policy rules": _create(
        {
            "restartPolicy": "Never",
            "restartPolicyRules": [
                {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}},
                {"action": "Wrong", "exitCodes": {"operator": "X", "values": []}},
            ],
        }
    ),
    "resources": _create(
        {
            "resources": {
                "limits": {
                    "cpu": "-1",
                    "memory": "1",
                    "example.com/x": "1.5",
                    "pods": "1",
                    "hugepages-2Mi": "3Mi",
                    "wrong": "1",
                    "a b": "2",
                },
                "requests": {
                    "memory": "2",
                    "example.com/x": "1",
                    "hugepages-2Mi": "2Mi",
                    "hugepages-1Gi": "1Gi",
                    "ephemeral-storage": "1",
                    "requests.cpu": "1",
                },
                "claims": [{"name": "none"}, {"name": ""}, {"name": "none"}],
            }
        }
    ),
    "huge pages without cpu or memory": _create(
        {"resources": {"limits": {"hugepages-2Mi": "2Mi"}}}
    ),
    "extended resources without limits": _create(
        {"resources": {"requests": {"example.com/x": "1"}}}
    ),
    "quantities are stored in canonical form": _create(
        {
            "resources": {
                "limits": {"cpu": "1000m", "memory": "1024Mi", "ephemeral-storage": "0.5Gi"},
                "requests": {"cpu": 0.1, "memory": 1000},
            }
        }
    ),
    "pod-level resources": _create(
        {"resources": {"requests": {"cpu": "2"}}},
        resources={
            "limits": {"cpu": "1", "ephemeral-storage": "1", "example.com/x": "1"},
            "requests": {"cpu": "1", "memory": "-1"},
            "claims": [{"name": "a"}],
        },
    ),
    "valid pod-level resources": _create(
        {"resources": {"requests": {"cpu": "1"}}},
        resources={"limits": {"cpu": "2", "memory": "1Gi"}},
    ),
    "resource claims": _create(
        {"resources": {"claims": [{"name": "c"}, {"name": "c"}, {"name": "d", "request": "R_r"}]}},
        resourceClaims=[
            {"name": "c"},
            {"name": "c", "resourceClaimName": "x"},
            {"name": "A_b", "resourceClaimName": "x", "resourceClaimTemplateName": "y"},
            {"name": "e", "resourceClaimName": "A_b"},
            {},
        ],
    ),
    "host users with the host's namespaces": _create(
        hostUsers=False, hostNetwork=True, hostPID=True, hostIPC=True
    ),
    "share the process namespace with the host": _create(hostPID=True, shareProcessNamespace=True),
    "set the hostname as the name": _create(setHostnameAsFQDN=True, hostnameOverride="a"),
    "a hostname override": _create(hostnameOverride="A_b"),
    "node selectors": _create(nodeSelector={"a b": "c", "d": "e f"}),
    "ephemeral containers at creation": _create(ephemeralContainers=[{"name": "e", "image": "i"}]),
    "annotations of a pod": [
        (
            "POST",
            _PODS,
            {
                "metadata": {
                    "name": "p",
                    "annotations": {
                        "controller.kubernetes.io/pod-deletion-cost": "x",
                        "container.apparmor.security.beta.kubernetes.io/none": "bad",
                        "seccomp.security.alpha.kubernetes.io/pod": "bad",
                        "kubernetes.io/config.mirror": "x",
                    },
                },
                "spec": {"containers": [{"name": "a", "image": "i"}]},
            },
        )
    ],
    "volumes of the common kinds": _volumes(
        {},
        {"emptyDir": {"sizeLimit": "-1", "medium": "Wrong"}},
        {"hostPath": {"path": "/a/../b", "type": "Wrong"}},
        {"hostPath": {}},
        {"secret": {}},
        {"secret": {"secretName": "s", "defaultMode": 1000}},
        {"secret": {"secretName": "s", "items": [{}, {"key": "a", "path": "../x", "mode": -1}]}},
        {"configMap": {}},
        {"configMap": {"name": "c", "items": [{"key": "a", "path": "/x"}], "defaultMode": -1}},
        {"persistentVolumeClaim": {}},
        {"emptyDir": {}, "hostPath": {"path": "/x"}},
        {"nfs": {}},
        {"nfs": {"server": "s", "path": "relative"}},
        {"gitRepo": {}},
        {"gitRepo": {"repository": "r", "directory": "../x"}},
        {"image": {}},
        {"image": {"reference": "r", "pullPolicy": "X"}},
    ),
    "names of volumes": _create(
        volumes=[{}, {"name": "A_b"}, {"name": "a"}, {"name": "a"}, {"name": "a.b"}]
    ),
    "downward API volumes": _volumes(
        {
            "downwardAPI": {
                "defaultMode": 9999,
                "items": [
                    {"path": "a"},
                    {"path": "/abs", "fieldRef": {"fieldPath": "metadata.labels"}},
                    {"path": "b", "fieldRef": {"fieldPath": "status.podIP"}},
                    {"path": "c", "resourceFieldRef": {"resource": "limits.cpu"}},
                    {
                        "path": "d",
                        "resourceFieldRef": {"resource": "limits.cpu", "containerName": "a"},
                        "fieldRef": {"fieldPath": "metadata.name"},
                    },
                    {"path": "e", "mode": 5000, "fieldRef": {"fieldPath": "metadata.uid"}},
                    {"fieldRef": {"fieldPath": "metadata.uid"}},
                ],
            }
        }
    ),
    "projected volumes": _volumes(
        {"projected": {"sources": [{}, {"secret": {}}, {"configMap": {}}]}},
        {
            "projected": {
                "defaultMode": -1,
                "sources": [
                    {"serviceAccountToken": {"path": ""}},
                    {"serviceAccountToken": {"path": "t", "expirationSeconds": 5}},
                    {"serviceAccountToken": {"path": "/abs", "expirationSeconds": 4294967297}},
                    {"secret": {"name": "s"}, "configMap": {"name": "c"}},
                    {"secret": {"name": "s", "items": [{"key": "a", "path": "t"}]}},
                    {"configMap": {"name": "s", "items": [{"key": "a", "path": "t"}]}},
                    {"clusterTrustBundle": {"path": "x"}},
                    {"clusterTrustBundle": {"path": "y", "name": "n", "signerName": "s"}},
                    {"podCertificate": {}},
                ],
            }
        },
    ),
    "valid projected volumes": _volumes(
        {
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"path": "t"}},
                    {
                        "downwardAPI": {
                            "items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]
                        }
                    },
                    {"secret": {"name": "s"}},
                ]
            }
        }
    ),
    "volumes of networks and clouds": _volumes(
        {"iscsi": {}},
        {"iscsi": {"targetPortal": "p", "iqn": "bad", "lun": 300}},
        {
            "iscsi": {
                "targetPortal": "p",
                "iqn": "iqn.2001-04.com.example:x",
                "lun": 1,
                "chapAuthSession": True,
            }
        },
        {"glusterfs": {}},
        {"rbd": {}},
        {"cinder": {}},
        {"cephfs": {}},
        {"flocker": {}},
        {"fc": {}},
        {"fc": {"targetWWNs": ["a"], "wwids": ["b"]}},
        {"fc": {"targetWWNs": ["a"], "lun": 300}},
        {"flexVolume": {}},
        {"azureFile": {}},
        {"azureDisk": {}},
        {"azureDisk": {"diskName": "d", "diskURI": "https://x", "kind": "Managed"}},
        {"vsphereVolume": {}},
        {"quobyte": {}},
        {"photonPersistentDisk": {}},
        {"portworxVolume": {}},
        {"scaleIO": {}},
        {"storageos": {}},
        {"csi": {}},
        {"csi": {"driver": "A b", "nodePublishSecretRef": {}}},
        {"gcePersistentDisk": {}},
        {"gcePersistentDisk": {"pdName": "p", "partition": 300}},
        {"awsElasticBlockStore": {}},
        {"awsElasticBlockStore": {"volumeID": "p", "partition": -1}},
        {"ephemeral": {}},
        {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        {
            "ephemeral": {
                "volumeClaimTemplate": {
                    "metadata": {"name": "x", "labels": {"a b": "c"}},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    },
                }
            }
        },
    ),
    "defaults of volumes": _volumes(
        {},
        {"hostPath": {"path": "/a"}},
        {"secret": {"secretName": "s"}},
        {"configMap": {"name": "s"}},
        {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        {"iscsi": {"targetPortal": "p", "iqn": "iqn.2001-04.com.example:x", "lun": 1}},
        {"rbd": {"monitors": ["a"], "image": "b"}},
        {"azureDisk": {"diskName": "d", "diskURI": "https://x"}},
        {"scaleIO": {"gateway": "g", "system": "s", "volumeName": "v", "secretRef": {"name": "s"}}},
        {"image": {"reference": "r"}},
        {"csi": {"driver": "d.example.com"}},
        {"nfs": {"server": "s", "path": "/a"}},
        {
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    }
                }
            }
        },
        {"projected": {"sources": [{"serviceAccountToken": {"path": "a"}}]}},
    ),
    "devices and mounts of the same volume": _create(
        {
            "volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "w", "mountPath": "/w"}],
            "volumeDevices": [
                {"name": "v", "devicePath": "/a"},
                {"name": "w", "devicePath": "/b"},
                {"name": "w", "devicePath": "/b"},
                {"name": "none", "devicePath": "/c"},
            ],
        },
        volumes=[{"name": "v"}, {"name": "w", "persistentVolumeClaim": {"claimName": "c"}}],
    ),
    # --- updates
    "change the image of a pod": _patch({"containers": [{"name": "a", "image": "i:2"}]}),
    "change the command of a pod": _patch(
        {"containers": [{"name": "a", "image": "i:1", "command": ["x"]}]}
    ),
    "change the image to nothing": [
        *_create(),
        (
            "PATCH",
            f"{_PODS}/p",
            [{"op": "replace", "path": "/spec/containers/0/image", "value": ""}],
            _JSON_PATCH,
        ),
    ],
    "add a container to a pod": _patch(
        {"containers": [{"name": "a", "image": "i:1"}, {"name": "b", "image": "i"}]}
    ),
    "change the resources of a pod": [
        *_create({"resources": {"requests": {"cpu": "1"}}}),
        (
            "PATCH",
            f"{_PODS}/p",
            [{"op": "replace", "path": "/spec/containers/0/resources/requests/cpu", "value": "2"}],
            _JSON_PATCH,
        ),
    ],
    "resize a pod": [
        *_create({"resources": {"requests": {"cpu": "1"}}}),
        (
            "PATCH",
            f"{_PODS}/p/resize",
            [{"op": "replace", "path": "/spec/containers/0/resources/requests/cpu", "value": "2"}],
            _JSON_PATCH,
        ),
        (
            "PATCH",
            f"{_PODS}/p/resize",
            [{"op": "replace", "path": "/spec/containers/0/resources/requests/cpu", "value": "-2"}],
            _JSON_PATCH,
        ),
        (
            "PATCH",
            f"{_PODS}/p/resize",
            [
                {
                    "op": "add",
                    "path": "/spec/containers/0/resources/limits",
                    "value": {"cpu": "2", "memory": "1"},
                }
            ],
            _JSON_PATCH,
        ),
        (
            "PATCH",
            f"{_PODS}/p/resize",
            [{"op": "add", "path": "/spec/containers/0/image", "value": "other"}],
            _JSON_PATCH,
        ),
    ],
    "set a deadline later": _patch({"activeDeadlineSeconds": 10}),
    "shorten a deadline": _patch({"activeDeadlineSeconds": 5}, activeDeadlineSeconds=10),
    "prolong a deadline": _patch({"activeDeadlineSeconds": 15}, activeDeadlineSeconds=10),
    "remove a deadline": _patch({"activeDeadlineSeconds": None}, activeDeadlineSeconds=10),
    "a negative deadline": _patch({"activeDeadlineSeconds": -1}, activeDeadlineSeconds=10),
    "replace the tolerations": _patch({"tolerations": []}),
    "change the grace period": _patch({"terminationGracePeriodSeconds": 1}),
    "change the node": _patch({"nodeName": "n"}),
    "change the node of a scheduled pod": _patch({"nodeName": "n"}, nodeName="m"),
    "change the priority": _patch({"priority": 5}),
    "change the restart policy": _patch({"restartPolicy": "Never"}),
    "change the service account": _patch({"serviceAccountName": "x"}),
    "add a scheduling gate": _patch({"schedulingGates": [{"name": "g"}]}),
    "remove a scheduling gate": _patch(
        {"schedulingGates": []}, schedulingGates=[{"name": "a"}, {"name": "b"}]
    ),
    "add another scheduling gate": _patch(
        {"schedulingGates": [{"name": "a"}, {"name": "c"}]},
        schedulingGates=[{"name": "a"}, {"name": "b"}],
    ),
    "a gated pod gets a node selector": _patch(
        {"nodeSelector": {"a": "b"}}, schedulingGates=[{"name": "a"}]
    ),
    "a gated pod loses a node selector": _patch(
        {"nodeSelector": {"a": None}}, schedulingGates=[{"name": "a"}], nodeSelector={"a": "b"}
    ),
    "a gated pod gets node affinity": _patch(
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
                        ]
                    }
                }
            }
        },
        schedulingGates=[{"name": "a"}],
    ),
    "a gated pod loses node affinity": _patch(
        {"affinity": None},
        schedulingGates=[{"name": "a"}],
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
                    ]
                }
            }
        },
    ),
    "add an ephemeral container": [
        *_create(),
        (
            "PATCH",
            f"{_PODS}/p/ephemeralcontainers",
            {
                "spec": {
                    "ephemeralContainers": [{"name": "e", "image": "i", "targetContainerName": "a"}]
                }
            },
            _MERGE,
        ),
        (
            "PATCH",
            f"{_PODS}/p/ephemeralcontainers",
            {"spec": {"ephemeralContainers": []}},
            _MERGE,
        ),
    ],
    "an ephemeral container with forbidden fields": [
        *_create(),
        (
            "PATCH",
            f"{_PODS}/p/ephemeralcontainers",
            {
                "spec": {
                    "ephemeralContainers": [
                        {
                            "name": "e",
                            "image": "i",
                            "targetContainerName": "none",
                            "ports": [{"containerPort": 1}],
                            "resources": {"limits": {"cpu": "1"}},
                            "livenessProbe": {"exec": {"command": ["a"]}},
                            "lifecycle": {"preStop": {"exec": {"command": ["a"]}}},
                            "volumeMounts": [{"name": "none", "mountPath": "/a", "subPath": "x"}],
                        },
                        {"name": "a", "image": ""},
                    ]
                }
            },
            _MERGE,
        ),
    ],
    "the status of a pod": [
        *_create(),
        (
            "PATCH",
            f"{_PODS}/p/status",
            {
                "status": {
                    "phase": "Running",
                    "podIP": "bad",
                    "podIPs": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}],
                    "hostIPs": [{"ip": "x"}],
                    "nominatedNodeName": "A_b",
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": [
                        {
                            "name": "a",
                            "ready": True,
                            "restartCount": 0,
                            "image": "i",
                            "imageID": "",
                            "state": {"running": {}},
                        }
                    ],
                }
            },
            _MERGE,
        ),
    ],
    "a terminated container runs again": [
        *_create(restartPolicy="Never"),
        (
            "PATCH",
            f"{_PODS}/p/status",
            {
                "status": {
                    "containerStatuses": [
                        {
                            "name": "a",
                            "ready": False,
                            "restartCount": 0,
                            "image": "i",
                            "imageID": "",
                            "state": {"terminated": {"exitCode": 1}},
                        }
                    ]
                }
            },
            _MERGE,
        ),
        (
            "PATCH",
            f"{_PODS}/p/status",
            {
                "status": {
                    "containerStatuses": [
                        {
                            "name": "a",
                            "ready": True,
                            "restartCount": 0,
                            "image": "i",
                            "imageID": "",
                            "state": {"running": {}},
                        }
                    ]
                }
            },
            _MERGE,
        ),
    ],
    "pods by node and twice": [
        *_create(nodeName="n"),
        (
            "POST",
            f"{_PODS}/p/binding",
            {"target": {"kind": "Node", "name": "m"}, "metadata": {"name": "p"}},
        ),
    ],
    "bind a pod to nothing": [
        *_create(),
        ("POST", f"{_PODS}/p/binding", {"target": {}, "metadata": {"name": "p"}}),
        (
            "POST",
            f"{_PODS}/p/binding",
            {"target": {"kind": "X", "name": "A_b"}, "metadata": {"name": "p"}},
        ),
    ],
    "bind a gated pod": [
        *_create(schedulingGates=[{"name": "g"}]),
        ("POST", f"{_PODS}/p/binding", {"target": {"name": "n"}, "metadata": {"name": "p"}}),
    ],
}
