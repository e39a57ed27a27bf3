"""Helpers of the tests of apply: objects, apply and update, and the resulting owners."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kubeloop.wire import TypeFacts, facts_of
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Pod, Service
from kubeloop_testing.server.apply import managed
from kubeloop_testing.server.apply.fieldsets import FieldSet, path_text
from kubeloop_testing.server.apply.reset_fields import NO_RESETS, ResetFields
from kubeloop_testing.server.statuses import StatusError

KINDS: dict[str, tuple[str, TypeFacts]] = {
    "Deployment": ("apps/v1", facts_of(Deployment)),
    "ConfigMap": ("v1", facts_of(ConfigMap)),
    "Pod": ("v1", facts_of(Pod)),
    "Service": ("v1", facts_of(Service)),
}
# Of a kind with a status subresource.
RESETS = {"": ResetFields((("status",),)), "status": ResetFields((("spec",),))}
NOW = "2024-01-01T00:00:00Z"
LATER = "2024-01-01T00:00:05Z"

Object = dict[str, Any]


def obj(kind: str, **parts: Any) -> Object:
    metadata = {"name": "web", **parts.pop("metadata", {})}
    return {"apiVersion": KINDS[kind][0], "kind": kind, "metadata": metadata, **parts}


def config(**data: str) -> Object:
    return obj("ConfigMap", data=data)


def deployment(**spec: Any) -> Object:
    return obj("Deployment", spec=spec)


def pod(*containers: Object, **spec: Any) -> Object:
    return obj("Pod", spec={"containers": list(containers), **spec})


def apply(
    live: Object | None,
    body: Object,
    manager: str = "me",
    *,
    force: bool = False,
    subresource: str = "",
    now: str = NOW,
    **options: Any,
) -> Object:
    version, facts = KINDS.get(body["kind"], (body["apiVersion"], None))
    return managed.apply(
        live,
        body,
        manager=manager,
        force=force,
        api_version=options.pop("api_version", version),
        subresource=subresource,
        facts=options.pop("facts", facts),
        now=now,
        resets=options.pop("resets", RESETS.get(subresource, NO_RESETS)),
        **options,
    )


def track(
    old: Object | None,
    new: Object,
    manager: str = "me",
    *,
    subresource: str = "",
    now: str = NOW,
    **options: Any,
) -> Object:
    version, facts = KINDS.get(new["kind"], (new["apiVersion"], None))
    return managed.track(
        old,
        new,
        manager=manager,
        api_version=options.pop("api_version", version),
        subresource=subresource,
        facts=options.pop("facts", facts),
        now=now,
        resets=options.pop("resets", RESETS.get(subresource, NO_RESETS)),
        **options,
    )


def changed(old: Object, **parts: Any) -> Object:
    """A client's update: the object as it was read, with other fields."""
    return {**copy.deepcopy(old), **parts}


def entries(of: Object) -> list[Object]:
    found: list[Object] = of["metadata"].get("managedFields", [])
    return found


def owners(of: Object) -> dict[tuple[str, str], set[str]]:
    """The paths of each manager, without those of the elements and maps themselves."""
    return {
        (each["manager"], each["operation"]): {
            path_text(path) for path in FieldSet.parse(each["fieldsV1"]).leaves().paths()
        }
        for each in entries(of)
    }


def apply_error(live: Object | None, body: Object, manager: str = "me", **options: Any) -> Object:
    with pytest.raises(StatusError) as caught:
        apply(live, body, manager, **options)
    return caught.value.status
