"""Discovery, aggregated and legacy, and the version document.

Guarantees: a document is built once for each generation of the registry and cached as bytes;
groups are in kube-apiserver's order, custom ones after the built-in ones by name; versions in
the order of preference. The ETag changes with the content.
See also: what is served (`registry`), the schemas of objects (`openapi`).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from ..registry import Registry, ServedResource
from ..values.go_types import kubernetes_minor
from .documents import Document, cached_documents
from .health import health_paths

__all__ = [
    "AGGREGATED",
    "Document",
    "Root",
    "aggregated",
    "legacy_group",
    "legacy_groups",
    "legacy_resources",
    "legacy_versions",
    "paths",
    "version",
]

# The media type of aggregated discovery; kube-apiserver no longer serves v2beta1.
AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

Root = Literal["/api", "/apis"]


def aggregated(registry: Registry, root: Root) -> Document:
    """Everything below `/api` or `/apis` in one document."""
    cache = cached_documents(registry)
    key = ("aggregated", root)
    if key not in cache:
        items = [_group(registry, group) for group in _groups(registry, root)]
        tag = hashlib.sha512(msgspec.json.encode(items)).hexdigest().upper()
        body = {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        }
        cache[key] = Document(msgspec.json.encode(body), AGGREGATED, f'"{tag}"')
    return cache[key]


def legacy_versions(address: str) -> dict[str, Any]:
    """The document at `/api`; `address` is that of the server (`127.0.0.1:6443`)."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def legacy_groups(registry: Registry) -> dict[str, Any]:
    """The document at `/apis`."""
    groups = [_api_group(registry, group) for group in _groups(registry, "/apis")]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def legacy_group(registry: Registry, group: str) -> dict[str, Any] | None:
    """The document at `/apis/<group>`; None if the group is not served."""
    # The core group has no such document.
    if not group or group not in registry.groups():
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_api_group(registry, group)}


def legacy_resources(registry: Registry, group: str, version: str) -> dict[str, Any] | None:
    """The document at `/api/v1` or `/apis/<group>/<version>`; None if it is not served."""
    if not registry.has_version(group, version):
        return None
    found = [
        each
        for served in _in_order(registry.in_version(group, version))
        for each in _api_resources(served)
    ]
    api_version = f"{group}/{version}" if group else version
    head: dict[str, Any] = {"kind": "APIResourceList"}
    if group:  # kube-apiserver omits the apiVersion of /api/v1 only
        head["apiVersion"] = "v1"
    return {**head, "groupVersion": api_version, "resources": found}


def paths(registry: Registry, others: Iterable[str]) -> dict[str, Any]:
    """The document at `/`: the paths of the server; `others` are added to the known ones."""
    found = ["/api", "/api/v1", "/apis", "/apis/", "/metrics", "/version", *others]
    found += ["/openapi/v2", "/openapi/v3", "/openapi/v3/", *health_paths()]
    for group in _groups(registry, "/apis"):
        found.append(f"/apis/{group}")
        found += [f"/apis/{group}/{each}" for each in registry.groups()[group]]
    return {"paths": sorted(found)}


def version() -> dict[str, str]:
    """The document at `/version`."""
    minor = kubernetes_minor()
    return {
        "major": "1",
        "minor": str(minor),
        "emulationMajor": "1",
        "emulationMinor": str(minor),
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": str(minor - 1),
        "gitVersion": f"v1.{minor}.0+kubeloop",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "python/any",
    }


# --- groups


def _groups(registry: Registry, root: Root) -> list[str]:
    """The groups below a root: built-in ones in the registry's order, then custom ones by name."""
    if root == "/api":
        return [""]
    custom = {each.group for each in registry.all() if each.custom is not None}
    built_in = {each.group for each in registry.all() if each.custom is None}
    groups = [group for group in registry.groups() if group]
    first = [group for group in groups if group in built_in]
    return first + sorted(group for group in groups if group in custom - built_in)


def _api_group(registry: Registry, group: str) -> dict[str, Any]:
    # The first version is the preferred one.
    versions = [
        {"groupVersion": f"{group}/{each}", "version": each} for each in registry.groups()[group]
    ]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _group(registry: Registry, group: str) -> dict[str, Any]:
    versions = [
        {
            "version": each,
            "resources": [
                _resource(served) for served in _in_order(registry.in_version(group, each))
            ],
            "freshness": "Current",
        }
        for each in registry.groups()[group]
    ]
    return {"metadata": {"name": group} if group else {}, "versions": versions}


def _in_order(served: tuple[ServedResource, ...]) -> list[ServedResource]:
    return sorted(served, key=lambda each: each.plural)


# --- resources


def _resource(served: ServedResource) -> dict[str, Any]:
    resource: dict[str, Any] = {
        "resource": served.plural,
        "responseKind": _response_kind(served, served.group, served.version, served.kind),
        "scope": "Namespaced" if served.namespaced else "Cluster",
        "singularResource": served.singular,
        "verbs": list(served.verbs),
        "shortNames": list(served.short_names),
        "categories": list(served.categories),
        "subresources": [
            {
                "subresource": part.name,
                "responseKind": _response_kind(served, part.group, part.version, part.kind),
                "verbs": list(part.verbs),
            }
            for part in served.parts
        ],
    }
    return _without_empty(resource, "shortNames", "categories", "subresources")


def _response_kind(served: ServedResource, group: str, version: str, kind: str) -> dict[str, str]:
    # kube-apiserver omits group and version of built-in kinds in their own group version.
    if served.custom is None and (group, version) == (served.group, served.version):
        group = version = ""
    return {"group": group, "version": version, "kind": kind}


def _without_empty(resource: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in resource.items() if value or key not in keys}


def _api_resources(served: ServedResource) -> Iterator[dict[str, Any]]:
    """A resource and its subresources as in the legacy document."""
    resource: dict[str, Any] = {
        "name": served.plural,
        "singularName": served.singular,
        "namespaced": served.namespaced,
        "kind": served.kind,
        "verbs": list(served.verbs),
        "shortNames": list(served.short_names),
        "categories": list(served.categories),
        "storageVersionHash": _storage_hash(served) if "watch" in served.verbs else "",
    }
    yield _without_empty(resource, "shortNames", "categories", "storageVersionHash")
    for part in served.parts:
        is_foreign = (part.group, part.version) != (served.group, served.version)
        group_version = {"group": part.group, "version": part.version} if is_foreign else {}
        yield {
            "name": f"{served.plural}/{part.name}",
            "singularName": "",
            "namespaced": served.namespaced,
            **group_version,
            "kind": part.kind,
            "verbs": list(part.verbs),
        }


# kube-apiserver still stores these in an older version, so that the minor version before it can
# read them. What the embedded server stores is its own affair; clients see the hash only. A table,
# and no field of `Kind`, because discovery would then import the modules of all kinds.
_STORED_VERSIONS: Final = {
    ("apiextensions.k8s.io", "customresourcedefinitions"): "v1beta1",
    ("certificates.k8s.io", "clustertrustbundles"): "v1beta1",
    ("certificates.k8s.io", "podcertificaterequests"): "v1beta1",
    ("resource.k8s.io", "devicetaintrules"): "v1beta2",
    ("storagemigration.k8s.io", "storageversionmigrations"): "v1beta1",
}


def _storage_hash(served: ServedResource) -> str:
    """The storageVersionHash, computed as by `StorageVersionHash` of kube-apiserver."""
    version = _STORED_VERSIONS.get(served.storage, served.storage_version)
    text = f"{served.storage[0]}/{version}/{served.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()
