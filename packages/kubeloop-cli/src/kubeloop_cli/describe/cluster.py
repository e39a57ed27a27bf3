"""The layouts of nodes, namespaces, volumes, configuration, roles and quotas."""

from __future__ import annotations

import base64
import binascii
import itertools
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from kubeloop.wire import InvalidArgument, Quantity
from kubeloop_cli.events import age_of

from .page import Json, Page, go_bool, labels_text, local_time, quantity
from .pods import add_volume_source

__all__ = [
    "describe_binding",
    "describe_claim",
    "describe_config_map",
    "describe_limit_range",
    "describe_namespace",
    "describe_node",
    "describe_priority_class",
    "describe_quota",
    "describe_role",
    "describe_secret",
    "describe_service_account",
    "describe_storage_class",
    "describe_volume",
]

# --- nodes

_ROLE = "node-role.kubernetes.io/"
_NO_QUANTITY = Quantity(0)


def describe_node(
    page: Page, node: Json, pods: Sequence[Json], lease: Json | None, lease_error: str
) -> None:
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    page.add(0, "Name:", metadata.get("name") or "")
    page.add(0, "Roles:", ",".join(_roles(metadata.get("labels") or {})) or "<none>")
    page.add_labels("Labels", metadata.get("labels"))
    page.add_annotations(metadata.get("annotations"))
    page.add(0, "CreationTimestamp:", local_time(metadata.get("creationTimestamp")))
    taints = sorted(
        spec.get("taints") or (), key=lambda each: f"{each.get('effect')},{each.get('key')}"
    )
    page.add_list("Taints", [_taint_text(each) for each in taints])
    page.add(0, "Unschedulable:", go_bool(spec.get("unschedulable")))
    if lease is None:
        page.add(0, "Lease:", f"Failed to get lease: {lease_error}")
    else:
        held = lease.get("spec") or {}
        page.add(0, "Lease:")
        page.add(1, "HolderIdentity:", held.get("holderIdentity") or "<unset>")
        page.add(1, "AcquireTime:", local_time(held.get("acquireTime")))
        page.add(1, "RenewTime:", local_time(held.get("renewTime")))
    if status.get("conditions"):
        page.add(0, "Conditions:")
        header = ("Type", "Status", "LastHeartbeatTime", "LastTransitionTime", "Reason", "Message")
        page.add_table(1, header)
        for each in status["conditions"]:
            times = (each.get("lastHeartbeatTime"), each.get("lastTransitionTime"))
            cells = (each.get("type"), each.get("status"), *map(local_time, times))
            reason = f"{each.get('reason') or ''} "
            page.add(1, *(f"{cell} " for cell in cells), reason, each.get("message") or "")
    page.add(0, "Addresses:")
    for each in status.get("addresses") or ():
        page.add(1, f"{each.get('type')}:", each.get("address") or "")
    page.add_quantities(0, "Capacity", status.get("capacity"))
    page.add_quantities(0, "Allocatable", status.get("allocatable"))
    _add_system_info(page, spec, status.get("nodeInfo") or {})
    _add_node_resources(page, status.get("allocatable") or status.get("capacity") or {}, pods)


def _roles(labels: Json) -> list[str]:
    return sorted(
        {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE) and key != _ROLE}
        | {str(labels[key]) for key in labels if key == "kubernetes.io/role" and labels[key]}
    )


def _taint_text(taint: Json) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"


def _add_system_info(page: Page, spec: Json, info: Json) -> None:
    page.add(0, "System Info:")
    for title, field in (
        ("Machine ID:", "machineID"),
        ("System UUID:", "systemUUID"),
        ("Boot ID:", "bootID"),
        ("Kernel Version:", "kernelVersion"),
        ("OS Image:", "osImage"),
        ("Operating System:", "operatingSystem"),
        ("Architecture:", "architecture"),
        ("Container Runtime Version:", "containerRuntimeVersion"),
        ("Kubelet Version:", "kubeletVersion"),
    ):
        page.add(1, title, info.get(field) or "")
    for title, field in (("PodCIDR:", "podCIDR"), ("ProviderID:", "providerID")):
        if spec.get(field):
            page.add(0, title, spec[field])
        if field == "podCIDR" and spec.get("podCIDRs"):
            page.add(0, "PodCIDRs:", ",".join(spec["podCIDRs"]))


def _add_node_resources(page: Page, allocatable: Json, pods: Sequence[Json]) -> None:
    now = datetime.now(UTC)
    page.add(0, "Non-terminated Pods:", f"({len(pods)} in total)")
    page.add_table(
        1,
        ("Namespace", "Name", "", "CPU Requests", "CPU Limits", "Memory Requests",
         "Memory Limits", "Age"),
    )  # fmt: skip
    totals: dict[str, dict[str, Quantity]] = {"requests": {}, "limits": {}}
    for pod in pods:
        requests, limits = (_pod_resources(pod, section) for section in ("requests", "limits"))
        for section, found in (("requests", requests), ("limits", limits)):
            for name, amount in found.items():
                totals[section][name] = totals[section].get(name, _NO_QUANTITY) + amount
        page.add(
            1,
            pod["metadata"].get("namespace") or "",
            pod["metadata"].get("name") or "",
            "",
            *(
                _share(found.get(name), allocatable.get(name))
                for name in ("cpu", "memory")
                for found in (requests, limits)
            ),
            age_of(pod["metadata"].get("creationTimestamp"), now),
        )
    page.add(0, "Allocated resources:")
    page.add(1, "(Total limits may be over 100 percent, i.e., overcommitted.)")
    page.add_table(1, ("Resource", "Requests", "Limits"))
    usual = ["cpu", "memory", "ephemeral-storage"]
    usual += sorted(name for name in allocatable if name.startswith("hugepages-"))
    for name in usual:
        shares = (_share(totals[each].get(name), allocatable.get(name)) for each in totals)
        page.add(1, name, *shares)
    extended = {name for found in totals.values() for name in found}
    extended |= {name for name in allocatable if "/" in name}
    for name in sorted(extended - set(usual) - {"pods", "storage"}):
        page.add(1, name, *(totals[each].get(name, _NO_QUANTITY).canonical() for each in totals))


def _share(amount: Quantity | None, allocatable: object) -> str:
    """`100m (1%)`: an amount, and its part of what can be allocated."""
    found = amount if amount is not None else _NO_QUANTITY
    whole = _quantity(allocatable or 0)
    percent = 0 if whole.is_zero else int(found.as_decimal() / whole.as_decimal() * 100)
    return f"{found.canonical()} ({percent}%)"


def _quantity(value: object) -> Quantity:
    try:
        return Quantity(str(value))
    except InvalidArgument:
        return _NO_QUANTITY


def _pod_resources(pod: Json, section: str) -> dict[str, Quantity]:
    """What the scheduler counts for a pod: its containers, or more for an init container."""
    spec = pod.get("spec") or {}
    total: dict[str, Quantity] = {}
    for container in spec.get("containers") or ():
        _add_up(total, _amounts(container, section))
    sidecars: dict[str, Quantity] = {}
    peaks: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        own = _amounts(container, section)
        if container.get("restartPolicy") == "Always":
            _add_up(total, own)
            _add_up(sidecars, own)
            own = {}
        at_start = dict(sidecars)
        _add_up(at_start, own)
        for name, amount in at_start.items():
            peaks[name] = max(peaks.get(name, amount), amount)
    for name, amount in peaks.items():
        total[name] = max(total.get(name, amount), amount)
    whole = ((spec.get("resources") or {}).get(section) or {}).items()
    total |= {name: _quantity(amount) for name, amount in whole}
    for name, amount in (spec.get("overhead") or {}).items():
        if section == "requests" or name in total:
            _add_up(total, {name: _quantity(amount)})
    return total


def _amounts(container: Json, section: str) -> dict[str, Quantity]:
    found = (container.get("resources") or {}).get(section) or {}
    return {name: _quantity(amount) for name, amount in found.items()}


def _add_up(total: dict[str, Quantity], amounts: dict[str, Quantity]) -> None:
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount


# --- namespaces and quotas


def describe_namespace(
    page: Page, namespace: Json, quotas: Sequence[Json], limits: Sequence[Json]
) -> None:
    page.add_metadata(namespace, namespace=False)
    status = namespace.get("status") or {}
    page.add(0, "Status:", status.get("phase") or "")
    if status.get("conditions"):
        page.add(0, "Conditions:")
        page.add_table(1, ("Type", "Status", "LastTransitionTime", "Reason", "Message"))
        for each in status["conditions"]:
            time = local_time(each.get("lastTransitionTime"))
            cells = (each.get("type"), each.get("status"), time, each.get("reason") or "")
            page.add(1, *cells, each.get("message") or "")
    page.add_blank()
    if quotas:
        page.add(0, "Resource Quotas")
        for number, quota in enumerate(quotas):
            if number:
                page.add_blank()
            page.add(1, "Name:", quota["metadata"].get("name") or "")
            _add_scopes(page, 1, quota)
            page.add_table(1, ("Resource", "Used", "Hard"), ("--------", "---", "---"))
            _add_quota_rows(page, 1, quota)
    else:
        page.add(0, "No resource quota.")
    page.add_blank()
    if limits:
        page.add(0, "Resource Limits")
        _add_limits(page, " ", limits)
    else:
        page.add(0, "No LimitRange resource.")


_LIMITS = ("Resource", "Min", "Max", "Default Request", "Default Limit", "Max Limit/Request Ratio")
_LIMIT_FIELDS = ("min", "max", "defaultRequest", "default", "maxLimitRequestRatio")


def _add_limits(page: Page, indent: str, ranges: Sequence[Json]) -> None:
    page.add(0, f"{indent}Type", *_LIMITS)
    page.add(0, f"{indent}----", *("-" * len(each) for each in _LIMITS))
    for item in (item for each in ranges for item in each["spec"].get("limits") or ()):
        names = sorted({name for field in _LIMIT_FIELDS for name in item.get(field) or {}})
        for name in names:
            values = ((item.get(field) or {}).get(name) for field in _LIMIT_FIELDS)
            shown = ("-" if value is None else quantity(value) for value in values)
            page.add(0, f"{indent}{item.get('type')}", name, *shown)


def describe_limit_range(page: Page, obj: Json) -> None:
    page.add(0, "Name:", obj["metadata"].get("name") or "")
    page.add(0, "Namespace:", obj["metadata"].get("namespace") or "")
    _add_limits(page, "", [obj])


def describe_quota(page: Page, quota: Json) -> None:
    page.add(0, "Name:", quota["metadata"].get("name") or "")
    page.add(0, "Namespace:", quota["metadata"].get("namespace") or "")
    _add_scopes(page, 0, quota)
    page.add_table(0, ("Resource", "Used", "Hard"))
    _add_quota_rows(page, 0, quota)


_SCOPES = {
    "Terminating": "Matches all pods that have an active deadline. These pods have a limited"
    " lifespan on a node before being actively terminated by the system.",
    "NotTerminating": "Matches all pods that do not have an active deadline. These pods usually"
    " include long running pods whose container command is not expected to terminate.",
    "BestEffort": "Matches all pods that do not have resource requirements set. These pods have"
    " a best effort quality of service.",
    "NotBestEffort": "Matches all pods that have at least one resource requirement set. These"
    " pods have a burstable or guaranteed quality of service.",
}


def _add_scopes(page: Page, level: int, quota: Json) -> None:
    scopes = sorted((quota.get("spec") or {}).get("scopes") or ())
    if scopes:
        page.add(level, "Scopes:", ", ".join(scopes))
    for scope in scopes:
        if scope in _SCOPES:
            page.add(level, f" * {_SCOPES[scope]}")


def _add_quota_rows(page: Page, level: int, quota: Json) -> None:
    status = quota.get("status") or {}
    used = status.get("used") or {}
    for name, hard in sorted((status.get("hard") or {}).items()):
        page.add(level, name, quantity(used.get(name) or "0"), quantity(hard))


# --- volumes

_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _modes_text(modes: Sequence[str] | None) -> str:
    return ",".join(short for name, short in _MODES.items() if name in (modes or ()))


def _finalizers(obj: Json) -> str:
    return f"[{' '.join(obj['metadata'].get('finalizers') or ())}]"


def _phase(obj: Json) -> str:
    deleted = obj["metadata"].get("deletionTimestamp")
    if deleted:
        return f"Terminating (lasts {age_of(deleted, datetime.now(UTC))})"
    return str((obj.get("status") or {}).get("phase") or "")


def describe_claim(page: Page, claim: Json, pods: Sequence[Json]) -> None:
    metadata, spec, status = claim["metadata"], claim.get("spec") or {}, claim.get("status") or {}
    page.add(0, "Name:", metadata.get("name") or "")
    page.add(0, "Namespace:", metadata.get("namespace") or "")
    page.add(0, "StorageClass:", spec.get("storageClassName") or "")
    page.add(0, "Status:", _phase(claim))
    volume = spec.get("volumeName") or ""
    page.add(0, "Volume:", volume)
    page.add_labels("Labels", metadata.get("labels"))
    page.add_annotations(metadata.get("annotations"))
    page.add(0, "Finalizers:", _finalizers(claim))
    size = (status.get("capacity") or {}).get("storage") if volume else None
    page.add(0, "Capacity:", quantity(size) if size else "")
    page.add(0, "Access Modes:", _modes_text(status.get("accessModes")) if volume else "")
    page.add(0, "VolumeMode:", spec.get("volumeMode") or "")
    if source := spec.get("dataSource"):
        page.add(0, "DataSource:")
        for title, field in (("APIGroup:", "apiGroup"), ("Kind:", "kind"), ("Name:", "name")):
            if field != "apiGroup" or source.get(field):
                page.add(1, title, source.get(field) or "")
    users = [
        pod["metadata"]["name"]
        for pod in pods
        if any(
            (each.get("persistentVolumeClaim") or {}).get("claimName") == metadata.get("name")
            for each in (pod.get("spec") or {}).get("volumes") or ()
        )
    ]
    page.add_list("Used By", users)
    if status.get("conditions"):
        page.add(0, "Conditions:")
        header = ("Type", "Status", "LastProbeTime", "LastTransitionTime", "Reason", "Message")
        page.add_table(1, header)
        for each in status["conditions"]:
            times = (each.get("lastProbeTime"), each.get("lastTransitionTime"))
            cells = (each.get("type"), each.get("status"), *map(local_time, times))
            page.add(1, *(f"{cell} " for cell in cells), f"{each.get('reason') or ''} ",
                     each.get("message") or "")  # fmt: skip


def describe_volume(page: Page, volume: Json) -> None:
    spec = volume.get("spec") or {}
    page.add_metadata(volume, namespace=False)
    page.add(0, "Finalizers:", _finalizers(volume))
    page.add(0, "StorageClass:", spec.get("storageClassName") or "")
    page.add(0, "Status:", _phase(volume))
    claim = spec.get("claimRef")
    page.add(0, "Claim:", f"{claim.get('namespace')}/{claim.get('name')}" if claim else "")
    page.add(0, "Reclaim Policy:", spec.get("persistentVolumeReclaimPolicy") or "")
    page.add(0, "Access Modes:", _modes_text(spec.get("accessModes")))
    page.add(0, "VolumeMode:", spec.get("volumeMode") or "")
    page.add(0, "Capacity:", quantity((spec.get("capacity") or {}).get("storage") or "0"))
    required = (spec.get("nodeAffinity") or {}).get("required")
    page.add(0, "Node Affinity:", "" if required else "<none>")
    if required:
        terms = required.get("nodeSelectorTerms") or ()
        page.add(1, "Required Terms:", "" if terms else "<none>")
        for number, term in enumerate(terms):
            page.add_list(f"Term {number}", _expressions(term), indent=" " * 4)
    page.add(0, "Message:", (volume.get("status") or {}).get("message") or "")
    page.add(0, "Source:")
    add_volume_source(page, {key: value for key, value in spec.items() if _is_source(key, value)})


def _is_source(field: str, value: object) -> bool:
    return isinstance(value, dict) and field not in ("capacity", "claimRef", "nodeAffinity")


def _expressions(term: Json) -> list[str]:
    found = []
    for each in term.get("matchExpressions") or ():
        text = f"{each.get('key')} {str(each.get('operator')).lower()}"
        values = each.get("values")
        found.append(f"{text} [{', '.join(values)}]" if values else text)
    return found


def describe_storage_class(page: Page, obj: Json) -> None:
    annotations = obj["metadata"].get("annotations") or {}
    is_default = annotations.get("storageclass.kubernetes.io/is-default-class") == "true"
    page.add(0, "Name:", obj["metadata"].get("name") or "")
    page.add(0, "IsDefaultClass:", "Yes" if is_default else "No")
    page.add_value(0, "Annotations:", labels_text(annotations))
    page.add(0, "Provisioner:", obj.get("provisioner") or "")
    page.add(0, "Parameters:", labels_text(obj.get("parameters")))
    expansion = obj.get("allowVolumeExpansion")
    shown = "<unset>" if expansion is None else "True" if expansion else "False"
    page.add(0, "AllowVolumeExpansion:", shown)
    options = obj.get("mountOptions") or ()
    page.add(0, "MountOptions:", *([] if options else ["<none>"]))
    for option in options:
        page.add(1, option)
    page.add(0, "ReclaimPolicy:", obj.get("reclaimPolicy") or "")
    page.add(0, "VolumeBindingMode:", obj.get("volumeBindingMode") or "")


# --- configuration


def describe_config_map(page: Page, obj: Json) -> None:
    page.add_metadata(obj)
    page.add_blank()
    page.add_text(["Data", "===="])
    for key, value in sorted((obj.get("data") or {}).items()):
        page.add_text([f"{key}:", "----", *str(value).split("\n"), ""])
    page.add_blank()
    page.add_text(["BinaryData", "===="])
    for key, value in sorted((obj.get("binaryData") or {}).items()):
        page.add_text([f"{key}: {_size(value)} bytes"])
    page.add_blank()


def describe_secret(page: Page, secret: Json) -> None:
    """Without any value: only their sizes."""
    page.add_metadata(secret)
    page.add_blank()
    page.add(0, "Type:", secret.get("type") or "")
    page.add_blank()
    page.add_text(["Data", "===="])
    for key, value in sorted((secret.get("data") or {}).items()):
        page.add(0, f"{key}:", f"{_size(value)} bytes")


def _size(encoded: object) -> int:
    try:
        return len(base64.b64decode(str(encoded)))
    except binascii.Error:
        return 0


def describe_service_account(page: Page, obj: Json) -> None:
    page.add_metadata(obj)
    names = [str(each.get("name")) for each in obj.get("imagePullSecrets") or ()]
    page.add_list("Image pull secrets", names)


def describe_priority_class(page: Page, obj: Json) -> None:
    page.add(0, "Name:", obj["metadata"].get("name") or "")
    page.add(0, "Value:", obj.get("value") or 0)
    page.add(0, "GlobalDefault:", go_bool(obj.get("globalDefault")))
    page.add(0, "PreemptionPolicy:", obj.get("preemptionPolicy") or "")
    page.add(0, "Description:", obj.get("description") or "")
    page.add_value(0, "Annotations:", labels_text(obj["metadata"].get("annotations")))


# --- roles


def describe_role(page: Page, role: Json) -> None:
    page.add_metadata(role, namespace=False)
    page.add(0, "PolicyRule:")
    page.add_table(1, ("Resources", "Non-Resource URLs", "Resource Names", "Verbs"))
    for resource, urls, names, verbs in _rules(role.get("rules") or ()):
        page.add(1, resource, *(f"[{' '.join(each)}]" for each in (urls, names, verbs)))


_Rule = tuple[str, list[str], list[str], list[str]]


def _rules(rules: Iterable[Json]) -> list[_Rule]:
    """One rule for each resource and name, with all its verbs, in the order of kubectl."""
    verbs: dict[tuple[str, str, str], list[str]] = {}
    found: list[tuple[str, _Rule]] = []
    for rule in rules:
        names = rule.get("resourceNames") or [""]
        groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
        for group, resource, name in itertools.product(groups, resources, names):
            verbs.setdefault((group, resource, name), []).extend(rule.get("verbs") or ())
        for url, verb in itertools.product(rule.get("nonResourceURLs") or (), rule["verbs"]):
            key = f"[{verb}],APIGroups:[],Resources:[],ResourceNames:[],NonResourceURLs:[{url}]"
            found.append((key, ("", [url], [], [verb])))
    for (group, resource, name), own in verbs.items():
        key = f"[{' '.join(own)}],APIGroups:[{group}],Resources:[{resource}],ResourceNames:[{name}]"
        plural, slash, part = resource.partition("/")
        title = f"{plural}.{group}{slash}{part}" if group else resource
        found.append((key, (title, [], [name] if name else [], own)))
    return [rule for _, rule in sorted(found, key=lambda pair: pair[0])]


def describe_binding(page: Page, binding: Json) -> None:
    page.add_metadata(binding, namespace=False)
    role = binding.get("roleRef") or {}
    page.add(0, "Role:")
    page.add(1, "Kind:", role.get("kind") or "")
    page.add(1, "Name:", role.get("name") or "")
    page.add(0, "Subjects:")
    page.add_table(1, ("Kind", "Name", "Namespace"))
    for each in binding.get("subjects") or ():
        page.add(1, each.get("kind"), each.get("name"), each.get("namespace") or "")
