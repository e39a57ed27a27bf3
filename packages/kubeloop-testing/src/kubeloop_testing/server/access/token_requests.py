"""The TokenRequest API: a token for a service account, optionally bound to an object.

Guarantees: nothing is stored; the bound object exists, has the requested uid, and a bound pod
runs with the account.
See also: `service_accounts` (the claims of a token).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from kubeloop.wire import Json, JsonObject
from kubeloop.wire.times import format_time

from .. import statuses
from ..identity import Objects, find_object
from ..values import causes
from ..values.causes import quoted
from .service_accounts import BoundObject, ServiceAccountTokens

__all__ = ["token_request"]

_GROUP: Final = "authentication.k8s.io"
_DEFAULT_SECONDS: Final = 3600  # SetDefaults_TokenRequestSpec
_MIN_SECONDS: Final = 600  # MinTokenAgeSec
_MAX_SECONDS: Final = 2**32


def token_request(
    obj: Mapping[str, Json],
    account: Mapping[str, Json],
    tokens: ServiceAccountTokens,
    objects: Objects,
    *,
    now: datetime,
) -> JsonObject:
    """The TokenRequest with a token of `account` (the ServiceAccount object) in its status.

    Raises:
        StatusError: the request is invalid (422), names another account (422, 409), or its bound
            object is missing or belongs to another account (404, 400, 409).
    """
    name = account["metadata"]["name"]
    meta, spec = _metadata(obj, account, now=now), obj.get("spec") or {}
    seconds = spec.get("expirationSeconds")
    seconds = _DEFAULT_SECONDS if seconds is None else seconds
    _check_seconds(seconds)
    audiences = spec.get("audiences") or list(tokens.audiences)
    bound = _bound_object(spec.get("boundObjectRef"), name, meta["namespace"], objects)
    token = tokens.issue(account, seconds=seconds, audiences=audiences, bound=bound)
    expires = format_time(now + timedelta(seconds=seconds))
    return {
        "kind": "TokenRequest",
        "apiVersion": f"{_GROUP}/v1",
        "metadata": meta,
        "spec": {
            "audiences": list(audiences),
            "expirationSeconds": seconds,
            "boundObjectRef": spec.get("boundObjectRef"),
        },
        "status": {"token": token, "expirationTimestamp": expires},
    }


def _metadata(obj: Mapping[str, Json], account: Mapping[str, Json], *, now: datetime) -> JsonObject:
    given, own = obj.get("metadata") or {}, account["metadata"]
    # TokenREST.Create: metadata is optional, but must not name another account.
    for key in ("name", "namespace"):
        if given.get(key) and given[key] != own[key]:
            why = f"must match the service account {key} if specified"
            cause = causes.invalid(f"metadata.{key}", given[key], why)
            raise statuses.invalid(_GROUP, "TokenRequest", own["name"], [cause])
    uid = own.get("uid", "")
    if given.get("uid") and given["uid"] != uid:
        why = (
            f"the UID in the token request ({given['uid']}) does not match the UID of the "
            f"service account ({uid})"
        )
        raise statuses.conflict(_GROUP, "TokenRequest", own["name"], why)
    identity = {"name": own["name"], "namespace": own["namespace"], "uid": uid}
    return {**given, **identity, "creationTimestamp": format_time(now)}


def _check_seconds(seconds: int) -> None:
    field = "spec.expirationSeconds"
    why = ""
    if seconds < _MIN_SECONDS:
        why = "may not specify a duration less than 10 minutes"
    elif seconds > _MAX_SECONDS:
        why = "may not specify a duration larger than 2^32 seconds"
    if why:
        raise statuses.invalid(_GROUP, "TokenRequest", "", [causes.invalid(field, seconds, why)])


_BINDABLE: Final = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


def _bound_object(
    reference: Mapping[str, Json] | None, account: str, namespace: str, objects: Objects
) -> BoundObject | None:
    if not reference:
        return None
    group, _, version = reference.get("apiVersion", "").rpartition("/")
    kind, name = reference.get("kind", ""), reference.get("name", "")
    if group or kind not in _BINDABLE:
        kind_text = f"{group}/{version}, Kind={kind}"
        raise statuses.bad_request(f"cannot bind token to object of type {kind_text}")
    plural = _BINDABLE[kind]
    namespace = "" if kind == "Node" else namespace
    found = find_object(objects, "", plural, name, namespace=namespace)
    if found is None:
        raise statuses.not_found("", plural, name)
    uid = found["metadata"].get("uid", "")
    if reference.get("uid") and reference["uid"] != uid:
        why = (
            f"the UID in the bound object reference ({reference['uid']}) does not match the UID "
            "in record. The object might have been deleted and then recreated"
        )
        raise statuses.conflict("", kind, name, why)
    # A token of a pod also has the node, so that it can be revoked with the node.
    node = _node_of(found, account, objects) if kind == "Pod" else ("", "")
    return BoundObject(kind, name, uid, node)


def _node_of(pod: Mapping[str, Json], account: str, objects: Objects) -> tuple[str, str]:
    spec = pod.get("spec") or {}
    # Otherwise any account could get tokens that claim to come from a foreign pod.
    if spec.get("serviceAccountName", "") != account:
        raise statuses.bad_request(
            f"cannot bind token for serviceaccount {quoted(account)} to pod running with "
            "different serviceaccount name."
        )
    name = spec.get("nodeName", "")
    node = find_object(objects, "", "nodes", name) if name else None
    return name, node["metadata"].get("uid", "") if node else ""
