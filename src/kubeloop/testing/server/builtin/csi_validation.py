"""Validation of storage.k8s.io: classes, CSI drivers, attachments, capacities.

Guarantees: the checks of kube-apiserver's `pkg/apis/storage/validation`, with its paths, reasons
and order.
See also: volumes and claims (`volume_validation`, `claim_validation`), shared
checks (`field_rules`).
"""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_dns_subdomain, problems_of_label_key

from ..values import causes
from ..values.json_values import json_equal, without
from .field_rules import (
    Check,
    Raw,
    check_driver_name,
    check_fixed,
    check_known,
    check_qualified_name,
    check_required,
)
from .value_rules import (
    Causes,
    check_minimum,
    check_name,
    check_quantity,
    check_selector,
    check_unchanged,
    enumerate_objects,
)

__all__ = ["CSI"]

_GROUP: Final = "storage.k8s.io"
_PARAMETERS: Final = 512
_PARAMETERS_SIZE: Final = 256 * 1024
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")
_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLE_MODES: Final = ("Persistent", "Ephemeral")


# --- classes


def _storage_class(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateStorageClass`; the cause of a missing provisioner comes last, from the
    # declarative validation.
    provisioner = obj.get("provisioner") or ""
    if provisioner:
        yield from check_name("provisioner", provisioner.lower(), problems_of_label_key)
    yield from _parameters(obj.get("parameters"))
    yield from check_known("reclaimPolicy", obj.get("reclaimPolicy") or None, ("Delete", "Retain"))
    yield from check_known("volumeBindingMode", obj.get("volumeBindingMode"), _BINDING_MODES)
    yield from _topologies(obj.get("allowedTopologies"))
    if not provisioner:
        yield causes.required("provisioner")
    if old is not None:
        for field in ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"):
            yield from check_fixed(field, obj.get(field), old.get(field))


def _parameters(parameters: Any) -> Causes:
    found = parameters or {}
    if len(found) > _PARAMETERS:
        yield causes.too_long("parameters", _PARAMETERS)
        return
    if "" in found:
        yield causes.invalid("parameters", "", "field can not be empty.")
    if sum(len(key) + len(value) for key, value in found.items()) > _PARAMETERS_SIZE:
        yield causes.too_long("parameters", _PARAMETERS_SIZE)


def _topologies(terms: Any) -> Causes:
    # `validateAllowedTopologies`: no two terms are equal.
    seen: list[Any] = []
    for index, term in enumerate_objects(terms):
        path = f"allowedTopologies[{index}].matchLabelExpressions"
        values: dict[str, set[str]] = {}
        for number, each in enumerate_objects(term.get("matchLabelExpressions")):
            yield from _topology(f"{path}[{number}]", each, values)
        if values in seen:
            yield causes.duplicate(path, "")
        seen.append(values)


def _topology(path: str, expression: Raw, seen: dict[str, set[str]]) -> Causes:
    key, values = expression.get("key") or "", expression.get("values") or []
    found: set[str] = set()
    if not values:
        yield causes.required(f"{path}.values")
    for index, value in enumerate(values):
        if value in found:
            yield causes.duplicate(f"{path}.values[{index}]", value)
        found.add(value)
    yield from check_qualified_name(f"{path}.key", key)
    if key in seen:
        yield causes.duplicate(f"{path}.key", key)
    seen[key] = found


def _attributes_class(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateVolumeAttributesClass`.
    if old is not None:
        for field in ("driverName", "parameters"):
            if not json_equal(obj.get(field), old.get(field)):
                yield causes.forbidden(field, f"updates to {field} are forbidden.")
    driver = obj.get("driverName") or ""
    yield from check_required("driverName", driver)
    if driver:
        yield from check_name("driverName", driver.lower(), problems_of_label_key)
    yield from _parameters(obj.get("parameters"))
    if not obj.get("parameters"):
        yield causes.required("parameters", "must contain at least one key/value pair")


# --- drivers


def _driver(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateCSIDriver`.
    spec = obj.get("spec") or {}
    yield from check_known("spec.fsGroupPolicy", spec.get("fsGroupPolicy"), _GROUP_POLICIES)
    yield from _token_requests(spec)
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in _LIFECYCLE_MODES:
            yield causes.not_supported("spec.volumeLifecycleModes", mode, _LIFECYCLE_MODES)
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if isinstance(period, int) and period < 10:
        where = "spec.nodeAllocatableUpdatePeriodSeconds"
        yield causes.invalid(where, period, "must be greater than or equal to 10 seconds")
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not spec.get("tokenRequests"):
        rule = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        yield causes.invalid("spec.serviceAccountTokenInSecrets", in_secrets, rule)
    if old is not None:
        before = old.get("spec") or {}
        # kube-apiserver's own path has this spelling.
        where = "spec.attachedRequired"
        yield from check_unchanged(where, spec.get("attachRequired"), before.get("attachRequired"))
        name = "volumeLifecycleModes"
        yield from check_unchanged(f"spec.{name}", spec.get(name), before.get(name))


def _token_requests(spec: Raw) -> Causes:
    seen: set[str] = set()
    for index, each in enumerate_objects(spec.get("tokenRequests")):
        path, audience = f"spec.tokenRequests[{index}]", each.get("audience") or ""
        if audience in seen:
            yield causes.duplicate(f"{path}.audience", audience)
            continue
        seen.add(audience)
        seconds = each.get("expirationSeconds")
        if isinstance(seconds, int) and not 600 <= seconds <= 2**32:
            rule = "must be between 10 minutes and 2^32 seconds"
            yield causes.invalid(f"{path}.expirationSeconds", seconds, rule)


def _driver_node(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateCSINode` and `ValidateCSINodeUpdate`.
    drivers = (obj.get("spec") or {}).get("drivers")
    names: set[str] = set()
    for index, each in enumerate_objects(drivers):
        yield from _driver_of_node(f"spec.drivers[{index}]", each, names)
    if old is None:
        return
    before = {
        each.get("name"): without(dict(each), "allocatable")
        for _, each in enumerate_objects((old.get("spec") or {}).get("drivers"))
    }
    for _, each in enumerate_objects(drivers):
        if each.get("name") in before:
            own = without(dict(each), "allocatable")
            yield from check_unchanged("spec.drivers", own, before[each.get("name")])


def _driver_of_node(path: str, driver: Raw, names: set[str]) -> Causes:
    name, identity = driver.get("name") or "", driver.get("nodeID") or ""
    yield from check_driver_name(f"{path}.name", name)
    yield from check_required(f"{path}.nodeID", identity)
    if len(identity) > 256:
        yield causes.invalid(f"{path}.nodeID", identity, "must be 256 characters or less")
    count = (driver.get("allocatable") or {}).get("count")
    yield from check_minimum(f"{path}.allocatable.count", count)
    if name in names:
        yield causes.duplicate(f"{path}.name", name)
    names.add(name)
    keys: set[str] = set()
    for key in driver.get("topologyKeys") or ():
        yield from check_required(path, key)
        if key in keys:
            yield causes.duplicate(path, key)
        keys.add(key)
        yield from check_qualified_name(path, key)


# --- attachments and capacities


def _attachment(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateVolumeAttachment`; the attacher is checked by the declarative validation.
    spec = obj.get("spec") or {}
    source, node = spec.get("source") or {}, spec.get("nodeName") or ""
    yield from _source(source)
    yield from check_name("spec.nodeName", node, problems_of_dns_subdomain)
    status = obj.get("status") or {}
    for field in ("attachError", "detachError"):
        yield from _volume_error(f"status.{field}", status.get(field))
    name = source.get("persistentVolumeName")
    if name is not None:
        where = "spec.source.persistentVolumeName"
        yield from check_name(where, name, problems_of_dns_subdomain)
    yield from check_driver_name("spec.attacher", spec.get("attacher") or "")
    if old is not None:
        yield from check_fixed("spec", spec, old.get("spec"))


def _source(source: Raw) -> Causes:
    # `validateVolumeAttachmentSource`.
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    rule = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if inline is None and name is None:
        yield causes.required("spec.source", rule)
    elif inline is not None and name is not None:
        yield causes.forbidden("spec.source", rule)
    elif name == "":
        yield causes.required(
            "spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"
        )
    elif inline is not None and not inline.get("csi"):
        path = "spec.source.inlineVolumeSpec"
        yield causes.required(f"{path}.csi", "has to be specified in the context of inline volumes")
        yield causes.required(path, "must specify a volume type")


def _volume_error(path: str, error: Any) -> Causes:
    if not isinstance(error, dict):
        return
    if len(error.get("message") or "") > 1024:
        yield causes.too_long(f"{path}.message", 1024)
    code = error.get("errorCode")
    if isinstance(code, int) and code < 0:
        rule = "must be between 0 and 2147483647, inclusive"
        yield causes.invalid(f"{path}.errorCode", code, rule)


def _capacity(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateCSIStorageCapacity`.
    name = obj.get("storageClassName") or ""
    yield from check_selector("nodeTopology", obj.get("nodeTopology"))
    yield from check_name("storageClassName", name, problems_of_dns_subdomain)
    if obj.get("capacity") is not None:
        yield from check_quantity("capacity", obj["capacity"])
    if old is not None:
        for field in ("nodeTopology", "storageClassName"):
            yield from check_unchanged(field, obj.get(field), old.get(field))


CSI: Final[dict[tuple[str, str], Check]] = {
    (_GROUP, "CSIDriver"): _driver,
    (_GROUP, "CSINode"): _driver_node,
    (_GROUP, "CSIStorageCapacity"): _capacity,
    (_GROUP, "StorageClass"): _storage_class,
    (_GROUP, "VolumeAttachment"): _attachment,
    (_GROUP, "VolumeAttributesClass"): _attributes_class,
}
