"""The defaults of pods and pod templates, as `SetDefaults_Pod` and `SetDefaults_PodSpec`.

Guarantees: pure and idempotent.
See also: the kinds that have templates (`apps`, `batch`), what is only set at the creation of a
pod (`core.pod`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from kubeloop.wire import JsonObject

from ...values.json_values import map_field, map_items, with_defaults, without
from ...values.zero_values import complete_type
from .spec_cache import cached_by_content

__all__ = [
    "complete_pod_spec",
    "default_pod",
    "default_template",
    "default_volume_sources",
    "pull_policy",
]

_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_FILE_MODE: Final = 0o644
_VOLUME_SOURCES: Final[Mapping[str, JsonObject]] = {
    "secret": {"defaultMode": _FILE_MODE},
    "configMap": {"defaultMode": _FILE_MODE},
    "downwardAPI": {"defaultMode": _FILE_MODE},
    "projected": {"defaultMode": _FILE_MODE},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {
        "cachingMode": "ReadWrite",
        "kind": "Shared",
        "fsType": "ext4",
        "readOnly": False,
    },
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}
_PROBE: Final = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}


def default_pod(obj: JsonObject) -> JsonObject:
    """The defaults of a pod; some of them do not apply to templates."""
    obj = map_field(obj, "spec", _default_spec_of_pod, make=True)
    return map_field(obj, "status", _pod_ips)


@cached_by_content
def _default_spec_of_pod(spec: JsonObject) -> JsonObject:
    return complete_pod_spec(_default_pod_spec(_pod_only(spec)))


def complete_pod_spec(spec: JsonObject) -> JsonObject:
    """A pod's spec as Go writes it."""
    found: JsonObject = complete_type("core/v1.PodSpec")(spec)
    return found


def _pod_only(spec: JsonObject) -> JsonObject:
    # `SetDefaults_Pod`.
    spec = with_defaults(spec, {"enableServiceLinks": True})
    grace = spec.get("terminationGracePeriodSeconds")
    if isinstance(grace, int) and grace < 0:
        spec = {**spec, "terminationGracePeriodSeconds": 1}
    if spec.get("hostNetwork"):
        spec = map_items(spec, ("containers", "initContainers"), _host_ports)
    return map_items(spec, ("containers", "initContainers"), _requests_from_limits)


def _host_ports(container: JsonObject) -> JsonObject:
    # `defaultHostNetworkPorts`: both ports are the same in the host's network.
    return map_items(
        container,
        "ports",
        lambda port: (
            port
            if port.get("hostPort")
            else {**port, "hostPort": port["containerPort"]}
            if "containerPort" in port
            else port
        ),
    )


def _requests_from_limits(container: JsonObject) -> JsonObject:
    # For pods only: templates keep what the user wrote.
    def fill(resources: JsonObject) -> JsonObject:
        limits = resources.get("limits")
        if not limits:
            return resources
        requests = resources.get("requests") or {}
        return with_defaults(resources, {"requests": {}}) | {"requests": {**limits, **requests}}

    return map_field(container, "resources", fill)


def _pod_ips(status: JsonObject) -> JsonObject:
    # The conversion from the internal version keeps both fields equal.
    single, several = status.get("podIP"), status.get("podIPs")
    if single and (not several or several[0].get("ip") != single):
        return {**status, "podIPs": [{"ip": single}]}
    if several and not single:
        return {**status, "podIP": several[0].get("ip")}
    return status


def default_template(obj: JsonObject) -> JsonObject:
    """The defaults of a pod template."""
    obj = with_defaults(obj, {"metadata": {}})
    return map_field(obj, "spec", _default_pod_spec, make=True)


def _default_pod_spec(spec: JsonObject) -> JsonObject:
    """The defaults of a pod's spec, its containers and its volumes."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec = with_defaults(spec, {"serviceAccountName": account})
        spec = (
            spec if spec.get("serviceAccount") == account else {**spec, "serviceAccount": account}
        )
    spec = with_defaults(
        spec,
        {
            "dnsPolicy": "ClusterFirst",
            "restartPolicy": "Always",
            "securityContext": {},
            "terminationGracePeriodSeconds": 30,
            "schedulerName": "default-scheduler",
        },
    )
    spec = map_items(spec, _CONTAINERS, _container)
    return map_items(spec, "volumes", _volume)


def _container(container: JsonObject) -> JsonObject:
    # `SetDefaults_Container`.
    container = with_defaults(
        container,
        {
            "imagePullPolicy": pull_policy(str(container.get("image") or "")),
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "resources": {},
        },
    )
    container = map_items(container, "ports", lambda port: with_defaults(port, {"protocol": "TCP"}))
    container = map_items(container, "env", _env)
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        container = map_field(container, name, _probe)
    container = map_field(container, "lifecycle", _lifecycle)
    return without(container, "lifecycle") if container.get("lifecycle") == {} else container


def pull_policy(image: str) -> str:
    """`Always` for the tag latest, explicit or implied; not for a digest without a tag."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or (not tag and not digest) else "IfNotPresent"


def _env(variable: JsonObject) -> JsonObject:
    return map_field(variable, "valueFrom", _field_source)


def _field_source(source: JsonObject) -> JsonObject:
    source = map_field(source, "fieldRef", lambda ref: with_defaults(ref, {"apiVersion": "v1"}))
    return map_field(source, "resourceFieldRef", lambda ref: with_defaults(ref, {"divisor": "0"}))


def _probe(probe: JsonObject) -> JsonObject:
    # In a probe a zero counts as unset, because the Go fields are no pointers.
    set_fields = {key: value for key, value in probe.items() if key not in _PROBE or value}
    probe = with_defaults(probe if len(set_fields) == len(probe) else set_fields, _PROBE)
    return _action(probe)


def _action(action: JsonObject) -> JsonObject:
    action = map_field(
        action, "httpGet", lambda get: with_defaults(get, {"path": "/", "scheme": "HTTP"})
    )
    return map_field(
        action, "grpc", lambda call: {"service": "", **call} if "service" not in call else call
    )


def _lifecycle(lifecycle: JsonObject) -> JsonObject:
    # The gate ContainerStopSignals is off by default: the field is dropped.
    lifecycle = without(lifecycle, "stopSignal")
    return map_field(map_field(lifecycle, "postStart", _action), "preStop", _action)


def _volume(volume: JsonObject) -> JsonObject:
    # `SetDefaults_Volume`: without a source it is an empty directory.
    if not volume.keys() - {"name"}:
        return {**volume, "emptyDir": {}}
    volume = default_volume_sources(volume)
    volume = map_field(volume, "downwardAPI", _downward)
    volume = map_field(
        volume, "projected", lambda source: map_items(source, "sources", _projection)
    )
    volume = map_field(volume, "image", _image_volume)
    return map_field(volume, "ephemeral", _ephemeral)


def default_volume_sources(volume: JsonObject) -> JsonObject:
    """The defaults of the volume source of a pod's volume or of a persistent volume."""
    for name, defaults in _VOLUME_SOURCES.items():
        volume = map_field(volume, name, functools.partial(_source, defaults=defaults))
    return volume


def _source(source: JsonObject, defaults: JsonObject) -> JsonObject:
    # An empty text is a default too, where Go has a pointer (the type of a host path).
    source = with_defaults(source, defaults)
    missing = {key: value for key, value in defaults.items() if key not in source}
    return {**source, **missing} if missing else source


def _downward(source: JsonObject) -> JsonObject:
    return map_items(source, "items", _field_source)


def _projection(source: JsonObject) -> JsonObject:
    source = map_field(source, "downwardAPI", _downward)
    token = {"expirationSeconds": 3600}
    return map_field(source, "serviceAccountToken", lambda value: with_defaults(value, token))


def _image_volume(source: JsonObject) -> JsonObject:
    return with_defaults(source, {"pullPolicy": pull_policy(str(source.get("reference") or ""))})


def _ephemeral(source: JsonObject) -> JsonObject:
    mode = {"volumeMode": "Filesystem"}
    return map_field(
        source,
        "volumeClaimTemplate",
        lambda claim: map_field(claim, "spec", lambda spec: with_defaults(spec, mode)),
    )
