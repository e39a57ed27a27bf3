"""The steps of a write. Each is a function of one `Write`, and imitates a rule of kube-apiserver.

A step replaces the object, adds warnings, or raises `StatusError`. The writes themselves are
tuples of these steps (`writing`).

Guarantees: an object is never changed in place; only the steps of webhooks wait, so that nothing
else runs between two other steps; only the last steps change the store.
See also: the rules of a kind (`kinds`), what an update keeps (`updates`), patches
(`patching`), admission (`request.calls.Admission`).
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final, Protocol, final

import msgspec

from kubeloop.meta import generate_name as random_name

from ..identity import User
from ..kinds import strategies
from ..kinds.core.allocation import Allocator, Reservation
from ..registry import ServedResource
from ..representations.representation import served_object, to_served_version
from ..request.calls import Admission, Call
from ..statuses import (
    StatusError,
    already_exists,
    conflict,
    generate_name_conflict,
    invalid,
    not_found,
)
from ..storage.store import Entry, Object, Store, key_of, tail_of
from . import objects, patching
from .updates import apply_update, storage_error, with_generation

__all__ = [
    "Write",
    "allocate_new",
    "allocate_update",
    "check_create_on_apply",
    "check_create_on_update",
    "check_escalation",
    "check_name_is_free",
    "check_namespace",
    "check_new_version",
    "check_uid",
    "check_unchanged",
    "complete_as_sent",
    "complete_as_stored",
    "convert_old",
    "count_generation",
    "decode_applied",
    "decode_body",
    "decode_patched",
    "default",
    "drop_repeated_owners",
    "dry_run_entry",
    "generate_name",
    "ignore_version",
    "match_path",
    "merge_applied",
    "merge_update",
    "mutate_by_plugins",
    "mutate_by_webhooks",
    "name_applied",
    "patch_old",
    "prepare_create",
    "prepare_part",
    "prepare_update",
    "set_requester",
    "set_system_metadata",
    "store_new",
    "store_update",
    "track_fields",
    "validate",
    "validate_by_plugins",
    "validate_by_webhooks",
    "warn",
]

_SIGNING_REQUESTS: Final = ("certificates.k8s.io", "certificatesigningrequests")
_NAME_ATTEMPTS: Final = 8  # maxNameGenerationCreateAttempts of kube-apiserver


class Track(Protocol):
    """Sets the managed fields of `obj`, which the caller made of `old`."""

    def __call__(self, call: Call, old: Object | None, obj: Object, *, now: str) -> Object: ...


@final
class Write(msgspec.Struct):
    """One write on its way from the request to the store. The steps replace its fields."""

    call: Call
    served: ServedResource
    store: Store
    admission: Admission
    track: Track
    allocator: Allocator
    now: str
    old: Entry | None = None  # the state to replace; None for a create
    raw: bytes = b""  # the body of the request
    media: str = ""  # its media type; for a patch, the type of the patch
    obj: Object = {}
    sent: Object | None = None  # of an apply: the object as the client wrote it
    is_applied: bool = False  # whether the managed fields of `obj` are final
    warnings: list[str] = []  # sent with the response, also if the write is rejected
    reservation: Reservation | None = None  # its cluster addresses and node ports
    entry: Entry | None = None  # the result

    @property
    def operation(self) -> str:
        """What webhooks see."""
        return "CREATE" if self.old is None else "UPDATE"

    @property
    def old_object(self) -> Object | None:
        return None if self.old is None else self.old.obj

    @property
    def replaced(self) -> Entry:
        """The state that an update replaces."""
        assert self.old is not None  # only steps of updates ask
        return self.old


# --- decode: the object that the request means


def decode_body(write: Write) -> None:
    """Decode the body, drop unknown fields, convert to the storage version.

    Owners that are repeated are dropped, as `DedupOwnerReferencesAndAddWarning` of the handlers.
    """
    decoded = objects.read_object(
        write.served, write.raw, write.media, validation=write.call.options.validation
    )
    write.warnings = decoded.warnings
    write.obj = objects.without_repeated_owners(decoded.obj, write.warnings)


def patch_old(write: Write) -> None:
    """Apply the patch to the stored object, in the version of the request (`patcher`)."""
    if write.old is None:
        raise not_found(write.served.group, write.served.plural, write.call.name)
    live = served_object(write.served, write.old)
    write.obj = patching.apply_patch(write.served, live, write.raw, write.media)


def decode_patched(write: Write) -> None:
    """Decode the result of the patch, which may have lost its type or gained unknown fields."""
    decoded = patching.decode_patched(write.call, write.obj, write.raw, write.media)
    write.obj, write.warnings = decoded.obj, decoded.warnings


def decode_applied(write: Write) -> None:
    """Decode the applied configuration, which is YAML; unknown fields are always rejected."""
    decoded = patching.decode_applied(write.call, write.raw, write.old, now=write.now)
    write.obj, write.warnings, write.sent = decoded


def name_applied(write: Write) -> None:
    """Let an applied configuration leave its name to the path, if the object exists."""
    write.obj = patching.with_url_name(write.obj, write.call.name)


def match_path(write: Write) -> None:
    """Reject another name or namespace than the path has; set the namespace.

    The namespace as `EnsureObjectNamespaceMatchesRequestNamespace`.
    """
    call = write.call
    write.obj = objects.match_path(call.served, write.obj, call.namespace, call.name)


def check_create_on_update(write: Write) -> None:
    """Let an update create the object only if its kind allows that (`AllowCreateOnUpdate`).

    The version that was sent is ignored then; a uid is a precondition that fails.
    """
    served, call = write.served, write.call
    if not served.strategy.creates_on_update or call.part not in {"", "status"}:
        raise not_found(served.group, served.plural, call.name)
    meta = {key: value for key, value in write.obj["metadata"].items() if key != "resourceVersion"}
    if meta.get("uid"):
        why = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: "
        raise conflict(served.group, served.plural, call.name, storage_error(served, meta) + why)
    write.obj = {**write.obj, "metadata": meta}


def check_create_on_apply(write: Write) -> None:
    """Let an apply create the object, but not by way of a subresource."""
    if write.call.part:
        raise not_found(write.served.group, write.served.plural, write.call.name)


def check_uid(write: Write) -> None:
    """Reject a patch that changes the uid, which is a precondition only in an update."""
    patching.check_patched_uid(write.served, write.replaced, write.obj)


def merge_applied(write: Write) -> None:
    """Merge the applied configuration into the live object: structured-merge-diff.

    The result has its managed fields; conflicts with other managers are 409.
    """
    served, call = write.served, write.call
    live = None if write.old is None else served_object(served, write.old)
    applied = to_served_version(served, write.obj)
    merged = patching.merge_applied(call, live, applied, now=write.now, sent=write.sent)
    if served.custom is not None:
        merged, _ = served.custom.schema.prune(merged)
    # The applied configuration kept its empty values until here.
    merged = objects.to_storage_version(served, merged)
    write.obj = objects.complete(served, merged, metadata=True)
    write.is_applied = True


# --- default: what the client left out


def check_namespace(write: Write) -> None:
    """Reject a create in a missing or terminating namespace, or of a terminating CRD.

    The plugin NamespaceLifecycle runs before all others.
    """
    name = (write.obj.get("metadata") or {}).get("name") or ""
    write.admission.check_create(write.call, name)


def ignore_version(write: Write) -> None:
    """Ignore the version of an applied object that does not exist; reject its uid (409)."""
    write.obj = patching.without_version(write.served, write.obj)


def set_system_metadata(write: Write) -> None:
    """Set uid, creation time and generation (`FillObjectMetaSystemFields`)."""
    write.obj = objects.with_system_metadata(write.served, write.obj, now=write.now)


def set_requester(write: Write) -> None:
    """Write the user into a new CertificateSigningRequest (its `PrepareForCreate`)."""
    if write.served.storage == _SIGNING_REQUESTS and write.call.user is not None:
        write.obj = _with_requester(write.obj, write.call.user)


def _with_requester(obj: Object, user: User) -> Object:
    requester = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    sent = {key: value for key, value in (obj.get("spec") or {}).items() if key not in requester}
    return {**obj, "spec": {**sent, **{key: value for key, value in requester.items() if value}}}


def convert_old(write: Write) -> None:
    """Read the stored state of a custom object in the version of the request."""
    if write.served.definition is not None:
        old = write.replaced
        write.old = msgspec.structs.replace(old, obj=served_object(write.served, old))


def default(write: Write) -> None:
    """Set the default values of the kind: `SetDefaults_*`, or those of the CRD's schema."""
    write.obj = strategies.default(write.served.strategy, write.obj)


def complete_as_sent(write: Write) -> None:
    """Write zero values as Go does. Managed fields see empty lists that etcd makes nil."""
    write.obj = objects.complete(write.served, write.obj, *_complete_parts(write), stored=False)


def complete_as_stored(write: Write) -> None:
    """Write zero values as Go does, in the form that etcd has."""
    write.obj = objects.complete(write.served, write.obj, *_complete_parts(write))


def _complete_parts(write: Write) -> tuple[Object, ...]:
    """What has its zero values already."""
    return () if write.old is None else (write.old.obj,)


def generate_name(write: Write) -> None:
    """Generate a name for `generateName`; another one if an object has it already."""
    meta = write.obj["metadata"]
    base = meta.get("generateName")
    if meta.get("name") or not base or not isinstance(base, str):
        return
    name = ""
    for _ in range(_NAME_ATTEMPTS):
        name = random_name(base)
        key = key_of(meta.get("namespace", ""), name)
        if write.store.get(write.served.storage, key) is None:
            break
    write.obj = {**write.obj, "metadata": {**meta, "name": name}}


def track_fields(write: Write) -> None:
    """Make the manager of the request the owner of the fields that it sent or changed.

    Before admission and the strategy of the kind: what these set by themselves has no owner.
    """
    write.obj = write.track(write.call, write.old_object, write.obj, now=write.now)


# --- prepare: what the server sets


def mutate_by_plugins(write: Write) -> None:
    """Change a new object by the mutating admission plugins, such as Priority."""
    write.obj = write.admission.mutate_new(write.call, write.obj)


def prepare_create(write: Write) -> None:
    """Reset the status, set what the kind sets by itself (`PrepareForCreate`)."""
    write.obj = strategies.prepare_for_create(write.served.strategy, write.obj)


def allocate_new(write: Write) -> None:
    """Allocate the cluster addresses and node ports of a new Service."""
    allocate = write.served.strategy.allocate_new
    if allocate is not None:
        write.obj = allocate(write.obj, _reservation(write))


def _reservation(write: Write) -> Reservation:
    """What the write allocates; it is free again after the write, unless that is stored."""
    if write.reservation is None:
        write.reservation = write.allocator.reserve()
        write.allocator.begin(write.reservation)
    return write.reservation


def merge_update(write: Write) -> None:
    """Check the version; keep what this update may not change: system metadata, other parts.

    `BeforeUpdate` of the generic registry, and what the strategy of a subresource takes over.
    """
    old = write.replaced.obj
    write.obj = apply_update(write.served, old, write.obj, part=write.call.part)


def prepare_update(write: Write) -> None:
    """Keep what the kind keeps of the old object (`PrepareForUpdate`)."""
    prepare = write.served.strategy.prepare_update
    if prepare is not None:
        write.obj = prepare(write.obj, write.replaced.obj)


def prepare_part(write: Write) -> None:
    """Set what the server sets with a write of a subresource, such as times of conditions."""
    prepare = write.served.strategy.prepare_part
    if prepare is not None:
        write.obj = prepare(write.obj, write.replaced.obj, write.call.part, write.now)


def allocate_update(write: Write) -> None:
    """Allocate the addresses and ports that an updated Service needs now."""
    allocate = write.served.strategy.allocate_update
    if allocate is not None:
        write.obj = allocate(write.obj, write.replaced.obj, _reservation(write))


# --- admit: mutate, validate


def mutate_by_webhooks(write: Write) -> Awaitable[None] | None:
    """Call the mutating webhooks, one after the other; default the result again."""
    return _mutate(write) if write.admission.has_webhooks() else None


async def _mutate(write: Write) -> None:
    write.call = _with_name(write.call, write.obj)
    mutated, warnings = await write.admission.mutate(
        write.call, write.operation, write.obj, write.old_object
    )
    write.warnings += warnings
    served = write.served
    if mutated is not None and mutated is not write.obj:
        if served.custom is not None:
            # apiextensions-apiserver stores unknown fields of a patch, and no read shows them.
            mutated, _ = served.custom.schema.prune(mutated)
        # kube-apiserver defaults again after each webhook that patched the object.
        mutated = strategies.default(served.strategy, mutated)
        write.obj = objects.complete(served, mutated, metadata=True)
    write.call = _with_name(write.call, write.obj)


def _with_name(call: Call, obj: Object) -> Call:
    """The call with the generated name of its object."""
    name = obj["metadata"].get("name")
    if call.name or not isinstance(name, str):
        return call
    return msgspec.structs.replace(call, name=name)


def drop_repeated_owners(write: Write) -> None:
    """Drop owners that are repeated, once more after mutation."""
    write.obj = objects.without_repeated_owners(write.obj, write.warnings, is_mutated=True)


def count_generation(write: Write) -> None:
    """Count a change of the spec. After defaults and webhooks: only what is stored counts."""
    old = write.replaced.obj
    write.obj = with_generation(write.served, old, write.obj, part=write.call.part)


def check_escalation(write: Write) -> None:
    """Reject a role or binding that grants what the user does not have (RBAC's storage)."""
    if write.served.group == "rbac.authorization.k8s.io":
        write.admission.check_escalation(write.call, write.obj, write.old_object)


def validate(write: Write) -> None:
    """Reject an invalid object: 422 with every cause (`Validate`, `ValidateUpdate`).

    A built-in kind in its storage version, as kube-apiserver validates the internal version; a
    custom kind by the schema of the version that was sent.
    """
    served, old = write.served, write.old_object
    causes = strategies.validate(served.strategy, write.obj, old, subresource=write.call.part)
    if served.custom is not None:
        causes += served.custom.schema.validate(write.obj, old)
        if served.custom.scale is not None:
            causes += served.custom.scale.problems_of(write.obj)
    if causes:
        name = write.obj["metadata"].get("name", "")
        raise invalid(served.storage[0], served.kind, name, causes)


def warn(write: Write) -> None:
    """Warn about a valid object, such as deprecated fields (`WarningsOnCreate`)."""
    served, part, old = write.served, write.call.part, write.old_object
    write.warnings += strategies.warnings_of(served.strategy, write.obj, old, subresource=part)


def validate_by_plugins(write: Write) -> None:
    """Check the object by the validating admission plugins, such as PodSecurity."""
    write.warnings += write.admission.review(write.call, write.obj, write.old_object)


def validate_by_webhooks(write: Write) -> Awaitable[None] | None:
    """Call the validating webhooks, in parallel."""
    return _validate(write) if write.admission.has_webhooks() else None


async def _validate(write: Write) -> None:
    write.warnings += await write.admission.validate(
        write.call, write.operation, write.obj, write.old_object
    )


# --- store


def check_new_version(write: Write) -> None:
    """Reject a new object that has a version, as kube-apiserver's storage does."""
    if not write.call.options.dry_run:
        objects.check_new_version(write.obj)


def check_name_is_free(write: Write) -> None:
    """Reject a name that another object has. It may have been taken while webhooks ran."""
    served, meta = write.served, write.obj["metadata"]
    key = key_of(meta.get("namespace", ""), meta["name"])
    existing = write.store.get(served.storage, key)
    if existing is None:
        return
    if meta.get("generateName"):
        raise generate_name_conflict(served.group, served.plural, existing.name)
    error = already_exists(served.group, served.plural, existing.name)
    if "deletionTimestamp" in existing.obj["metadata"]:
        error.status["message"] = f"object is being deleted: {error.status['message']}"
    raise error


def store_new(write: Write) -> None:
    """Store a new object at the next version; listeners see the change."""
    write.entry = _dry_run(write) if write.call.options.dry_run else _store(write)


def check_unchanged(write: Write) -> None:
    """Reject a write if another one was stored while webhooks ran (409)."""
    served, call = write.served, write.call
    current = write.store.get(served.storage, call.key)
    if current is None or current.version != write.replaced.version:
        raise conflict(served.group, served.plural, call.name)


def store_update(write: Write) -> None:
    """Store the update at the next version, unless it changes nothing.

    If it removed the last finalizer of an object that is being deleted, the object goes: watches
    get DELETED and no MODIFIED (`ShouldDeleteDuringUpdate`).
    """
    old = write.replaced
    if _changes_nothing(write.served, write.obj, old):
        write.entry = old
    elif write.call.options.dry_run:
        write.entry = _dry_run(write)
    elif objects.is_removable(write.obj):
        removed = write.store.remove(write.served.storage, old.key)
        write.entry = dry_run_entry(write.obj, removed)
    else:
        write.entry = _store(write)


def _changes_nothing(served: ServedResource, obj: Object, old: Entry) -> bool:
    """Whether an update would store what is stored already.

    After a change of its schema, a custom object is stored otherwise than it is read.
    """
    if old.stored is None or served.definition is None:
        return objects.is_noop(old.obj, obj)
    return objects.is_noop(old.stored, served.definition.convert(obj, served.storage_version))


def _store(write: Write) -> Entry:
    try:
        return _store_object(write, write.obj)
    except StatusError:
        # Too large for etcd. Only an apply needs the managed fields.
        meta = write.obj["metadata"]
        if write.is_applied or "managedFields" not in meta:
            raise
        meta = {key: value for key, value in meta.items() if key != "managedFields"}
        return _store_object(write, {**write.obj, "metadata": meta})


def _store_object(write: Write, obj: Object) -> Entry:
    served = write.served
    if served.definition is None:
        return write.store.write(served.storage, obj)
    # Read as from etcd: the status that a create drops gets its default again.
    stored = served.definition.convert(obj, served.storage_version)
    read = served.definition.read(stored)
    return write.store.write(served.storage, read, None if read is stored else stored)


def _dry_run(write: Write) -> Entry:
    obj, definition = write.obj, write.served.definition
    if definition is not None:
        # The response shows what a read would, also of another version than the stored one.
        obj = definition.read(definition.convert(obj, write.served.storage_version))
    return dry_run_entry(obj, write.old)


def dry_run_entry(obj: Object, old: Entry | None) -> Entry:
    """An object as a write would store it, without the write."""
    meta = obj["metadata"]
    key = key_of(meta.get("namespace", ""), meta["name"])
    return Entry(key, obj, tail_of(obj), old.version if old else 0)
