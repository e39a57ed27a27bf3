"""Objects between request and storage: decoding, system metadata, the result of an update.

Guarantees: pure; clients cannot set system metadata (uid, timestamps, generation); the
objects that are passed in are never modified.
See also: `kinds` (what differs by kind), `writing` (the order of the steps).
"""

from __future__ import annotations

import functools
import json
from typing import Final, NamedTuple

import msgspec

from kubeloop.wire import Json, Subresource, class_for

from ..kinds.strategies import convert
from ..registry import ServedResource
from ..request.negotiation import JSON, body_summary, decode_body
from ..request.options import FieldValidation, parse_version
from ..statuses import Cause, StatusError, bad_request, invalid, untyped_error
from ..storage.store import Object, encoded, new_uid
from ..values.deep_json import is_deep
from ..values.go_types import go_type_of
from ..values.shared_specs import decode_shared, shared_text, with_shared_spec
from ..values.unknown_fields import TypeCheck, check_types, duplicate_fields
from ..values.zero_values import complete as complete_builtin

__all__ = [
    "DecodedObject",
    "check_name",
    "check_new_version",
    "complete",
    "decode_object",
    "decode_subresource",
    "duplicate_fields_in",
    "is_noop",
    "is_removable",
    "match_path",
    "read_object",
    "to_storage_version",
    "with_system_metadata",
    "without_repeated_owners",
]

_REPEATED_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner "
    "references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
    "duplicate UID(s) observed: {uids}"
)


class DecodedObject(NamedTuple):
    """An object of a request in its storage version, and the warnings about its fields."""

    obj: Object
    warnings: list[str]
    sent: Object | None = None  # of an apply: the object as the client wrote it


def read_object(
    served: ServedResource, raw: bytes, media: str, *, validation: FieldValidation = "Warn"
) -> DecodedObject:
    """Read the object in a request's body.

    Raises:
        StatusError: 400 for a body that is no object of the kind.
    """
    shared = decode_shared(raw) if media == JSON else None
    obj = decode_body(raw, media, kind=served.kind) if shared is None else shared.obj
    if served.custom is not None:
        _check_custom_type(served, obj, raw)
    duplicates: list[str] = []
    if media == JSON and not (shared and shared.is_canonical):
        duplicates = duplicate_fields_in(raw, obj)
    if duplicates and served.custom is None:
        obj = json.loads(raw, object_pairs_hook=_merge_duplicates)
    return decode_object(
        served, with_shared_spec(obj), validation=validation, duplicates=duplicates, raw=raw
    )


def _merge_duplicates(pairs: list[tuple[str, Json]]) -> Object:
    """An object of which a key that occurs twice has both values, as Go decodes into structs."""
    found: Object = {}
    for key, value in pairs:
        found[key] = _merge_values(found[key], value) if key in found else value
    return found


def _merge_values(old: Json, new: Json) -> Json:
    if isinstance(old, dict) and isinstance(new, dict):
        merged = {key: _merge_values(old[key], new[key]) for key in old.keys() & new.keys()}
        return {**old, **new, **merged}
    if isinstance(old, list) and isinstance(new, list):
        # Go decodes into the elements that the list had.
        both = [_merge_values(*pair) for pair in zip(old, new, strict=False)]
        return [*both, *new[len(both) :]]
    return new


def duplicate_fields_in(raw: bytes, value: Json = None) -> list[str]:
    """A warning for each key that a body, which decodes to `value`, has twice."""
    if is_deep(raw):
        return []
    value = msgspec.json.decode(raw) if value is None else value
    # The usual case is fast: a body that encodes to itself, except for spaces, has no duplicates.
    if msgspec.json.format(raw, indent=-1) == encoded(value):
        return []
    return [f'duplicate field "{path}"' for path in duplicate_fields(raw)]


def decode_object(
    served: ServedResource,
    obj: Object,
    *,
    validation: FieldValidation,
    duplicates: list[str] | None = None,
    keep_empty: bool = False,
    raw: bytes = b"",
) -> DecodedObject:
    """`obj` without unknown fields, in its storage version.

    `raw` is the body, for errors. `validation` decides whether unknown and duplicate fields are
    ignored, warned about or rejected, as the query parameter `fieldValidation` does.

    Raises:
        StatusError: 400 for another kind, wrong types, or unknown fields under `Strict`.
    """
    kind, version = obj.get("kind") or served.kind, obj.get("apiVersion") or served.api_version
    if (kind, version) != (served.kind, served.api_version):
        raise _wrong_type(served, obj, f"{kind}", f"{version}", raw)
    obj = {**obj, "kind": served.kind, "apiVersion": served.api_version}
    unknown: list[str] = []
    problems: list[str] = []
    if served.custom is not None:
        obj, unknown = served.custom.schema.prune(obj)
        obj = served.custom.schema.without_nulls(obj)
    elif go_type := go_type_of(served.api_version, served.kind):
        obj, unknown, problems = _check_types(go_type, obj, keep_empty=keep_empty)
    if problems:
        raise _undecodable(served, problems[0])
    dropped = [] if validation == "Ignore" else duplicates or []
    if unknown:
        # The decoder skips an unknown field, so that it does not see it twice.
        lost = [f'unknown field "{path}"' for path in unknown]
        dropped = [each for each in dropped if each.replace("duplicate", "unknown", 1) not in lost]
        dropped += lost
    if dropped and validation == "Strict":
        raise _undecodable(served, f"strict decoding error: {', '.join(dropped)}")
    # Schemas of CRDs do not describe metadata, so this is checked for all kinds.
    if not isinstance(obj.get("metadata", {}), dict):
        raise _undecodable(served, "json: cannot unmarshal into Go struct field .metadata")
    if not served.is_storage_version:
        obj = to_storage_version(served, obj)
    return DecodedObject(obj, dropped if validation == "Warn" else [])


def _check_types(go_type: str, obj: Object, *, keep_empty: bool) -> TypeCheck:
    """`check_types`, which has seen most shared specs before."""
    text = shared_text(obj.get("spec"))
    if text is None or not _is_clean_spec(go_type, text):
        return check_types(go_type, obj, keep_empty=keep_empty)
    rest = {key: value for key, value in obj.items() if key != "spec"}
    found = check_types(go_type, rest, keep_empty=keep_empty)
    if found.object is rest:
        return TypeCheck(obj, found.unknown, found.problems)
    return TypeCheck({**found.object, "spec": obj["spec"]}, found.unknown, found.problems)


@functools.lru_cache(1024)
def _is_clean_spec(go_type: str, text: bytes) -> bool:
    spec = msgspec.json.decode(text)
    found = check_types(go_type, {"spec": spec})
    return found.object.get("spec") is spec and not found.unknown and not found.problems


def _check_custom_type(served: ServedResource, obj: Object, raw: bytes) -> None:
    # apiextensions-apiserver decodes unstructured objects, which must have kind and apiVersion;
    # the decoder of built-in kinds takes both from the path where they are missing.
    if not obj.get("kind"):
        text = raw.decode(errors="replace")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {served.kind}): "
            f"Object 'Kind' is missing in '{text}' ({body_summary(raw)})"
        )
    api_version = obj.get("apiVersion") or ""
    if api_version != served.api_version:
        raise bad_request(
            f"the API version in the data ({api_version}) does not match the expected API "
            f"version ({served.api_version})"
        )


def _wrong_type(
    served: ServedResource, obj: Object, kind: str, api_version: str, raw: bytes
) -> StatusError:
    if served.custom is None and api_version.count("/") > 1:
        return bad_request(
            f"the object provided is unrecognized (must be of type {served.kind}): unexpected "
            f"GroupVersion string: {api_version} ({body_summary(raw)})"
        )
    if served.custom is None and kind == served.kind and _is_registered(api_version, kind):
        return bad_request(
            f"the API version in the data ({api_version}) does not match the expected API "
            f"version ({served.api_version})"
        )
    if served.custom is None:
        return bad_request(_conversion_error(served.group, served.kind, api_version, kind))
    types = {"kind": (kind, served.kind), "apiVersion": (api_version, served.api_version)}
    causes = [
        Cause(field, "FieldValueInvalid", f'Invalid value: "{sent}": must be {expected}')
        for field, (sent, expected) in types.items()
        if sent != expected
    ]
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    return invalid(served.group, kind, name if isinstance(name, str) else "", causes)


_RBAC_VERSIONS: Final = "rbac.authorization.k8s.io/v1alpha1 rbac.authorization.k8s.io/v1beta1"
# Kinds in versions that kube-apiserver can read, although it no longer serves them.
_FORMER_VERSIONS: Final[dict[str, frozenset[str]]] = {
    kind: frozenset(versions.split())
    for kind, versions in {
        "ClusterRole": _RBAC_VERSIONS,
        "ClusterRoleBinding": _RBAC_VERSIONS,
        "CronJob": "batch/v1beta1",
        "CertificateSigningRequest": "certificates.k8s.io/v1beta1",
        "CSIDriver": "storage.k8s.io/v1beta1",
        "CustomResourceDefinition": "apiextensions.k8s.io/v1beta1",
        "DaemonSet": "apps/v1beta2 extensions/v1beta1",
        "Deployment": "apps/v1beta1 apps/v1beta2 extensions/v1beta1",
        "EndpointSlice": "discovery.k8s.io/v1beta1",
        "Event": "events.k8s.io/v1beta1",
        "FlowSchema": "flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1beta3",
        "Ingress": "networking.k8s.io/v1beta1 extensions/v1beta1",
        "IngressClass": "networking.k8s.io/v1beta1",
        "Lease": "coordination.k8s.io/v1beta1",
        "MutatingWebhookConfiguration": "admissionregistration.k8s.io/v1beta1",
        "NetworkPolicy": "extensions/v1beta1",
        "PodDisruptionBudget": "policy/v1beta1",
        "PriorityClass": "scheduling.k8s.io/v1beta1",
        "ReplicaSet": "apps/v1beta2 extensions/v1beta1",
        "Role": _RBAC_VERSIONS,
        "RoleBinding": _RBAC_VERSIONS,
        "RuntimeClass": "node.k8s.io/v1alpha1 node.k8s.io/v1beta1",
        "StatefulSet": "apps/v1beta1 apps/v1beta2",
        "StorageClass": "storage.k8s.io/v1beta1",
        "ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1beta1",
    }.items()
}


def _is_registered(api_version: str, kind: str) -> bool:
    group, _, version = api_version.rpartition("/")
    return api_version in _FORMER_VERSIONS.get(kind, ()) or (
        class_for(group, version, kind) is not None
    )


def _conversion_error(group: str, expected: str, api_version: str, kind: str) -> str:
    """Why an object of one built-in kind is not accepted for another: runtime.Scheme's errors."""
    sent_group, _, version = api_version.rpartition("/")
    if class_for(sent_group, version, kind) is None:
        why = (
            f'no kind "{kind}" is registered for version "{api_version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
    else:
        internal = group.partition(".")[0] or "core"
        why = f"converting ({version}.{kind}) to ({internal}.{expected}): unknown conversion"
    return f'{kind} in version "{version}" cannot be handled as a {expected}: {why}'


def _undecodable(served: ServedResource, why: str) -> StatusError:
    return bad_request(
        f'{served.kind} in version "{served.version}" cannot be handled as a {served.kind}: {why}'
    )


def decode_subresource(part: Subresource, obj: Object) -> Object:
    """`obj` as the kind of a subresource's body, such as Scale or Eviction.

    Raises:
        StatusError: 400 for another kind or wrong types.
    """
    kind, own = obj.get("kind") or part.kind, f"{part.group}/{part.version}".removeprefix("/")
    if kind != part.kind:
        sent = f"{obj.get('apiVersion') or own}"
        raise bad_request(_conversion_error(part.group, part.kind, sent, f"{kind}"))
    go_type = go_type_of(own, part.kind)
    if not go_type:
        return obj
    found = check_types(go_type, obj)
    if found.problems:
        raise bad_request(
            f'{part.kind} in version "{part.version}" cannot be handled as a {part.kind}: '
            f"{found.problems[0]}"
        )
    return found.object


def check_name(obj: Object, name: str) -> None:
    """Reject an object without the name that the path has (`StatusError`)."""
    meta = obj.get("metadata")
    if name and not (isinstance(meta, dict) and meta.get("name")):
        raise bad_request(
            f"the name of the object ({name} based on URL) was undeterminable: name must "
            "be provided"
        )


def match_path(served: ServedResource, obj: Object, namespace: str, name: str = "") -> Object:
    """`obj` with the namespace of the request's path.

    The checks are those of `EnsureObjectNamespaceMatchesRequestNamespace` and of the name
    check in kube-apiserver's update handler.

    Raises:
        StatusError: 400 when namespace or name of the object differ from the path.
    """
    meta: Object = obj.get("metadata") or {}
    own = meta.get("namespace") or ""
    if own and served.namespaced and own != namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    check_name(obj, name)
    if name and meta.get("name") != name:
        raise bad_request(
            f"the name of the object ({meta.get('name')}) does not match the name on the "
            f"URL ({name})"
        )
    if served.namespaced and own != namespace:
        meta = {**meta, "namespace": namespace}
    elif not served.namespaced and "namespace" in meta:
        meta = {key: value for key, value in meta.items() if key != "namespace"}
    return obj if meta is obj.get("metadata") else {**obj, "metadata": meta}


# --- versions and zero values


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


# --- new objects

_SYSTEM_FIELDS = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)


def with_system_metadata(served: ServedResource, obj: Object, *, now: str) -> Object:
    """A new object with uid, creation time and generation (`FillObjectMetaSystemFields`)."""
    meta = dict(obj.get("metadata") or {})
    for field in _SYSTEM_FIELDS:
        meta.pop(field, None)
    meta["uid"] = new_uid()
    meta["creationTimestamp"] = now
    if served.strategy.has_generation:
        meta["generation"] = 1
    return {**obj, "metadata": meta}


def check_new_version(obj: Object) -> None:
    """Reject a new object that has a version already, as kube-apiserver's storage does.

    A text that is no number counts as no version.

    Raises:
        StatusError: 500, because in kube-apiserver this is a plain Go error.
    """
    version = obj["metadata"].get("resourceVersion")
    if version and parse_version(version):
        raise untyped_error("resourceVersion should not be set on objects to be created")


# --- comparison


def is_noop(old: Object, new: Object) -> bool:
    """Whether `new` differs from `old` only in its version and the times of its managers.

    kube-apiserver does not write such an update: the version stays, and no watch gets an event.
    """
    if any(old.get(key) != new.get(key) for key in {*old, *new} - {"metadata"}):
        return False
    one, two = old["metadata"], new["metadata"]
    ignored = {"resourceVersion", "managedFields"}
    if any(one.get(key) != two.get(key) for key in {*one, *two} - ignored):
        return False
    return _untimed(one.get("managedFields")) == _untimed(two.get("managedFields"))


def _untimed(entries: Json) -> list[Object]:
    return [{k: v for k, v in each.items() if k != "time"} for each in entries or ()]


def is_removable(obj: Object) -> bool:
    """Whether an object that is being deleted has no finalizer and no grace period left."""
    meta = obj["metadata"]
    if "deletionTimestamp" not in meta or meta.get("finalizers"):
        return False
    if meta.get("deletionGracePeriodSeconds"):
        return False
    # A namespace has its finalizers in the spec.
    is_namespace = obj.get("kind") == "Namespace" and obj.get("apiVersion") == "v1"
    return not (is_namespace and (obj.get("spec") or {}).get("finalizers"))


def without_repeated_owners(
    obj: Object, warnings: list[str], *, is_mutated: bool = False
) -> Object:
    """The object with each owner once; a warning about repeated ones is added to `warnings`.

    kube-apiserver does this for the body of a create and an update, and for every object after
    mutating admission (`is_mutated`), which for patches is the only time.
    """
    meta = obj.get("metadata")
    if not isinstance(meta, dict):
        return obj
    references = meta.get("ownerReferences")
    if not isinstance(references, list) or len(references) < 2:
        return obj
    kept = [each for at, each in enumerate(references) if each not in references[:at]]
    if len(kept) == len(references):
        return obj
    repeated = [
        str(each.get("uid", ""))
        for at, each in enumerate(references)
        if each in references[:at]
    ]  # fmt: skip
    when = " after mutating admission happens" if is_mutated else ""
    warnings.append(_REPEATED_OWNERS.format(when=when, uids=", ".join(repeated)))
    return {**obj, "metadata": {**meta, "ownerReferences": kept}}
