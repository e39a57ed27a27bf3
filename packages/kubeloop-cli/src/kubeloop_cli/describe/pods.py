"""The layouts of pods and of pod templates: containers, volumes, tolerations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from typing import Any

from kubeloop.wire import InvalidArgument, Quantity
from kubeloop_cli.events import age_of

from .page import Json, Page, go_bool, local_time, quantity, selector_text

__all__ = ["add_template", "add_volume_source", "describe_pod"]


def describe_pod(page: Page, pod: Json) -> None:
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    page.add(0, "Name:", metadata.get("name") or "")
    page.add(0, "Namespace:", metadata.get("namespace") or "")
    if spec.get("priority") is not None:
        page.add(0, "Priority:", spec["priority"])
    for title, field in (
        ("Priority Class Name:", "priorityClassName"),
        ("Runtime Class Name:", "runtimeClassName"),
        ("Service Account:", "serviceAccountName"),
    ):
        if spec.get(field):
            page.add(0, title, spec[field])
    node = spec.get("nodeName")
    page.add(0, "Node:", f"{node}/{status.get('hostIP') or ''}" if node else "<none>")
    if status.get("startTime"):
        page.add(0, "Start Time:", local_time(status["startTime"]))
    page.add_labels("Labels", metadata.get("labels"))
    page.add_annotations(metadata.get("annotations"))
    _add_phase(page, metadata, status)
    _add_seccomp(page, 0, spec)
    page.add(0, "IP:", status.get("podIP") or "")
    if status.get("podIPs"):
        page.add(0, "IPs:")
        for each in status["podIPs"]:
            page.add(1, "IP:", each.get("ip") or "")
    else:
        page.add(0, "IPs:", "<none>")
    page.add_controller(pod)
    if status.get("nominatedNodeName"):
        page.add(0, "NominatedNodeName:", status["nominatedNodeName"])
    if spec.get("initContainers"):
        statuses = status.get("initContainerStatuses")
        _add_containers(page, "Init Containers", spec["initContainers"], statuses, pod=pod)
    _add_containers(
        page, "Containers", spec.get("containers") or (), status.get("containerStatuses"), pod=pod
    )
    if spec.get("ephemeralContainers"):
        statuses = status.get("ephemeralContainerStatuses")
        _add_containers(
            page, "Ephemeral Containers", spec["ephemeralContainers"], statuses, pod=pod
        )
    _add_conditions(page, spec, status)
    _add_volumes(page, spec.get("volumes") or ())
    if status.get("qosClass"):
        page.add(0, "QoS Class:", status["qosClass"])
    page.add_labels("Node-Selectors", spec.get("nodeSelector"))
    _add_tolerations(page, spec)
    _add_spread_constraints(page, spec)


def _add_phase(page: Page, metadata: Json, status: Json) -> None:
    if metadata.get("deletionTimestamp") and status.get("reason") != "NodeLost":
        lasts = age_of(metadata["deletionTimestamp"], datetime.now(UTC))
        page.add(0, "Status:", f"Terminating (lasts {lasts})")
        page.add(
            0, "Termination Grace Period:", f"{metadata.get('deletionGracePeriodSeconds') or 0}s"
        )
    else:
        page.add(0, "Status:", status.get("phase") or "")
    if status.get("reason"):
        page.add(0, "Reason:", status["reason"])
    if status.get("message"):
        page.add_value(0, "Message:", status["message"])


def _add_seccomp(page: Page, level: int, holder: Json) -> None:
    profile = (holder.get("securityContext") or {}).get("seccompProfile")
    if profile:
        page.add(level, "SeccompProfile:", profile.get("type") or "")
        if profile.get("localhostProfile"):
            page.add(level, "LocalhostProfile:", profile["localhostProfile"])


def _add_conditions(page: Page, spec: Json, status: Json) -> None:
    conditions = status.get("conditions") or ()
    gates = spec.get("readinessGates") or ()
    if gates:
        page.add(0, "Readiness Gates:")
        page.add(1, "Type", "Status")
        by_type = {each.get("type"): each.get("status") for each in conditions}
        for gate in gates:
            kind = gate.get("conditionType")
            page.add(1, f"{kind} ", f"{by_type.get(kind) or '<none>'} ")
    if conditions:
        page.add(0, "Conditions:")
        page.add(1, "Type", "Status")
        for each in conditions:
            page.add(1, f"{each.get('type')} ", f"{each.get('status')} ")


# --- containers


def _add_containers(
    page: Page,
    title: str,
    containers: Sequence[Json],
    statuses: Sequence[Json] | None = None,
    *,
    pod: Json | None = None,
    indent: str = "",
) -> None:
    """The containers of a pod, or with `indent` of a template, which has no statuses."""
    page.add(0, f"{indent}{title}:{'' if containers else ' <none>'}")
    by_name = {each.get("name"): each for each in statuses or ()}
    for container in containers:
        status = by_name.get(container.get("name"))
        page.add(1, f"{' ' if indent else ''}{container.get('name')}:")
        _add_basics(page, container, status)
        for name in ("command", "args"):
            if container.get(name):
                page.add(2, f"{name.capitalize()}:")
                for argument in container[name]:
                    for line in str(argument).split("\n"):
                        page.add(3, line)
        if status is not None:
            _add_state(page, "State", status.get("state") or {})
            if (status.get("lastState") or {}).get("terminated"):
                _add_state(page, "Last State", status["lastState"])
            page.add(2, "Ready:", "True" if status.get("ready") else "False")
            page.add(2, "Restart Count:", status.get("restartCount") or 0)
        resources = container.get("resources") or {}
        page.add_quantities(2, "Limits", resources.get("limits"))
        page.add_quantities(2, "Requests", resources.get("requests"))
        for name in ("liveness", "readiness", "startup"):
            if container.get(f"{name}Probe"):
                page.add(2, f"{name.capitalize()}:", _probe_text(container[f"{name}Probe"]))
        _add_environment(page, container, pod)
        _add_mounts(page, container)


def _add_basics(page: Page, container: Json, status: Json | None) -> None:
    if status is not None:
        page.add(2, "Container ID:", status.get("containerID") or "")
    page.add(2, "Image:", container.get("image") or "")
    if status is not None:
        page.add(2, "Image ID:", status.get("imageID") or "")
    for title, field in (("Port", "containerPort"), ("Host Port", "hostPort")):
        ports = [
            f"{port.get(field) or 0}/{port.get('protocol') or 'TCP'}"
            + (f" ({port['name']})" if port.get("name") else "")
            for port in container.get("ports") or ()
        ]
        page.add(2, f"{title}{'s' if len(ports) > 1 else ''}:", ", ".join(ports) or "<none>")
    _add_seccomp(page, 2, container)


def _add_state(page: Page, title: str, state: Json) -> None:
    running, ended = state.get("running"), state.get("terminated")
    if running is not None:
        page.add(2, f"{title}:", "Running")
        page.add(3, "Started:", local_time(running.get("startedAt")))
    elif ended is not None:
        page.add(2, f"{title}:", "Terminated")
        for name in ("reason", "message"):
            if ended.get(name):
                page.add_value(3, f"{name.capitalize()}:", ended[name])
        page.add(3, "Exit Code:", ended.get("exitCode") or 0)
        if ended.get("signal"):
            page.add(3, "Signal:", ended["signal"])
        page.add(3, "Started:", local_time(ended.get("startedAt")))
        page.add(3, "Finished:", local_time(ended.get("finishedAt")))
    else:
        page.add(2, f"{title}:", "Waiting")
        reason = (state.get("waiting") or {}).get("reason")
        if reason:
            page.add(3, "Reason:", reason)


def _probe_text(probe: Json) -> str:
    times = (
        f"delay={probe.get('initialDelaySeconds') or 0}s"
        f" timeout={probe.get('timeoutSeconds') or 0}s"
        f" period={probe.get('periodSeconds') or 0}s"
        f" successThreshold={probe.get('successThreshold') or 0}"
        f" failureThreshold={probe.get('failureThreshold') or 0}"
    )
    if program := probe.get("exec"):
        return f"exec [{' '.join(program.get('command') or ())}] {times}"
    if http := probe.get("httpGet"):
        host, port = http.get("host") or "", http.get("port")
        where = f"{f'[{host}]' if ':' in host else host}:{port}" if port else host
        path = str(http.get("path") or "")
        slash = "" if not path or path.startswith("/") else "/"
        scheme = str(http.get("scheme") or "").lower()
        return f"http-get {scheme}://{where}{slash}{path} {times}"
    if socket := probe.get("tcpSocket"):
        return f"tcp-socket {socket.get('host') or ''}:{socket.get('port')} {times}"
    if grpc := probe.get("grpc"):
        return f"grpc <pod>:{grpc.get('port')} {grpc.get('service') or ''} {times}"
    return f"unknown {times}"


def _add_environment(page: Page, container: Json, pod: Json | None) -> None:
    if container.get("envFrom"):
        page.add(2, "Environment Variables from:")
        for each in container["envFrom"]:
            kind, source = (
                ("ConfigMap", each["configMapRef"])
                if each.get("configMapRef")
                else ("Secret", each.get("secretRef") or {})
            )
            prefix = f" with prefix '{each['prefix']}'" if each.get("prefix") else ""
            page.add(3, source.get("name") or "", f"{kind}{prefix}", _optional(source))
    if not container.get("env"):
        page.add(2, "Environment:", "<none>")
        return
    page.add(2, "Environment:")
    for each in container["env"]:
        source = each.get("valueFrom")
        if source is None:
            first, *others = str(each.get("value") or "").split("\n")
            page.add(3, f"{each.get('name')}:", first)
            for line in others:
                page.add(3, "", line)
        else:
            page.add(3, f"{each.get('name')}:", *_value_from(source, container, pod))


def _value_from(source: Json, container: Json, pod: Json | None) -> tuple[str, ...]:
    if field := source.get("fieldRef"):
        path = str(field.get("fieldPath"))
        value = _field_value(pod, path) if pod else ""
        return (f"{value} ({field.get('apiVersion') or 'v1'}:{path})",)
    if resource := source.get("resourceFieldRef"):
        return (f"{_resource_value(container, resource)} ({resource.get('resource')})",)
    if secret := source.get("secretKeyRef"):
        text = f"<set to the key '{secret.get('key')}' in secret '{secret.get('name')}'>"
        return text, _optional(secret)
    if config := source.get("configMapKeyRef"):
        text = f"<set to the key '{config.get('key')}' of config map '{config.get('name')}'>"
        return text, _optional(config)
    return ("<unknown>",)


def _optional(source: Json) -> str:
    return f"Optional: {go_bool(source.get('optional'))}"


def _field_value(pod: Json, path: str) -> str:
    """The value of a field path of the downward API; kubectl shows none for one of a map."""
    if "[" in path:
        return ""
    value: Any = pod
    for part in path.split("."):
        value = (value or {}).get(part)
    if isinstance(value, dict):
        return "\n".join(f'{each}="{value[each]}"' for each in sorted(value))
    return str(value or "")


def _resource_value(container: Json, reference: Json) -> str:
    """The value of `limits.cpu` and the like, in units of the divisor, rounded up."""
    section, _, name = str(reference.get("resource")).partition(".")
    found = ((container.get("resources") or {}).get(section) or {}).get(name)
    if found is None:
        return "node allocatable" if section == "limits" and name in ("cpu", "memory") else "0"
    try:
        divisor = Quantity(str(reference.get("divisor") or "1")).as_decimal() or Decimal(1)
        units = Quantity(str(found)).as_decimal() / divisor
    except InvalidArgument:
        return str(found)
    return str(int(units.to_integral_value(ROUND_CEILING)))


def _add_mounts(page: Page, container: Json) -> None:
    mounts = sorted(container.get("volumeMounts") or (), key=lambda each: str(each["mountPath"]))
    page.add(2, "Mounts:", *([] if mounts else ["<none>"]))
    for each in mounts:
        options = "ro" if each.get("readOnly") else "rw"
        if each.get("subPath"):
            options += f',path="{each["subPath"]}"'
        page.add(3, f"{each['mountPath']} from {each.get('name')} ({options})")
    devices = sorted(container.get("volumeDevices") or (), key=lambda each: str(each["devicePath"]))
    if devices:
        page.add(2, "Devices:")
        for each in devices:
            page.add(3, f"{each['devicePath']} from {each.get('name')}")


# --- volumes


def _add_volumes(page: Page, volumes: Sequence[Json], *, indent: str = "") -> None:
    if not volumes:
        page.add(0, f"{indent}Volumes:", "<none>")
        return
    page.add(0, f"{indent}Volumes:")
    for volume in volumes:
        page.add(1, f"{' ' if indent else ''}{volume.get('name')}:")
        add_volume_source(page, volume)


_VOLUMES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "hostPath": (
        "HostPath (bare host directory volume)",
        (("Path", "path"), ("HostPathType", "type")),
    ),
    "persistentVolumeClaim": (
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        (("ClaimName", "claimName"), ("ReadOnly", "readOnly?")),
    ),
    "nfs": (
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        (("Server", "server"), ("Path", "path"), ("ReadOnly", "readOnly?")),
    ),
    "secret": (
        "Secret (a volume populated by a Secret)",
        (("SecretName", "secretName"), ("Optional", "optional?")),
    ),
    "configMap": (
        "ConfigMap (a volume populated by a ConfigMap)",
        (("Name", "name"), ("Optional", "optional?")),
    ),
    "csi": (
        "CSI (a Container Storage Interface (CSI) volume source)",
        (
            ("Driver", "driver"),
            ("FSType", "fsType"),
            ("VolumeHandle", "volumeHandle"),
            ("ReadOnly", "readOnly?"),
        ),
    ),
    "gitRepo": (
        "GitRepo (a volume that is pulled from git when the pod is created)",
        (("Repository", "repository"), ("Revision", "revision")),
    ),
    "image": (
        "Image (a container image or OCI artifact)",
        (("Reference", "reference"), ("PullPolicy", "pullPolicy")),
    ),
}


def add_volume_source(page: Page, volume: Json) -> None:
    """The source of a volume of a pod, or of a persistent volume."""
    for name, (title, fields) in _VOLUMES.items():
        source = volume.get(name)
        if source is not None:
            page.add(2, "Type:", title)
            for label, field in fields:
                value = source.get(field.removesuffix("?"))
                if field == "volumeHandle" and value is None:
                    continue  # only persistent volumes have it
                shown = go_bool(value) if field.endswith("?") else value or ""
                page.add(2, f"{label}:", shown)
            if name == "csi":
                attributes = sorted((source.get("volumeAttributes") or {}).items())
                lines = [f"{' ' * 4}{key}={value}" for key, value in attributes]
                page.add_list("VolumeAttributes", lines, indent=" " * 4)
            return
    if volume.get("emptyDir") is not None:
        page.add(2, "Type:", "EmptyDir (a temporary directory that shares a pod's lifetime)")
        page.add(2, "Medium:", volume["emptyDir"].get("medium") or "")
        limit = volume["emptyDir"].get("sizeLimit")
        page.add(2, "SizeLimit:", quantity(limit) if limit else "<unset>")
    elif volume.get("downwardAPI") is not None:
        page.add(2, "Type:", "DownwardAPI (a volume populated by information about the pod)")
        page.add(2, "Items:")
        for item in volume["downwardAPI"].get("items") or ():
            path = (item.get("fieldRef") or {}).get("fieldPath")
            resource = (item.get("resourceFieldRef") or {}).get("resource")
            page.add(3, f"{path or resource} -> {item.get('path')}")
    elif volume.get("projected") is not None:
        page.add(
            2, "Type:", "Projected (a volume that contains injected data from multiple sources)"
        )
        for source in volume["projected"].get("sources") or ():
            _add_projection(page, source)
    elif volume.get("ephemeral") is not None:
        _add_claim_template(page, volume["ephemeral"].get("volumeClaimTemplate") or {})
    else:
        kinds = [name for name in volume if name != "name"]
        page.add(2, "Type:", kinds[0] if kinds else "<unknown>")


def _add_claim_template(page: Page, template: Json) -> None:
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    kind = "an inline specification for a volume that gets created and deleted with the pod"
    page.add(2, "Type:", f"EphemeralVolume ({kind})")
    page.add(2, "StorageClass:", spec.get("storageClassName") or "")
    page.add(2, "Volume:", spec.get("volumeName") or "")
    for title, field, sign in (("Labels", "labels", "="), ("Annotations", "annotations", ": ")):
        found = sorted((metadata.get(field) or {}).items())
        lines = [f"{' ' * 4}{key}{sign}{value}" for key, value in found]
        page.add_list(title, lines or [f"{' ' * 4}<none>"], indent=" " * 4)
    page.add(2, "Capacity:", "")
    page.add(2, "Access Modes:", "")
    page.add(2, "VolumeMode:", spec.get("volumeMode") or "")


def _add_projection(page: Page, source: Json) -> None:
    for field, title in (("secret", "SecretName:"), ("configMap", "ConfigMapName:")):
        if source.get(field):
            page.add(2, title, source[field].get("name") or "")
            page.add(2, "Optional:", go_bool(source[field].get("optional")))
    if source.get("downwardAPI"):
        page.add(2, "DownwardAPI:", "true")
    if source.get("serviceAccountToken"):
        seconds = source["serviceAccountToken"].get("expirationSeconds") or 0
        page.add(2, "TokenExpirationSeconds:", seconds)


# --- scheduling


def _add_tolerations(page: Page, spec: Json, *, indent: str = "") -> None:
    lines = []
    for each in spec.get("tolerations") or ():
        text = str(each.get("key") or "")
        text += f"={each['value']}" if each.get("value") else ""
        text += f":{each['effect']}" if each.get("effect") else ""
        if each.get("operator") == "Exists" and not each.get("value"):
            text += " op=Exists" if text else "op=Exists"
        if each.get("tolerationSeconds") is not None:
            text += f" for {each['tolerationSeconds']}s"
        lines.append(text)
    page.add_list("Tolerations", lines, indent=indent)


def _add_spread_constraints(page: Page, spec: Json, *, indent: str = "") -> None:
    constraints = spec.get("topologySpreadConstraints") or ()
    lines = []
    for each in sorted(constraints, key=lambda each: str(each.get("topologyKey"))):
        text = (
            f"{each.get('topologyKey')}:{each.get('whenUnsatisfiable')} when max skew"
            f" {each.get('maxSkew')} is exceeded"
        )
        selector = each.get("labelSelector")
        lines.append(f"{text} for selector {selector_text(selector)}" if selector else text)
    if lines:
        page.add_list("Topology Spread Constraints", lines, indent=indent)


def add_template(page: Page, template: Json) -> None:
    """A pod template, below the title of the caller."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    indent = "  "
    page.add_labels("Labels", metadata.get("labels"), indent=indent)
    if metadata.get("annotations"):
        page.add_annotations(metadata["annotations"], indent=indent)
    if spec.get("serviceAccountName"):
        page.add(1, "Service Account:", spec["serviceAccountName"])
    if spec.get("initContainers"):
        _add_containers(page, "Init Containers", spec["initContainers"], indent=indent)
    _add_containers(page, "Containers", spec.get("containers") or (), indent=indent)
    _add_volumes(page, spec.get("volumes") or (), indent=indent)
    _add_spread_constraints(page, spec, indent=indent)
    if spec.get("priorityClassName"):
        page.add(1, "Priority Class Name:", spec["priorityClassName"])
    page.add_labels("Node-Selectors", spec.get("nodeSelector"), indent=indent)
    _add_tolerations(page, spec, indent=indent)
