"""The strategy of a resource: conversion, defaulting, preparation and validation.

One interface for built-in kinds and CRDs, in the role of kube-apiserver's
`RESTCreateStrategy` and `RESTUpdateStrategy`.

Guarantees: pure; built-in kinds are validated in their storage version, as kube-apiserver
validates the internal version; custom kinds by the schema of the version they are sent in.
See also: `kinds` and `schema` (the rules themselves), `objects` (system metadata),
`writing` (the order of the steps).
"""

from __future__ import annotations

import logging

from ..identity import User
from ..kinds import strategies
from ..kinds.core.allocation import Reservation
from ..kinds.strategies import convert
from ..registry import ServedResource
from ..schema.crd_warnings import not_evaluated, warnings_of_crd
from ..statuses import Cause, bad_request
from ..storage.store import Object
from ..values.zero_values import complete as complete_builtin
from .not_evaluated import GROUP as _ADMISSION
from .not_evaluated import not_evaluated as not_evaluated_by_admission

__all__ = [
    "SIGNING_REQUESTS",
    "allocate_update",
    "complete",
    "default",
    "prepare_create",
    "prepare_part",
    "prepare_update",
    "to_storage_version",
    "validation_causes",
    "warnings_of",
    "with_requester",
]

_DEFINITIONS = ("apiextensions.k8s.io", "customresourcedefinitions")
log = logging.getLogger(__name__)

SIGNING_REQUESTS = ("certificates.k8s.io", "certificatesigningrequests")


def to_storage_version(served: ServedResource, obj: Object) -> Object:
    """`obj`, sent in the version of `served`, in its storage version.

    A custom object keeps its version until it is stored: it is validated by that schema.
    """
    if served.is_storage_version or served.custom is not None:
        return obj
    try:
        return convert(obj, served.storage[0], served.kind, served.storage_version)
    except (KeyError, TypeError, ValueError) as error:
        raise bad_request(f"{served.kind} cannot be converted: {error}") from error


def default(served: ServedResource, obj: Object) -> Object:
    """`obj` with its default values."""
    return strategies.default(served.strategy, obj)


def complete(
    served: ServedResource,
    obj: Object,
    *known: Object,
    metadata: bool = False,
    stored: bool = True,
) -> Object:
    """`obj` as Go's types write it: with zero values, and without what is empty.

    What it shares with the objects in `known` is so already. So is its metadata, unless `metadata`
    is set, for an object that was not decoded since an apply or a webhook changed it. Without
    `stored` the result is what managed fields see, before etcd makes empty lists nil. Custom kinds
    have no Go types.
    """
    if served.custom is not None:
        return obj
    completed = served.strategy.completed
    if completed and not metadata:
        known = ({field: obj.get(field) for field in completed}, *known)
    return complete_builtin(obj, *known, metadata=metadata, stored=stored)


def validation_causes(
    served: ServedResource, obj: Object, old: Object | None, *, part: str = ""
) -> list[Cause]:
    """Why `obj` is invalid, or why `old` may not become it by writing `part`."""
    causes = strategies.validate(served.strategy, obj, old, subresource=part)
    if served.custom is not None:
        causes += served.custom.schema.validate(obj, old)
        if served.custom.scale is not None:
            causes += served.custom.scale.problems_of(obj)
    return causes


def warnings_of(
    served: ServedResource, obj: Object, old: Object | None, *, part: str = ""
) -> list[str]:
    """What a client should know about a valid write, such as deprecated fields.

    What this server does not evaluate is logged, too.
    """
    warnings = strategies.warnings_of(served.strategy, obj, old, subresource=part)
    if part:
        return warnings
    if served.group == _ADMISSION:
        ignored = not_evaluated_by_admission(served.plural, obj, old)
        return [*warnings, *_logged(served, obj, ignored)]
    if served.storage == _DEFINITIONS:
        ignored = _logged(served, obj, not_evaluated(obj, old))
        return [*warnings, *warnings_of_crd(obj, old), *ignored]
    return warnings


def _logged(served: ServedResource, obj: Object, warnings: list[str]) -> list[str]:
    for each in warnings:
        log.warning("%s %s: %s", served.kind, obj["metadata"].get("name", ""), each)
    return warnings


def prepare_create(served: ServedResource, obj: Object, reservation: Reservation) -> Object:
    """A new object as its kind starts: status reset, cluster addresses allocated."""
    return strategies.prepare_for_create(served.strategy, obj, reservation)


def with_requester(obj: Object, user: User | None) -> Object:
    """A new CertificateSigningRequest with the user that created it in its spec."""
    if user is None:
        return obj
    requester = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    sent = {key: value for key, value in (obj.get("spec") or {}).items() if key not in requester}
    return {**obj, "spec": {**sent, **{key: value for key, value in requester.items() if value}}}


def prepare_update(served: ServedResource, obj: Object, old: Object) -> Object:
    """An updated object with what its kind keeps of the old one."""
    prepare = served.strategy.prepare_update
    return obj if prepare is None else prepare(obj, old)


def allocate_update(
    served: ServedResource, obj: Object, old: Object, reservation: Reservation
) -> Object:
    """An updated service with the allocated values that the update leaves out."""
    allocate = served.strategy.allocate_update
    return obj if allocate is None else allocate(obj, old, reservation)


def prepare_part(
    served: ServedResource, obj: Object, old: Object, *, part: str, now: str
) -> Object:
    """An object after a write to a subresource, with what the server sets in its status."""
    prepare = served.strategy.prepare_part
    return obj if prepare is None else prepare(obj, old, part, now)
