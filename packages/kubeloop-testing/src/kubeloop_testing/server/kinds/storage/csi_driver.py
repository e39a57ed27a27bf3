"""CSIDriver (storage.k8s.io): defaults, validation, warnings and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import json_equal, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since, Warnings
from ..rules.cell_text import age_of, items_at, name_of
from ..rules.defaults import in_spec
from ..rules.field_rules import check_known
from ..rules.value_rules import check_unchanged, enumerate_objects

__all__ = ["KIND"]


def _driver(spec: JsonObject) -> JsonObject:
    # `SetDefaults_CSIDriver`.
    if not spec.get("volumeLifecycleModes"):
        spec = {**spec, "volumeLifecycleModes": ["Persistent"]}
    return with_defaults(
        spec,
        {
            "attachRequired": True,
            "podInfoOnMount": False,
            "storageCapacity": False,
            "fsGroupPolicy": "ReadWriteOnceWithFSType",
            "requiresRepublish": False,
            "seLinuxMount": False,
            "preventPodSchedulingIfMissing": False,
        },
    )


_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLE_MODES: Final = ("Persistent", "Ephemeral")


def _validate(obj: Json, old: Json | None) -> Causes:
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


def _token_requests(spec: Json) -> Causes:
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


def _warn(obj: Json, old: Json | None) -> Warnings:
    spec = obj.get("spec") or {}
    requests = spec.get("tokenRequests")
    is_new = old is None or not json_equal(requests, value_at(old, "spec", "tokenRequests"))
    if requests and is_new and spec.get("serviceAccountTokenInSecrets") is None:
        yield (
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to "
            "true to prevent possible logging of tokens in volume attributes"
        )


def _cells(obj: Json, since: Since) -> list[Any]:
    attach, requests = (
        value_at(obj, "spec", "attachRequired"),
        value_at(obj, "spec", "tokenRequests"),
    )
    audiences = ",".join(str(value_at(each, "audience") or "") for each in requests or ())
    return [
        name_of(obj),
        True if attach is None else bool(attach),
        bool(value_at(obj, "spec", "podInfoOnMount")),
        bool(value_at(obj, "spec", "storageCapacity")),
        "<unset>" if requests is None else audiences,
        bool(value_at(obj, "spec", "requiresRepublish")),
        ",".join(map(str, items_at(obj, "spec", "volumeLifecycleModes"))) or "<none>",
        age_of(obj, since),
    ]


KIND: Final = Kind(
    "storage.k8s.io",
    "CSIDriver",
    generation="from zero",
    requires_version=True,
    returns_deleted=True,
    defaults=(in_spec(_driver),),
    validate=_validate,
    warn=_warn,
    columns="Name, AttachRequired:boolean, PodInfoOnMount:boolean, StorageCapacity:boolean, "
    "TokenRequests, RequiresRepublish:boolean, Modes, Age",
    cells=_cells,
)
