"""The strategy of a resource: conversion, defaulting, preparation and validation.

One interface for built-in kinds and CRDs, in the role of kube-apiserver's
`RESTCreateStrategy` and `RESTUpdateStrategy`.

Guarantees: pure; built-in kinds are validated in their storage version, as kube-apiserver
validates the internal version; custom kinds by the schema of the version they are sent in.
See also: `builtin` and `schema` (the rules themselves), `objects` (system metadata),
`writing` (the order of the steps).
"""

from __future__ import annotations

from ..builtin.allocation import Allocator
from ..builtin.builtin_defaults import default as default_builtin
from ..builtin.builtin_validation import prepare_for_create as prepare_builtin
from ..builtin.builtin_validation import prepare_for_update, validate, with_condition_times
from ..builtin.conversion import convert
from ..builtin.service_preparation import update_service
from ..builtin.warnings import warnings_of as builtin_warnings
from ..identity import User
from ..registry import ServedResource
from ..statuses import Cause, bad_request
from ..storage.store import Object

__all__ = [
    "SIGNING_REQUESTS",
    "allocate_update",
    "default",
    "prepare_conditions",
    "prepare_create",
    "prepare_update",
    "to_storage_version",
    "validation_causes",
    "warnings_of",
    "with_requester",
]

_PODS = ("", "pods")
SIGNING_REQUESTS = ("certificates.k8s.io", "certificatesigningrequests")


def to_storage_version(served: ServedResource, obj: Object) -> Object:
    """`obj`, sent in the version of `served`, in its storage version."""
    if served.is_storage_version:
        return obj
    if served.custom is not None:
        # Like the conversion strategy None of CRDs: only apiVersion changes.
        group = served.storage[0]
        return {**obj, "apiVersion": f"{group}/{served.storage_version}"}
    try:
        return convert(obj, served.storage[0], served.kind, served.storage_version)
    except (KeyError, TypeError, ValueError) as error:
        raise bad_request(f"{served.kind} cannot be converted: {error}") from error


def default(served: ServedResource, obj: Object) -> Object:
    """`obj` with its default values."""
    if served.custom is not None:
        found: Object = served.custom.schema.default(obj)
        return found
    return default_builtin(served.storage[0], served.kind, obj)


def validation_causes(
    served: ServedResource, obj: Object, old: Object | None, *, part: str = ""
) -> list[Cause]:
    """Why `obj` is invalid, or why `old` may not become it by writing `part`."""
    # Events have stricter rules in the group events.k8s.io, although both share a storage.
    group, kind = served.storage[0], served.kind
    group = served.group if kind == "Event" else group
    causes: list[Cause] = list(validate(group, kind, obj, old, subresource=part))
    if served.custom is not None:
        causes += served.custom.schema.validate(obj, old)
        if served.custom.scale is not None:
            causes += served.custom.scale.problems_of(obj)
    return causes


def warnings_of(
    served: ServedResource, obj: Object, old: Object | None, *, part: str = ""
) -> list[str]:
    """What a client should know about a valid write, such as deprecated fields."""
    if served.custom is not None:
        return []
    return builtin_warnings(served.storage[0], served.kind, obj, old, subresource=part)


def prepare_create(served: ServedResource, obj: Object, allocator: Allocator) -> Object:
    """A new object as its kind starts: status reset, cluster addresses allocated."""
    if served.custom is not None:
        # With the status subresource enabled, a create ignores the status that was sent.
        if served.custom.has_status:
            return {key: value for key, value in obj.items() if key != "status"}
        return obj
    return prepare_builtin(served.storage[0], served.kind, obj, allocator)


def with_requester(obj: Object, user: User | None) -> Object:
    """A new CertificateSigningRequest with the user that created it in its spec."""
    if user is None:
        return obj
    requester = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    spec = {**(obj.get("spec") or {}), **{key: value for key, value in requester.items() if value}}
    return {**obj, "spec": spec}


def prepare_update(served: ServedResource, obj: Object, old: Object) -> Object:
    """An updated object with what its kind keeps of the old one."""
    if served.custom is not None:
        return obj
    return prepare_for_update(served.storage[0], served.kind, obj, old)


def allocate_update(
    served: ServedResource, obj: Object, old: Object, allocator: Allocator
) -> Object:
    """An updated service with the allocated values that the update leaves out."""
    is_service = served.storage == ("", "services")
    return update_service(obj, old, allocator) if is_service else obj


def prepare_conditions(served: ServedResource, obj: Object, old: Object, *, now: str) -> Object:
    """An object after a write to a subresource, with what the server sets in its status."""
    if served.storage == SIGNING_REQUESTS:
        return with_condition_times(obj, old, now=now)
    if served.storage == _PODS:
        return _with_quality(obj, old)
    return obj


def _with_quality(pod: Object, old: Object) -> Object:
    # podStatusStrategy.PrepareForUpdate: a client need not repeat the class.
    status, former = pod.get("status") or {}, (old.get("status") or {}).get("qosClass")
    if status.get("qosClass") or not former:
        return pod
    return {**pod, "status": {**status, "qosClass": former}}
