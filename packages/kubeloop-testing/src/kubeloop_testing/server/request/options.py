"""CreateOptions, ListOptions and the others, read from a query or a body.

The checks and their messages are those of `apimachinery/pkg/apis/meta/v1/validation` and
`.../internalversion/validation`.

Guarantees: pure; an option is either understood or rejected with kube-apiserver's Status.
See also: `verbs` (the effect of the options).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Literal, final

import msgspec

from kubeloop.wire import Json

from ..statuses import Cause, bad_request, invalid, untyped_error
from ..values import causes as field_errors
from ..values.go_json import struct_error

__all__ = [
    "DeleteOptions",
    "ListOptions",
    "Query",
    "WriteOptions",
    "check_timeout",
    "delete_options",
    "list_options",
    "manager_from_user_agent",
    "parse_version",
    "version_number",
    "write_options",
]

_META_GROUP = "meta.k8s.io"
_MANAGER_LENGTH = 128  # FieldManagerMaxLength
_LONGEST_NUMBER = 19  # digits of a 64-bit number


@final
class Query(dict[str, list[str]]):
    """The query of a request: each name with all its values."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__()
        for name, value in pairs:
            self.setdefault(name, []).append(value)

    def text(self, name: str) -> str:
        """The first value; empty where there is none."""
        found = self.get(name)
        return found[0] if found else ""

    def flag(self, name: str) -> bool | None:
        """A boolean as `Convert_Slice_string_To_bool` reads one: only `false` and `0` are false."""
        found = self.get(name)
        return None if found is None else found[0].lower() not in {"false", "0"}

    def number(self, name: str) -> int | None:
        """A 64-bit number; None where there is none.

        Raises:
            StatusError: 400 for a text that is no number.
        """
        return _integer(self.text(name)) if name in self else None


def _integer(text: str) -> int:
    # Checked before int(): Python accepts underscores and other digits, and huge numbers are slow.
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        raise bad_request(f'strconv.ParseInt: parsing "{text[:64]}": invalid syntax')
    if len(digits) > _LONGEST_NUMBER or not -(2**63) <= int(text) < 2**63:
        raise bad_request(f'strconv.ParseInt: parsing "{text[:64]}": value out of range')
    return int(text)


# A duration as Go's `time.ParseDuration` reads it.
_DURATION = re.compile(r"[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)


def check_timeout(query: Query) -> None:
    """Check `timeout`, which bounds every request that is no watch.

    The embedded server responds at once, so that a valid timeout has no effect.

    Raises:
        StatusError: 400 for a text that is no duration.
    """
    text = query.text("timeout")
    if text and not _DURATION.fullmatch(text):
        problem = "missing unit in" if text[-1].isdigit() else "invalid"
        problem = f'time: {problem} duration "{text[:64]}"'
        raise bad_request(f"invalid timeout specified in the request URL - {problem}")


def parse_version(text: str) -> int | None:
    """A resource version as `strconv.ParseUint` reads it; None for a text that is no version."""
    if not (text.isascii() and text.isdigit()) or len(text) > _LONGEST_NUMBER + 1:
        return None
    return number if (number := int(text)) < 2**64 else None


def version_number(text: str, *, listed: bool = False) -> int:
    """A resource version in a request; empty and "0" are 0.

    Raises:
        StatusError: for a text that cannot be a version. A list responds with 400; everywhere
            else kube-apiserver lets the parse error through, without a reason.
    """
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()):
        problem = f'strconv.ParseUint: parsing "{text[:64]}": invalid syntax'
    elif len(text) > _LONGEST_NUMBER + 1 or int(text) >= 2**64:
        problem = f'strconv.ParseUint: parsing "{text[:64]}": value out of range'
    else:
        return int(text)
    problem = f'resourceVersion: Invalid value: "{text[:64]}": {problem}'
    raise bad_request(f"invalid resource version: {problem}") if listed else untyped_error(problem)


# --- create, update, patch

FieldValidation = Literal["Ignore", "Warn", "Strict"]


@final
class WriteOptions(msgspec.Struct, frozen=True):
    """The options of create, update and patch."""

    dry_run: bool = False
    manager: str = ""
    validation: FieldValidation = "Warn"
    force: bool = False


NO_OPTIONS = WriteOptions()
_VALIDATIONS: dict[str, FieldValidation] = {
    "": "Warn",
    "Ignore": "Ignore",
    "Warn": "Warn",
    "Strict": "Strict",
}


def write_options(query: Query, kind: str, *, apply: bool = False) -> WriteOptions:
    """Read the options of a write; `kind` is the kind of the options, such as CreateOptions.

    Raises:
        StatusError: 422 for invalid values.
    """
    if not query and not apply:
        return NO_OPTIONS
    dry_run = query.get("dryRun", [])
    causes = _dry_run_causes(dry_run)
    manager = query.text("fieldManager")
    causes += _manager_causes(manager)
    validation = query.text("fieldValidation")
    # ValidateFieldValidation.
    if validation not in _VALIDATIONS:
        supported = ("", "Ignore", "Strict", "Warn")
        causes.append(field_errors.not_supported("fieldValidation", validation, supported))
    force = query.flag("force")
    # ValidatePatchOptions: an apply needs a manager, and only an apply can be forced.
    if kind == "PatchOptions" and apply and not manager:
        causes.append(field_errors.required("fieldManager", "is required for apply patch"))
    if kind == "PatchOptions" and not apply and force is not None:
        causes.append(field_errors.forbidden("force", "may not be specified for non-apply patch"))
    if causes:
        raise invalid(_META_GROUP, kind, "", causes)
    return WriteOptions(
        dry_run=bool(dry_run),
        manager=manager,
        validation=_VALIDATIONS[validation],
        force=bool(force),
    )


def _dry_run_causes(values: list[str]) -> list[Cause]:
    if all(value == "All" for value in values):
        return []
    return [field_errors.not_supported("dryRun", values, ("All",))]


def _manager_causes(manager: str) -> list[Cause]:
    if len(manager.encode()) > _MANAGER_LENGTH:
        return [field_errors.too_long("fieldManager", _MANAGER_LENGTH)]
    # isPrintable of Go's unicode package is close to str.isprintable.
    for index, letter in enumerate(manager):
        if not letter.isprintable():
            why = f"invalid character U+{ord(letter):04X} (at position {index})"
            return [field_errors.invalid("fieldManager", manager, why)]
    return []


@functools.lru_cache(maxsize=256)
def manager_from_user_agent(user_agent: str) -> str:
    """The field manager of a write that names none: the user agent up to the first slash."""
    start = user_agent.split("/", 1)[0]
    return "".join(letter for letter in start if letter.isprintable())[:_MANAGER_LENGTH]


# --- list and watch


@final
class ListOptions(msgspec.Struct, frozen=True):
    """The options of list, watch and deletecollection."""

    label_selector: str = ""
    field_selector: str = ""
    version: str = ""
    version_match: str = ""
    limit: int = 0
    next_page: str = ""
    watch: bool = False
    bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout: int = 0


def list_options(query: Query, *, watch: bool = False) -> ListOptions:
    """Read the options of a list or watch.

    Raises:
        StatusError: 400 for a text that is no number, 422 for forbidden combinations.
    """
    if not query:
        return ListOptions(watch=watch)
    options = ListOptions(
        label_selector=query.text("labelSelector"),
        field_selector=query.text("fieldSelector"),
        version=query.text("resourceVersion"),
        version_match=query.text("resourceVersionMatch"),
        limit=query.number("limit") or 0,
        next_page=query.text("continue"),
        watch=watch or bool(query.flag("watch")),
        bookmarks=bool(query.flag("allowWatchBookmarks")),
        send_initial_events=query.flag("sendInitialEvents"),
        timeout=query.number("timeoutSeconds") or 0,
    )
    causes = _watch_causes(options) if options.watch else _list_causes(options)
    if causes:
        raise invalid(_META_GROUP, "ListOptions", "", causes)
    return options


def _list_causes(options: ListOptions) -> list[Cause]:
    # ValidateListOptions of metainternalversion.
    causes: list[Cause] = []
    field, match = "resourceVersionMatch", options.version_match
    if match:
        if not options.version:
            why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            causes.append(field_errors.forbidden(field, why))
        if options.next_page:
            why = "resourceVersionMatch is forbidden when continue is provided"
            causes.append(field_errors.forbidden(field, why))
        if match not in {"Exact", "NotOlderThan"}:
            causes.append(field_errors.not_supported(field, match, ("Exact", "NotOlderThan", "")))
        if match == "Exact" and options.version == "0":
            why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            causes.append(field_errors.forbidden(field, why))
    if options.send_initial_events is not None:
        why = "sendInitialEvents is forbidden for list"
        causes.append(field_errors.forbidden("sendInitialEvents", why))
    return causes


def _watch_causes(options: ListOptions) -> list[Cause]:
    # validateWatchOptions of metainternalversion.
    causes: list[Cause] = []
    field, match = "resourceVersionMatch", options.version_match
    if options.send_initial_events is not None and match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(field_errors.forbidden(field, why))
    if match:
        if options.send_initial_events is None:
            why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            causes.append(field_errors.forbidden(field, why))
        if match != "NotOlderThan":
            causes.append(field_errors.not_supported(field, match, ("NotOlderThan",)))
        if options.next_page:
            why = "resourceVersionMatch is forbidden when continue is provided"
            causes.append(field_errors.forbidden(field, why))
    return causes


# --- delete


@final
class DeleteOptions(msgspec.Struct, frozen=True):
    """The options of delete and deletecollection."""

    grace: int | None = None
    propagation: str = ""  # "", "Orphan", "Background" or "Foreground"
    orphan: bool | None = None  # orphanDependents, which is deprecated
    uid: str = ""  # preconditions
    version: str = ""
    dry_run: bool = False


class _Preconditions(msgspec.Struct, rename="camel"):
    uid: str | None = None
    resource_version: str | None = None


class _Body(msgspec.Struct, rename="camel"):
    grace_period_seconds: int | None = None
    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    preconditions: _Preconditions | None = None
    dry_run: list[str] | None = None


def delete_options(query: Query, body: Mapping[str, Json] | None) -> DeleteOptions:
    """Read the options of a deletion: from the body if there is one, else from the query.

    Raises:
        StatusError: 400 for a body that cannot be decoded, 422 for invalid values.
    """
    sent = _from_query(query) if body is None else _from_body(body)
    dry_run, policy = sent.dry_run or [], sent.propagation_policy or ""
    causes = _dry_run_causes(dry_run)
    if policy and sent.orphan_dependents is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        causes.append(field_errors.invalid("propagationPolicy", policy, why))
    if policy not in {"", "Orphan", "Background", "Foreground"}:
        supported = ("Foreground", "Background", "Orphan", "nil")
        causes.append(field_errors.not_supported("propagationPolicy", policy, supported))
    if causes:
        raise invalid(_META_GROUP, "DeleteOptions", "", causes)
    preconditions = sent.preconditions or _Preconditions()
    return DeleteOptions(
        grace=sent.grace_period_seconds,
        propagation=policy,
        orphan=sent.orphan_dependents,
        uid=preconditions.uid or "",
        version=preconditions.resource_version or "",
        dry_run=bool(dry_run),
    )


def _from_query(query: Query) -> _Body:
    return _Body(
        grace_period_seconds=query.number("gracePeriodSeconds"),
        propagation_policy=query.text("propagationPolicy") or None,
        orphan_dependents=query.flag("orphanDependents"),
        preconditions=_Preconditions(
            query.text("uid") or None, query.text("resourceVersion") or None
        ),
        dry_run=query.get("dryRun"),
    )


def _from_body(body: Mapping[str, Json]) -> _Body:
    kind = body.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions":
        version = body.get("apiVersion") or "v1"
        raise bad_request(
            f'no kind "{kind}" is registered for version "{version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
    if problem := struct_error(body, "v1.DeleteOptions", _BODY_FIELDS):
        raise bad_request(problem)
    try:
        return msgspec.convert(body, _Body)
    except msgspec.ValidationError as error:
        raise bad_request(f"json: cannot read DeleteOptions: {error}") from error


_BODY_FIELDS = {
    "gracePeriodSeconds": "int64",
    "propagationPolicy": "v1.DeletionPropagation",
    "orphanDependents": "bool",
}
