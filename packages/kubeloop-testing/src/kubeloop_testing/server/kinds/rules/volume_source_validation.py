"""Validation of the volumes of pods, and of the volume sources that persistent volumes share.

Guarantees: the causes of `ValidateVolumes` and of the `validate…VolumeSource` functions.
See also: mounts of volumes (`container_validation`), persistent volumes
(`core.persistent_volume`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain

from ...values import causes
from ..kind import Causes, Json
from .claim_validation import problems_of_claim_template
from .field_refs import check_field_ref, check_resource_ref
from .projected_validation import check_file_mode, check_key_paths, problems_of_projected
from .value_rules import (
    check_choice,
    check_name,
    check_range,
    check_relative_path,
    enumerate_objects,
    has_parent_step,
    parse_quantity,
)

__all__ = ["SOURCES", "check_driver", "problems_of_volumes"]

_Check: TypeAlias = Callable[[Json, str], Causes]
_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_is_iqn = re.compile(r"iqn\.\d{4}-\d{2}\.([a-z0-9-.]+)(:([^,;*&$|\s]+))?").fullmatch
_is_eui = re.compile(r"eui\.[0-9a-fA-F]{16}").fullmatch
_is_naa = re.compile(r"naa\.[0-9a-fA-F]{32}").fullmatch


def problems_of_volumes(spec: Json, path: str) -> Causes:
    """What is wrong with the volumes of a pod."""
    seen: set[str] = set()
    for index, volume in enumerate_objects(spec.get("volumes")):
        where, name = f"{path}[{index}]", str(volume.get("name") or "")
        found = list(_source_problems(volume, where))
        if not name:
            found.append(causes.required(f"{where}.name"))
        else:
            found += check_name(f"{where}.name", name, problems_of_dns_label)
        if name in seen:
            found.append(causes.duplicate(f"{where}.name", name))
        if not found:
            seen.add(name)
        yield from found


def _source_problems(volume: Json, path: str) -> Causes:
    # Only the first source is checked; others are reported as one too many.
    present = [each for each in SOURCES if isinstance(volume.get(each), Mapping)]
    if not present:
        yield causes.required(path, "must specify a volume type")
    for index, source in enumerate(present):
        if index:
            where = _NAMES.get(source, source)
            yield causes.forbidden(f"{path}.{where}", "may not specify more than 1 volume type")
            continue
        where = f"{path}.{'persistentDisk' if source == 'gcePersistentDisk' else source}"
        yield from SOURCES[source](volume[source], where)


# kube-apiserver misspells two names where a volume has several sources.
_NAMES: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}


def _required(*fields: str) -> _Check:
    def check(source: Json, path: str) -> Causes:
        for field in fields:
            if not source.get(field):
                yield causes.required(f"{path}.{field}")

    return check


def _empty_dir(source: Json, path: str) -> Causes:
    limit = parse_quantity(source["sizeLimit"]) if source.get("sizeLimit") is not None else None
    if limit is not None and limit.milli_value() < 0:
        yield causes.forbidden(
            f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity"
        )


def _host_path(source: Json, path: str) -> Causes:
    target = source.get("path") or ""
    if not target:
        yield causes.required(f"{path}.path")
        return
    if has_parent_step(target):
        yield causes.invalid(f"{path}.path", target, "must not contain '..'")
    yield from check_choice(f"{path}.type", source.get("type"), _HOST_PATH_TYPES)


def _git_repo(source: Json, path: str) -> Causes:
    yield from _required("repository")(source, path)
    yield from check_relative_path(f"{path}.directory", source.get("directory") or "")


def _disk(field: str) -> _Check:
    def check(source: Json, path: str) -> Causes:
        yield from _required(field)(source, path)
        yield from check_range(f"{path}.partition", source.get("partition"), 0, 255)

    return check


def _secret(field: str) -> _Check:
    def check(source: Json, path: str) -> Causes:
        yield from _required(field)(source, path)
        yield from check_file_mode(f"{path}.defaultMode", source.get("defaultMode"))
        yield from check_key_paths(source, f"{path}.items")

    return check


def _nfs(source: Json, path: str) -> Causes:
    yield from _required("server", "path")(source, path)
    target = source.get("path") or ""
    if not target.startswith("/"):
        yield causes.invalid(f"{path}.path", target, "must be an absolute path")


def _iscsi(source: Json, path: str) -> Causes:
    yield from _required("targetPortal", "iqn")(source, path)
    for field, where in (("iqn", "iqn"), ("initiatorName", "initiatorname")):
        value = source.get(field)
        if value and not (_is_iqn(value) or _is_eui(value) or _is_naa(value)):
            rule = "must be valid format starting with iqn, eui, or naa"
            yield causes.invalid(f"{path}.{where}", value, rule)
    yield from check_range(f"{path}.lun", source.get("lun"), 0, 255)
    needs_secret = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    if needs_secret and source.get("secretRef") is None:
        yield causes.required(f"{path}.secretRef")


def _flocker(source: Json, path: str) -> Causes:
    name, uuid = source.get("datasetName") or "", source.get("datasetUUID")
    if not name and not uuid:
        yield causes.required(path, "one of datasetName and datasetUUID is required")
    if name and uuid:
        yield causes.invalid(path, "resource", "datasetName and datasetUUID exclude each other")
    if "/" in name:
        yield causes.invalid(f"{path}.datasetName", name, "must not contain '/'")


def _cinder(source: Json, path: str) -> Causes:
    yield from _required("volumeID")(source, path)
    secret = source.get("secretRef")
    if isinstance(secret, Mapping) and not secret.get("name"):
        yield causes.required(f"{path}.secretRef.name")


def _quobyte(source: Json, path: str) -> Causes:
    registry = source.get("registry") or ""
    if not registry:
        yield causes.required(
            f"{path}.registry", "must be a host:port pair or multiple pairs separated by commas"
        )
    elif not all(re.fullmatch(r"[^:]*:[^:]*", each) for each in registry.split(",")):
        rule = "must be a host:port pair or multiple pairs separated by commas"
        yield causes.invalid(f"{path}.registry", registry, rule)
    yield from _required("volume")(source, path)


def _downward(source: Json, path: str) -> Causes:
    yield from check_file_mode(f"{path}.defaultMode", source.get("defaultMode"))
    # kube-apiserver reports problems of all items under the path of the volume.
    for _, each in enumerate_objects(source.get("items")):
        yield from _downward_file(each, path)


def _downward_file(item: Json, path: str) -> Causes:
    # `validateDownwardAPIVolumeFile`.
    target, field, resource = item.get("path"), item.get("fieldRef"), item.get("resourceFieldRef")
    if not target:
        yield causes.required(f"{path}.path")
    yield from check_relative_path(f"{path}.path", target or "", reserved=True)
    if isinstance(field, Mapping):
        yield from check_field_ref(field, f"{path}.fieldRef", in_volume=True)
        if resource is not None:
            yield causes.invalid(
                path,
                "resource",
                "fieldRef and resourceFieldRef can not be specified simultaneously",
            )
    elif isinstance(resource, Mapping):
        yield from check_resource_ref(resource, f"{path}.resourceFieldRef", in_volume=True)
    else:
        yield causes.required(path, "one of fieldRef and resourceFieldRef is required")
    yield from check_file_mode(f"{path}.mode", item.get("mode"))


def _projected(source: Json, path: str) -> Causes:
    yield from problems_of_projected(source, path, _downward_file)


def _fibre_channel(source: Json, path: str) -> Causes:
    names, wwids, lun = source.get("targetWWNs"), source.get("wwids"), source.get("lun")
    if not names and not wwids:
        yield causes.required(
            f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both"
        )
    if names and wwids:
        yield causes.invalid(
            f"{path}.targetWWNs", names, "targetWWNs and wwids can not be specified simultaneously"
        )
    if names:
        if lun is None:
            yield causes.required(f"{path}.lun", "lun is required if targetWWNs is specified")
        yield from check_range(f"{path}.lun", lun, 0, 255)


def _flex_volume(source: Json, path: str) -> Causes:
    yield from _required("driver")(source, path)
    for key in source.get("options") or ():
        domain = "." + key.partition("/")[0].lower()
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            rule = "the domains kubernetes.io and k8s.io are reserved"
            yield causes.invalid(f"{path}.options[{key}]", key, rule)


def _azure_disk(source: Json, path: str) -> Causes:
    yield from _required("diskName", "diskURI")(source, path)
    uri, kind = source.get("diskURI") or "", source.get("kind")
    modes, kinds = ("None", "ReadOnly", "ReadWrite"), ("Dedicated", "Managed", "Shared")
    yield from check_choice(f"{path}.cachingMode", source.get("cachingMode"), modes)
    yield from check_choice(f"{path}.kind", kind, kinds)
    start = "/subscriptions/" if kind == "Managed" else "https://"
    if kind and not uri.startswith(start):
        yield causes.not_supported(f"{path}.diskURI", uri, (start,))


def _storage_os(source: Json, path: str) -> Causes:
    yield from _required("volumeName")(source, path)
    for field in ("volumeName", "volumeNamespace"):
        if source.get(field):
            yield from check_name(f"{path}.{field}", source[field], problems_of_dns_label)
    secret = source.get("secretRef")
    if isinstance(secret, Mapping) and not secret.get("name"):
        yield causes.required(f"{path}.secretRef.name")


def check_driver(path: str, name: str) -> Causes:
    """The name of a CSI driver."""
    if not name:
        yield causes.required(path)
        return
    if len(name) > 63:
        yield causes.too_long(path, 63)
    yield from (
        causes.invalid(path, name, problem) for problem in problems_of_dns_subdomain(name.lower())
    )


def _csi(source: Json, path: str) -> Causes:
    yield from check_driver(f"{path}.driver", source.get("driver") or "")
    secret = source.get("nodePublishSecretRef")
    if isinstance(secret, Mapping):
        if not secret.get("name"):
            yield causes.required(f"{path}.nodePublishSecretRef.name")
        else:
            yield from check_name(f"{path}.name", secret["name"], problems_of_dns_subdomain)


def _ephemeral(source: Json, path: str) -> Causes:
    where, template = f"{path}.volumeClaimTemplate", source.get("volumeClaimTemplate")
    if isinstance(template, Mapping):
        yield from problems_of_claim_template(template, where)
    else:
        yield causes.required(where)


def _image(source: Json, path: str) -> Causes:
    yield from _required("reference")(source, path)
    policies = ("Always", "IfNotPresent", "Never")
    where = f"{path}.pullPolicy"
    yield from check_choice(where, source.get("pullPolicy"), policies, required=True)


# In the order of `validateVolumeSource`.
SOURCES: Final[dict[str, _Check]] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": _disk("pdName"),
    "awsElasticBlockStore": _disk("volumeID"),
    "secret": _secret("secretName"),
    "nfs": _nfs,
    "iscsi": _iscsi,
    "glusterfs": _required("endpoints", "path"),
    "flocker": _flocker,
    "persistentVolumeClaim": _required("claimName"),
    "rbd": _required("monitors", "image"),
    "cinder": _cinder,
    "cephfs": _required("monitors"),
    "quobyte": _quobyte,
    "downwardAPI": _downward,
    "fc": _fibre_channel,
    "flexVolume": _flex_volume,
    "configMap": _secret("name"),
    "azureFile": _required("secretName", "shareName"),
    "vsphereVolume": _required("volumePath"),
    "photonPersistentDisk": _required("pdID"),
    "portworxVolume": _required("volumeID"),
    "azureDisk": _azure_disk,
    "storageos": _storage_os,
    "projected": _projected,
    "scaleIO": _required("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
