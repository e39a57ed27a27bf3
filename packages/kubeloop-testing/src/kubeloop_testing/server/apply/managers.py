"""The entries of `metadata.managedFields`: which manager owns which fields since when.

Guarantees: pure; entries are encoded in kube-apiserver's order, and unchanged ones exactly as
they were read. An applier is the same manager in every API version.
See also: when ownership changes (`managed`), the sets themselves (`fieldsets`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from kubeloop.wire import InvalidArgument

from ..statuses import Cause, StatusError, apply_conflict
from .fieldsets import FieldSet, path_text

__all__ = [
    "Entry",
    "Identity",
    "Managers",
    "cap_updaters",
    "conflict_error",
    "encode_managers",
    "is_reset",
    "read_managers",
    "without_fields",
]

MAX_UPDATERS: Final = 10  # `DefaultMaxUpdateManagers` of kube-apiserver
_ANCIENT: Final = "ancient-changes"  # the manager of the oldest updates, merged

Operation: TypeAlias = Literal["Apply", "Update"]


class Identity(msgspec.Struct, frozen=True, order=True):
    """The identity of a manager; for an applier it does not include the API version."""

    manager: str
    operation: Operation
    api_version: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        text = msgspec.json.encode(self.manager).decode()
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return f"{text} using {self.api_version}" if self.operation == "Update" else text


class Entry(msgspec.Struct, frozen=True):
    """The fields of one manager, their API version, and the time of the last change."""

    fields: FieldSet
    api_version: str
    time: str = ""
    raw: dict[str, Any] | None = None  # as it was read, while unchanged

    def with_fields(self, fields: FieldSet) -> Entry:
        """The entry with other fields."""
        return Entry(fields, self.api_version, self.time)


Managers: TypeAlias = dict[Identity, Entry]


def is_reset(raw: object) -> bool:
    """Whether a request resets the managed fields: `[]` or `[{}]`."""
    if not isinstance(raw, list):
        return False
    return not raw or (len(raw) == 1 and isinstance(raw[0], dict) and not any(raw[0].values()))


def read_managers(raw: object) -> Managers:
    """Parse `managedFields`; of several entries of one manager the last one counts.

    Raises: InvalidArgument when it is not a list of entries.
    """
    if raw is None:
        return {}
    if not isinstance(raw, list):
        raise InvalidArgument(f"managedFields: expected a list, found {type(raw).__name__}")
    return dict(_read_entry(index, each) for index, each in enumerate(raw))


def _read_entry(index: int, raw: object) -> tuple[Identity, Entry]:
    if not isinstance(raw, Mapping):
        raise InvalidArgument(f"managedFields[{index}]: expected an object")
    operation, version = raw.get("operation"), raw.get("apiVersion")
    if operation not in {"Apply", "Update"}:
        raise InvalidArgument("operation must be `Apply` or `Update`")
    if not isinstance(version, str) or not version:
        raise InvalidArgument("apiVersion must not be empty")
    _check_format(index, raw.get("fieldsType"))
    identity = Identity(
        manager=str(raw.get("manager") or ""),
        operation=operation,
        api_version=version if operation == "Update" else "",
        subresource=str(raw.get("subresource") or ""),
    )
    fields = FieldSet.parse(raw.get("fieldsV1") or {})
    return identity, Entry(fields, version, str(raw.get("time") or ""), dict(raw))


def _check_format(index: int, name: object) -> None:
    # There is only one format so far.
    if not name:
        raise InvalidArgument(f"missing fieldsType in managed fields entry {index}")
    if name != "FieldsV1":
        raise InvalidArgument(f'invalid fieldsType "{name}" in managed fields entry {index}')


def encode_managers(managers: Managers) -> list[dict[str, Any]]:
    """`managedFields` of these managers: appliers first, then by time."""
    order = sorted(
        managers.items(),
        key=lambda each: (
            each[0].operation,
            each[1].time,
            each[0].manager,
            each[1].api_version,
            each[0].subresource,
        ),
    )
    return [entry.raw or _encode(identity, entry) for identity, entry in order]


def _encode(identity: Identity, entry: Entry) -> dict[str, Any]:
    encoded = {
        "manager": identity.manager,
        "operation": identity.operation,
        "apiVersion": entry.api_version,
        "time": entry.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": entry.fields.as_json(),
        "subresource": identity.subresource,
    }
    return {key: value for key, value in encoded.items() if value or key == "fieldsV1"}


def without_fields(managers: Managers, lost: FieldSet, *, spared: Identity) -> Managers:
    """All managers but `spared` without the fields `lost`; those without fields are dropped."""
    left: Managers = {}
    for identity, entry in managers.items():
        reduced = entry
        if identity != spared and lost:
            fields = entry.fields - lost
            reduced = entry if fields == entry.fields else entry.with_fields(fields)
        if reduced.fields:
            left[identity] = reduced
    return left


def cap_updaters(managers: Managers) -> Managers:
    """At most ten updaters: the oldest of each API version are merged into one."""
    updaters = [each for each in managers.items() if each[0].operation == "Update"]
    excess = len(updaters) - MAX_UPDATERS
    if excess <= 0:
        return managers
    left = dict(managers)
    first: dict[str, Identity] = {}
    for identity, entry in sorted(updaters, key=lambda each: (each[1].time, each[0])):
        if excess <= 0:
            break
        bucket = Identity(_ANCIENT, "Update", entry.api_version)
        if identity == bucket or entry.api_version not in first:
            first.setdefault(entry.api_version, identity)
            continue
        if bucket not in left:
            left[bucket] = left.pop(first[entry.api_version])
        del left[identity]
        both = left[bucket].fields | entry.fields
        left[bucket] = Entry(both, entry.api_version, entry.time)
        excess -= 1
    return left


def conflict_error(conflicts: Mapping[Identity, FieldSet]) -> StatusError:
    """409 that names each field and its manager."""
    found = [
        (manager, path_text(path))
        for manager, fields in sorted(conflicts.items(), key=lambda each: each[0])
        for path in fields.paths()
    ]
    causes = [
        Cause(field=path, reason="FieldManagerConflict", message=f"conflict with {manager}")
        for manager, path in found
    ]
    return apply_conflict(causes, _message(found))


def _message(found: list[tuple[Identity, str]]) -> str:
    # A single conflict is reported on one line, several as lists by manager.
    if len(found) == 1:
        return f"Apply failed with 1 conflict: conflict with {found[0][0]}: {found[0][1]}"
    lines: list[str] = []
    for manager in dict.fromkeys(manager for manager, _ in found):
        lines.append(f"conflicts with {manager}:")
        lines += [f"- {path}" for path in _of(manager, found)]
    text = "\n".join(lines)
    return f"Apply failed with {len(found)} conflicts: {text}"


def _of(manager: Identity, found: Iterable[tuple[Identity, str]]) -> Iterable[str]:
    return (path for each, path in found if each == manager)
