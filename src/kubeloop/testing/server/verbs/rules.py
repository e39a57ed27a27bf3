"""What a kind's own rules say of an object: one way to ask, for built-in and custom kinds.

Promises: pure; built-in kinds are judged in the version they are stored in, custom ones
by the schema of the version they are sent in.
Elsewhere: the rules themselves (`unknown_fields`, `builtin_defaults`,
`builtin_validation`, `schemas`), what is done with objects (`objects`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..builtin.allocation import Allocator
from ..builtin.builtin_defaults import default as fill
from ..builtin.builtin_validation import (
    prepare_for_create,
    prepare_for_update,
    validate,
    with_condition_times,
)
from ..builtin.conversion import convert
from ..registry import Served
from ..statuses import Cause, bad_request
from ..storage.store import Object
from ..values.unknown_fields import check_types

__all__ = [
    "Known",
    "dated",
    "default",
    "known",
    "prepared",
    "problems",
    "renewed",
    "requested",
    "stored",
]

_SIGNING_REQUESTS = ("certificates.k8s.io", "certificatesigningrequests")


class Known(NamedTuple):
    """An object without what its kind does not know."""

    obj: Object
    unknown: list[str]  # paths of what went
    problems: list[str]  # why it cannot be decoded at all


def known(served: Served, obj: Object) -> Known:
    """`obj` as its kind knows it."""
    if served.custom is not None:
        pruned, unknown = served.custom.schema.prune(obj)
        return Known(pruned, unknown, [])
    cls = served.cls
    if cls is None:
        return Known(obj, [], [])
    return Known(*check_types(cls, obj))


def stored(served: Served, obj: Object) -> Object:
    """`obj`, sent in the version of `served`, in the version it is stored in."""
    if (served.group, served.version) == (served.storage[0], served.storage_version):
        return obj
    if served.custom is not None:
        group = served.storage[0]
        return {**obj, "apiVersion": f"{group}/{served.storage_version}"}
    try:
        return convert(obj, served.storage[0], served.kind, served.storage_version)
    except (KeyError, TypeError, ValueError) as error:
        raise bad_request(f"{served.kind} cannot be converted: {error}") from error


def default(served: Served, obj: Object) -> Object:
    """`obj` with every default filled in."""
    if served.custom is not None:
        found: Object = served.custom.schema.default(obj)
        return found
    return fill(served.storage[0], served.kind, obj)


def problems(served: Served, obj: Object, old: Object | None, *, part: str = "") -> list[Cause]:
    """What is wrong with `obj`, or with changing `old` into it by writing `part`."""
    group, kind = served.storage[0], served.kind
    causes: list[Cause] = list(validate(group, kind, obj, old, subresource=part))
    if served.custom is not None:
        causes += served.custom.schema.validate(obj, old)
        if served.custom.scale is not None:
            causes += served.custom.scale.problems_of(obj)
    return causes


def prepared(served: Served, obj: Object, allocator: Allocator) -> Object:
    """A new object as its kind starts: status reset, addresses allocated."""
    if served.custom is not None:
        if served.custom.has_status:
            return {key: value for key, value in obj.items() if key != "status"}
        return obj
    return prepare_for_create(served.storage[0], served.kind, obj, allocator)


def requested(served: Served, obj: Object, user: Any) -> Object:
    """A new object with who asked for it, where its kind keeps that."""
    if served.storage != _SIGNING_REQUESTS or user is None:
        return obj
    said = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    spec = {**(obj.get("spec") or {}), **{key: value for key, value in said.items() if value}}
    return {**obj, "spec": spec}


def renewed(served: Served, obj: Object, old: Object, allocator: Allocator) -> Object:
    """A changed object with what it was given before and does not say again."""
    if served.custom is not None:
        return obj
    return prepare_for_update(served.storage[0], served.kind, obj, old, allocator)


def dated(served: Served, obj: Object, old: Object, *, now: str) -> Object:
    """An object with the times of its new conditions, where its kind has the server set them."""
    return with_condition_times(obj, old, now=now) if served.storage == _SIGNING_REQUESTS else obj
