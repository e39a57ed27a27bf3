"""Server-side apply, and the field ownership that every other write leaves behind.

Guarantees: pure; results share unchanged parts with the arguments. Every manager that applied
the current value of a field owns it; a manager that sets another value takes it from all of
them, with apply only if `force` is set. A write that changes nothing keeps `managedFields`,
including its times.
Paths are assumed to be the same in every version of a kind: `live` is in the version of the
request.
See also: set algebra (`fieldsets`), merging (`merging`), entries (`managers`), kubectl's
annotation (`last_applied`); defaults, validation and storage come later (`verbs`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from kubeloop.wire import InvalidArgument, TypeFacts

from ..statuses import StatusError, bad_request
from ..values.json_values import json_equal
from ..values.zero_values import complete, is_built_in, zero_object
from .fieldsets import EMPTY, FieldSet
from .last_applied import client_side_fields, with_last_applied
from .managers import (
    Entry,
    Identity,
    Managers,
    cap_updaters,
    conflict_error,
    encode_managers,
    is_reset,
    read_managers,
    without_fields,
)
from .merging import merge, problems_of, remove, without_nulls
from .object_fields import compare, fields_of
from .reset_fields import NO_RESETS, ResetFields
from .shapes import Shape, shape_of

__all__ = ["applied_name", "apply", "track"]

_BEFORE_FIRST_APPLY: Final = "before-first-apply"
_KUBECTL: Final = "kubectl"

# Fields that the server maintains, which have no owner (`stripMetaManager` of apimachinery).
_SERVER_METADATA: Final = (
    "clusterName",
    "creationTimestamp",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
)
_UNOWNED: Final = FieldSet.of(
    ["f:apiVersion"],
    ["f:kind"],
    ["f:metadata"],
    *(["f:metadata", f"f:{name}"] for name in _SERVER_METADATA),
)


def apply(
    live: dict[str, Any] | None,
    applied: dict[str, Any],
    *,
    manager: str,
    force: bool,
    api_version: str,
    subresource: str,
    facts: TypeFacts | None,
    now: str,
    resets: ResetFields = NO_RESETS,
    sent: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The object after `manager` applied `applied`; `live` itself if nothing changed.

    `resets`: the fields that the request cannot change, and therefore does not own.
    `sent`: `applied` as the client wrote it, with quantities as numbers, for the annotation of
    kubectl; None if it does not differ.

    Raises:
        StatusError: 409 if another manager owns a field that would change, without `force`; 400
            for another type or with managedFields; 500 for list elements with the same key
            and for undeclared fields, as in kube-apiserver.
    """
    _check_type(live, applied, api_version)
    shape = shape_of(facts, api_version=api_version, kind=str(applied.get("kind") or ""))
    request = _ApplyRequest(
        shape=shape,
        resets=resets,
        base=_with_type_of(_bare(live or {}), applied),
        applied=applied,
        sent=sent or applied,
        body=_body(applied),
        me=Identity(manager or "unknown", "Apply", subresource=subresource),
        api_version=api_version,
        now=now,
        managers=_owners(live),
    )
    _check_lists(request)
    try:
        return _apply(live, request, force=force)
    except InvalidArgument as error:
        raise _merge_error(f"failed to merge config: {error}") from error


def track(
    old: dict[str, Any] | None,
    new: dict[str, Any],
    *,
    manager: str,
    api_version: str,
    subresource: str,
    facts: TypeFacts | None,
    now: str,
    resets: ResetFields = NO_RESETS,
) -> dict[str, Any]:
    """`new` with the owners of its fields after `manager` created or updated it.

    An object without managers stays untracked until the first apply (`skipNonAppliedManager`).
    Objects that cannot be compared (a list with elements without a key) keep their owners.
    """
    try:
        managers = _initial_owners(old, new, subresource=subresource)
        if old is not None and not managers:
            return _with_managers(new, {})
        shape = shape_of(facts, api_version=api_version, kind=str(new.get("kind") or ""))
        before = _with_type_of(_bare(old or _new_object(new), resets), new)
        me = Identity(manager or "unknown", "Update", api_version, subresource)
        after = _bare(new, resets)
        if not is_built_in(new):
            before, after = without_nulls(before, shape), without_nulls(after, shape)
        found = _update_owners(managers, before, after, shape=shape, me=me, now=now)
    except InvalidArgument:
        found = _valid_owners(old)
    return _with_managers(new, found)


# --- input of a request


def _check_type(live: dict[str, Any] | None, applied: dict[str, Any], api_version: str) -> None:
    # `metadata.managedFields must be nil`: an applier cannot set owners.
    kind = applied.get("kind")
    expected = (live or applied).get("kind")
    if applied.get("apiVersion") != api_version or not kind or kind != expected:
        raise bad_request(f"invalid object type: {_type_of(applied)}")
    if _metadata(applied).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")


def _type_of(obj: dict[str, Any]) -> str:
    version = str(obj.get("apiVersion") or "")
    return f"{version if '/' in version else '/' + version}, Kind={obj.get('kind') or ''}"


def _metadata(obj: dict[str, Any] | None) -> dict[str, Any]:
    found = (obj or {}).get("metadata")
    return found if isinstance(found, dict) else {}


def _bare(obj: dict[str, Any], resets: ResetFields = NO_RESETS) -> dict[str, Any]:
    """The object without `managedFields` and without the fields of `resets`."""
    bare = dict(resets.strip(obj))
    metadata = bare.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        bare["metadata"] = {
            name: value for name, value in metadata.items() if name != "managedFields"
        }
    return bare


def _body(applied: dict[str, Any]) -> dict[str, Any]:
    """The applied configuration; a null does not clear metadata that the server maintains."""
    body = _bare(applied)
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        body["metadata"] = {
            name: value
            for name, value in metadata.items()
            if value is not None or name not in _SERVER_METADATA
        }
    return body


def _with_type_of(base: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """`base` with apiVersion and kind of `other`, which never count as a difference."""
    return {**base, **_types_of(other)} if base else base


def _new_object(obj: dict[str, Any]) -> dict[str, Any]:
    """What the creation of `obj` started from: kube-apiserver compares it with an empty object of
    its Go type, so zero values have no owner. Custom resources start from nothing."""
    if not is_built_in(obj):
        return {}
    return zero_object(str(obj["apiVersion"]), str(obj["kind"]))


def _types_of(obj: dict[str, Any]) -> dict[str, Any]:
    # apiVersion and kind are never owned, and never conflict.
    return {name: value for name, value in obj.items() if name in {"apiVersion", "kind"}}


def _owners(obj: dict[str, Any] | None) -> Managers:
    try:
        return read_managers(_metadata(obj).get("managedFields"))
    except InvalidArgument as error:
        raise _merge_error(f"failed to decode managed fields: {error}") from error


def _valid_owners(obj: dict[str, Any] | None) -> Managers:
    """The owners; none if `managedFields` is invalid: an update must not fail because of it."""
    try:
        return read_managers(_metadata(obj).get("managedFields"))
    except InvalidArgument:
        return {}


def _initial_owners(
    old: dict[str, Any] | None, new: dict[str, Any], *, subresource: str
) -> Managers:
    """The owners a write starts from: those in its body, else the stored ones.

    Clients that do not know the field would otherwise drop it. A write to a subresource cannot
    change it.
    """
    raw = _metadata(new).get("managedFields")
    if subresource:
        return _valid_owners(old)
    if is_reset(raw):
        return {}
    return _valid_owners(new) or _valid_owners(old)


def _merge_error(message: str) -> StatusError:
    # A 500 without a reason: in kube-apiserver these are plain Go errors, not API errors.
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "code": 500,
    }
    return StatusError(status)


def _with_managers(obj: dict[str, Any], managers: Managers) -> dict[str, Any]:
    metadata = {name: value for name, value in _metadata(obj).items() if name != "managedFields"}
    if managers:
        metadata["managedFields"] = encode_managers(managers)
    return {**obj, "metadata": metadata}


# --- updates


def _update_owners(
    managers: Managers,
    old: dict[str, Any],
    new: dict[str, Any],
    *,
    shape: Shape,
    me: Identity,
    now: str,
) -> Managers:
    """The owners after `me` changed `old` to `new`: fields with a new value become theirs."""
    change = compare(old, new, shape)
    if not change:
        return managers
    # Also from the updater's own entry: it gets them back below, with a new time.
    left = without_fields(managers, change.new_values | change.removed, spared=_NO_MANAGER)
    gained = change.new_values - _UNOWNED
    if gained:
        mine = left[me].fields if me in left else EMPTY
        left[me] = Entry(mine | gained, me.api_version, now)
    return cap_updaters(left)


_NO_MANAGER: Final = Identity("", "Apply")


# --- apply


class _ApplyRequest(msgspec.Struct, frozen=True):
    """One apply: the stored object, the applied configuration, and its manager."""

    shape: Shape
    resets: ResetFields  # fields that the request cannot change
    base: dict[str, Any]  # the stored object
    applied: dict[str, Any]
    sent: dict[str, Any]  # the same as the client wrote it
    body: dict[str, Any]  # without managedFields
    me: Identity
    api_version: str
    now: str
    managers: Managers


def _check_lists(request: _ApplyRequest) -> None:
    found = sorted(problems_of(request.applied, request.shape))
    if not found:
        return
    detail = found[0] if len(found) == 1 else "\n  ".join(["errors:", *found])
    name = applied_name(request.sent)
    raise _merge_error(f"failed to create typed patch object ({name}): {detail}")


def applied_name(applied: dict[str, Any]) -> str:
    """How an error names an applied object: namespace, name and type of the body."""
    metadata = _metadata(applied)
    name = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
    return f"{name}; {_type_of(applied)}"


def _apply(live: dict[str, Any] | None, request: _ApplyRequest, *, force: bool) -> dict[str, Any]:
    if live is not None and not request.managers:
        request = _with_first_owner(request)
    # The fields of `resets` are merged too, but they have no owner: the strategy of the kind
    # resets them later, or not, as the conditions of a signing request.
    resets, shape = request.resets, request.shape
    applied = resets.filter(fields_of(resets.strip(request.body), shape))
    merged = _merge(request, applied)
    managers = _owners_after(request, merged, applied, force=force)
    merged = without_nulls(merged, request.shape)
    if request.me.manager == _KUBECTL:
        merged = with_last_applied(merged, request.sent)
    result = _with_managers(merged, managers)
    return live if live is not None and _is_same(live, result) else result


def _is_same(live: dict[str, Any], result: dict[str, Any]) -> bool:
    """Whether two objects differ only in the times of their managers, as they are stored."""
    before, after = _without_times(live), _without_times(result)
    # Empty values of an applied configuration are owned, but Go does not store them.
    return json_equal(before, after) or json_equal(before, complete(after, metadata=True))


def _without_times(obj: dict[str, Any]) -> dict[str, Any]:
    """The object without the times of its managers, which alone are no change."""
    metadata = _metadata(obj)
    entries = [{**each, "time": ""} for each in metadata.get("managedFields") or ()]
    return {**obj, "metadata": {**metadata, "managedFields": entries}}


def _with_first_owner(request: _ApplyRequest) -> _ApplyRequest:
    """With the manager "before-first-apply" as owner of everything in an untracked object."""
    me = Identity(_BEFORE_FIRST_APPLY, "Update", request.api_version, request.me.subresource)
    stored = _bare(request.base, request.resets)
    if not is_built_in(stored):
        stored = without_nulls(stored, request.shape)
    before = _with_type_of(_bare(_new_object(stored), request.resets), stored)
    found = _update_owners(
        {}, before or _types_of(stored), stored, shape=request.shape, me=me, now=request.now
    )
    return msgspec.structs.replace(request, managers=found)


def _merge(request: _ApplyRequest, applied: FieldSet) -> dict[str, Any]:
    """The stored object with the applied fields, without those that are no longer applied."""
    merged: dict[str, Any] = merge(request.base, request.body, request.shape)
    last = request.managers[request.me].fields if request.me in request.managers else EMPTY
    if last <= applied:
        return merged
    owned = applied
    for identity, entry in request.managers.items():
        if identity != request.me:
            owned = owned | entry.fields
    return _prune(merged, last, owned, request.shape)


def _prune(merged: dict[str, Any], last: FieldSet, owned: FieldSet, shape: Shape) -> dict[str, Any]:
    """`merged` without fields of `last` that are not in `owned`.

    Removing a field removes everything in it. As `Updater.prune` of structured-merge-diff, this
    puts back what another manager owns, and what has no owner and never was part of `last`.
    """
    last, owned = last.with_declared(shape), owned.with_declared(shape)
    all_fields = fields_of(merged, shape).with_declared(shape)
    bare = _fields_left(merged, last, shape)
    without_owned = _fields_left(merged, all_fields - (bare | owned), shape)
    result: dict[str, Any] = remove(merged, ((all_fields - without_owned) & last).tree, shape)
    return result


def _fields_left(merged: dict[str, Any], removed: FieldSet, shape: Shape) -> FieldSet:
    return fields_of(remove(merged, removed.tree, shape), shape).with_declared(shape)


def _owners_after(
    request: _ApplyRequest, merged: dict[str, Any], applied: FieldSet, *, force: bool
) -> Managers:
    """The owners after the apply. Raises: StatusError on conflicts with other managers."""
    resets = request.resets
    change = compare(resets.strip(request.base), resets.strip(merged), request.shape)
    conflicts = {
        identity: lost
        for identity, entry in request.managers.items()
        if identity != request.me and (lost := entry.fields & change.new_values)
    }
    if conflicts and not force:
        _check_conflicts(conflicts, request)
    lost = change.new_values | change.removed
    left = without_fields(request.managers, lost, spared=request.me)
    mine, before = applied - _UNOWNED, left.pop(request.me, None)
    if mine:
        # kube-apiserver compares before it resets fields: they count as a change too.
        changed = not json_equal(request.base, merged)
        left[request.me] = _new_entry(mine, before, request, changed=changed)
    return left


def _new_entry(
    mine: FieldSet, before: Entry | None, request: _ApplyRequest, *, changed: bool
) -> Entry:
    if before is None or changed:
        # A manager that only becomes a co-owner of a value changed nothing, and has no time.
        return Entry(mine, request.api_version, request.now if changed else "")
    if before.fields == mine and before.api_version == request.api_version:
        return before
    return Entry(mine, request.api_version, before.time)


def _check_conflicts(conflicts: dict[Identity, FieldSet], request: _ApplyRequest) -> None:
    """Raise a conflict, except where kubectl takes over from its own client-side apply."""
    mine = EMPTY
    if request.me.manager == _KUBECTL:
        mine = client_side_fields(request.base, request.shape, api_version=request.api_version)
    left = {identity: rest for identity, lost in conflicts.items() if (rest := lost - mine)}
    if left:
        raise conflict_error(left)
