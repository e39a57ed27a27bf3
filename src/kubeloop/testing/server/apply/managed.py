"""Server-side apply, and the ownership of fields that every other write leaves behind.

Promises: pure; arguments are never changed, and results share with them what did not
change. A field has as many owners as have applied its present value; whoever gives it
another value takes it from all of them, by apply only with `force`. A write that
changes nothing leaves `managedFields` as it was, with its times.
Paths are taken to be the same in every version of a kind: `live` comes in the version
of the request.
Elsewhere: the algebra of sets (`fieldsets`), merging (`merging`), entries (`managers`),
what kubectl keeps beside them (`last_applied`); defaults, validation and storage come
after (`verbs`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from kubeloop.wire import InvalidArgument, TypeFacts

from ..statuses import StatusError, bad_request
from .fieldsets import EMPTY, FieldSet
from .last_applied import client_side_fields, with_last_applied
from .managers import (
    Entry,
    Identity,
    Managers,
    apply_refusal,
    capped,
    is_reset,
    read_managers,
    without_fields,
    written_managers,
)
from .merging import merge, problems_of, remove, without_nulls
from .object_fields import compare, same, set_of
from .shapes import Shape, shape_of

__all__ = ["applied_name", "apply", "track"]

_BEFORE_FIRST_APPLY: Final = "before-first-apply"
_KUBECTL: Final = "kubectl"

# Fields that the server itself keeps: nobody owns them.
_OWN_META: Final = (
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
_NOBODYS: Final = FieldSet.of(
    ["f:apiVersion"],
    ["f:kind"],
    ["f:metadata"],
    *(["f:metadata", f"f:{name}"] for name in _OWN_META),
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
    has_status: bool = True,
) -> dict[str, Any]:
    """The object after `manager` applied `applied`; `live` itself when nothing changed.

    `has_status` says whether the kind has a status subresource: its status is then left
    alone by the main resource, and everything under spec by `/status`.

    Raises:
        StatusError: 409 when somebody else owns a field that would change and `force` is
            off; 400 for another type or with managedFields; 500 for lists whose elements
            cannot be told apart, and undeclared fields, as in kube-apiserver.
    """
    _check_type(live, applied, api_version)
    shape = shape_of(facts, api_version=api_version, kind=str(applied.get("kind") or ""))
    skipped = _skipped(subresource, has_status=has_status)
    step = _Apply(
        shape=shape,
        skipped=skipped,
        base=_as_of(_bare(live or {}), applied),
        applied=applied,
        body=_told(applied, skipped),
        me=Identity(manager or "unknown", "Apply", subresource=subresource),
        api_version=api_version,
        now=now,
        managers=_owners(live),
    )
    _check_lists(step)
    try:
        return _finished(live, step, force=force)
    except InvalidArgument as error:
        raise _unmergeable(f"failed to merge config: {error}") from error


def track(
    old: dict[str, Any] | None,
    new: dict[str, Any],
    *,
    manager: str,
    api_version: str,
    subresource: str,
    facts: TypeFacts | None,
    now: str,
    has_status: bool = True,
) -> dict[str, Any]:
    """`new` with the owners of its fields after `manager` created or updated it.

    An object of which nobody owns anything is not tracked before somebody applies it.
    What cannot be compared (a list with elements that have no key) keeps its owners.
    """
    try:
        managers = _given_owners(old, new, subresource=subresource)
        if old is not None and not managers:
            return _with_managers(new, {})
        skipped = _skipped(subresource, has_status=has_status)
        shape = shape_of(facts, api_version=api_version, kind=str(new.get("kind") or ""))
        before = without_nulls(_as_of(_bare(old or {}, skipped), new), shape)
        me = Identity(manager or "unknown", "Update", api_version, subresource)
        after = without_nulls(_bare(new, skipped), shape)
        found = _updated(managers, before, after, shape=shape, me=me, now=now)
    except InvalidArgument:
        found = _owners_or_nobody(old)
    return _with_managers(new, found)


# --- what a request brings


def _check_type(live: dict[str, Any] | None, applied: dict[str, Any], api_version: str) -> None:
    kind = applied.get("kind")
    wanted = (live or applied).get("kind")
    if applied.get("apiVersion") != api_version or not kind or kind != wanted:
        raise bad_request(f"invalid object type: {_type_of(applied)}")
    if _metadata(applied).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")


def _type_of(obj: dict[str, Any]) -> str:
    version = str(obj.get("apiVersion") or "")
    return f"{version if '/' in version else '/' + version}, Kind={obj.get('kind') or ''}"


def _metadata(obj: dict[str, Any] | None) -> dict[str, Any]:
    found = (obj or {}).get("metadata")
    return found if isinstance(found, dict) else {}


def _skipped(subresource: str, *, has_status: bool) -> frozenset[str]:
    """The top fields that a request to this place cannot set."""
    if subresource == "status":
        return frozenset({"spec"})
    return frozenset({"status"}) if has_status else frozenset()


def _bare(obj: dict[str, Any], skipped: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The object without `managedFields` and without fields that are not compared."""
    bare = {name: value for name, value in obj.items() if name not in skipped}
    metadata = bare.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        bare["metadata"] = {
            name: value for name, value in metadata.items() if name != "managedFields"
        }
    return bare


def _told(applied: dict[str, Any], skipped: frozenset[str]) -> dict[str, Any]:
    """What the body says, without nulls where the server keeps a value of its own."""
    body = _bare(applied, skipped)
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        body["metadata"] = {
            name: value
            for name, value in metadata.items()
            if value is not None or name not in _OWN_META
        }
    return body


def _as_of(base: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """`base` under the type of `other`: a type is no difference."""
    return {**base, **_types_of(other)} if base else base


def _types_of(obj: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name in {"apiVersion", "kind"}}


def _owners(obj: dict[str, Any] | None) -> Managers:
    try:
        return read_managers(_metadata(obj).get("managedFields"))
    except InvalidArgument as error:
        raise _unmergeable(f"failed to decode managed fields: {error}") from error


def _owners_or_nobody(obj: dict[str, Any] | None) -> Managers:
    try:
        return read_managers(_metadata(obj).get("managedFields"))
    except InvalidArgument:
        return {}


def _given_owners(old: dict[str, Any] | None, new: dict[str, Any], *, subresource: str) -> Managers:
    """The owners a write starts from: those it brings, else those that are stored.

    Clients that do not know the field would otherwise drop it. A subresource has no
    say in it.
    """
    raw = _metadata(new).get("managedFields")
    if subresource:
        return _owners_or_nobody(old)
    if is_reset(raw):
        return {}
    return _owners_or_nobody(new) or _owners_or_nobody(old)


def _unmergeable(message: str) -> StatusError:
    # kube-apiserver has no reason for these: they are errors that nobody translated.
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
        metadata["managedFields"] = written_managers(managers)
    return {**obj, "metadata": metadata}


# --- updates


def _updated(
    managers: Managers,
    old: dict[str, Any],
    new: dict[str, Any],
    *,
    shape: Shape,
    me: Identity,
    now: str,
) -> Managers:
    """The owners after `me` made `new` of `old`: what has a new value is theirs."""
    change = compare(old, new, shape)
    if not change:
        return managers
    # The updater too: it gets back what it took, and its time with it.
    left = without_fields(managers, change.taken | change.removed, spared=_NOBODY)
    taken = change.taken - _NOBODYS
    if taken:
        mine = left[me].fields if me in left else EMPTY
        left[me] = Entry(mine | taken, me.api_version, now)
    return capped(left)


_NOBODY: Final = Identity("", "Apply")


# --- apply


class _Apply(msgspec.Struct, frozen=True):
    """One apply: what is stored, what is said, and by whom."""

    shape: Shape
    skipped: frozenset[str]
    base: dict[str, Any]
    applied: dict[str, Any]
    body: dict[str, Any]
    me: Identity
    api_version: str
    now: str
    managers: Managers


def _check_lists(step: _Apply) -> None:
    applied = step.applied
    found = problems_of(applied, step.shape)
    if not found:
        return
    told = found[0] if len(found) == 1 else "\n  ".join(["errors:", *found])
    raise _unmergeable(f"failed to create typed patch object ({applied_name(applied)}): {told}")


def applied_name(applied: dict[str, Any]) -> str:
    """How an error names an object that was applied: place and type, as its body says."""
    metadata = _metadata(applied)
    name = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
    return f"{name}; {_type_of(applied)}"


def _finished(live: dict[str, Any] | None, step: _Apply, *, force: bool) -> dict[str, Any]:
    if live is not None and not step.managers:
        step = _with_first_owner(step)
    said = set_of(step.body, step.shape)
    merged = _merged(step, said)
    managers = _after_apply(step, merged, said, force=force)
    merged = without_nulls(merged, step.shape)
    if step.me.manager == _KUBECTL:
        merged = with_last_applied(merged, step.applied)
    result = _with_managers(merged, managers)
    return live if live is not None and same(_timeless(live), _timeless(result)) else result


def _timeless(obj: dict[str, Any]) -> dict[str, Any]:
    """The object without the times of its managers: they alone are no change."""
    metadata = _metadata(obj)
    entries = [{**each, "time": ""} for each in metadata.get("managedFields") or ()]
    return {**obj, "metadata": {**metadata, "managedFields": entries}}


def _with_first_owner(step: _Apply) -> _Apply:
    """What stands in an object that nobody tracked belongs to those before the first apply."""
    me = Identity(_BEFORE_FIRST_APPLY, "Update", step.api_version, step.me.subresource)
    stored = without_nulls(_bare(step.base, step.skipped), step.shape)
    found = _updated({}, _types_of(stored), stored, shape=step.shape, me=me, now=step.now)
    return msgspec.structs.replace(step, managers=found)


def _merged(step: _Apply, said: FieldSet) -> dict[str, Any]:
    """The stored object with what was said, without what is no longer said."""
    merged: dict[str, Any] = merge(step.base, step.body, step.shape)
    last = step.managers[step.me].fields if step.me in step.managers else EMPTY
    if last <= said:
        return merged
    owned = said
    for identity, entry in step.managers.items():
        if identity != step.me:
            owned = owned | entry.fields
    return _pruned(merged, last, owned, step.shape)


def _pruned(
    merged: dict[str, Any], last: FieldSet, owned: FieldSet, shape: Shape
) -> dict[str, Any]:
    """`merged` without fields of `last` that are not in `owned`.

    A field goes with everything in it, so it is looked at twice what went: what somebody
    owns stays, and so does what nobody owns and was never part of `last`.
    """
    last, owned = last.with_declared(shape), owned.with_declared(shape)
    all_fields = set_of(merged, shape).with_declared(shape)
    bare = _fields_left(merged, last, shape)
    without_owned = _fields_left(merged, all_fields - (bare | owned), shape)
    result: dict[str, Any] = remove(merged, ((all_fields - without_owned) & last).tree, shape)
    return result


def _fields_left(merged: dict[str, Any], gone: FieldSet, shape: Shape) -> FieldSet:
    return set_of(remove(merged, gone.tree, shape), shape).with_declared(shape)


def _after_apply(step: _Apply, merged: dict[str, Any], said: FieldSet, *, force: bool) -> Managers:
    """The owners after the apply. Raises: StatusError when it takes what others own."""
    change = compare(step.base, merged, step.shape)
    conflicts = {
        identity: lost
        for identity, entry in step.managers.items()
        if identity != step.me and (lost := entry.fields & change.taken)
    }
    if conflicts and not force:
        _check_conflicts(conflicts, step)
    left = without_fields(step.managers, change.taken | change.removed, spared=step.me)
    mine, before = said - _NOBODYS, left.pop(step.me, None)
    if mine:
        changed = not (same(step.base, merged) and same(step.base, _wished(merged, step)))
        left[step.me] = _applied_entry(mine, before, step, changed=changed)
    return left


def _wished(merged: dict[str, Any], step: _Apply) -> dict[str, Any]:
    """`merged` also with what this place cannot set: a wish makes an entry younger."""
    beyond = {name: step.applied[name] for name in step.skipped if name in step.applied}
    wished: dict[str, Any] = merge(merged, beyond, step.shape)
    return wished


def _applied_entry(mine: FieldSet, before: Entry | None, step: _Apply, *, changed: bool) -> Entry:
    if before is None or changed:
        # One who only joins the owners of a value has changed nothing, and has no time.
        return Entry(mine, step.api_version, step.now if changed else "")
    if before.fields == mine and before.api_version == step.api_version:
        return before
    return Entry(mine, step.api_version, before.time)


def _check_conflicts(conflicts: dict[Identity, FieldSet], step: _Apply) -> None:
    """Refuse, except where kubectl takes over from its own client-side apply."""
    mine = EMPTY
    if step.me.manager == _KUBECTL:
        mine = client_side_fields(step.base, step.shape, api_version=step.api_version)
    left = {identity: rest for identity, lost in conflicts.items() if (rest := lost - mine)}
    if left:
        raise apply_refusal(left)
