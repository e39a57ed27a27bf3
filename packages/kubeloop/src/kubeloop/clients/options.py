"""The options of each verb: validated, and converted to parameters or bodies.

Guarantees: pure; options that every server would reject are rejected here, before a request;
options that are not set are not sent, and a zero that was set is sent.
Keywords of several verbs are a TypedDict, so that a type checker finds a misspelt one.
See also: `resource` (which verb has which options), `kubeloop.rest` (requests).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, get_args

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.meta import Owner
from kubeloop.rest import query_options
from kubeloop.wire.protobuf_messages import ReadFormat

if TYPE_CHECKING:  # imported with the first selector
    from kubeloop.selectors import FieldSelector, Selector

__all__ = [
    "ApplyOptions",
    "ClientOptions",
    "DeleteOptions",
    "FieldSelection",
    "FieldValidation",
    "LabelSelection",
    "ListArguments",
    "ListOptions",
    "Propagation",
    "Selectors",
    "VersionMatch",
    "WatchOptions",
    "WriteOptions",
    "check_manager",
    "delete_options",
    "event_selector",
    "write_params",
]

FieldValidation = Literal["Ignore", "Warn", "Strict"]
Propagation = Literal["Orphan", "Background", "Foreground"]
VersionMatch = Literal["Exact", "NotOlderThan"]
LabelSelection: TypeAlias = "str | Selector | Mapping[str, str]"
FieldSelection: TypeAlias = "str | FieldSelector | Mapping[str, str]"

_MAX_MANAGER = 128
# The field of an event that refers to its object, by the apiVersion of the event.
_EVENT_FIELDS = {"v1": "involvedObject", "events.k8s.io/v1": "regarding"}

Params = dict[str, str | list[str]]


class ClientOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a client reads and writes objects, whatever its connections are (see `APIClient`)."""

    field_manager: str = ""
    tune_gc: bool = False
    format: ReadFormat | None = None


class WriteOptions(TypedDict, total=False):
    """Keywords of the verbs that write.

    With `dry_run` the server validates the request and stores nothing. `field_manager` replaces
    that of the client as the owner of the written fields. `field_validation` is what the server
    does with unknown fields.
    """

    dry_run: bool
    field_manager: str
    field_validation: FieldValidation | None


class ApplyOptions(WriteOptions, total=False):
    """Keywords of `Client.apply`.

    With `force` an apply takes over fields from other managers. `owner` becomes the controller
    of all objects, `namespace` is for objects that have none.
    """

    force: bool
    owner: Owner | None
    namespace: str | None


class DeleteOptions(TypedDict, total=False):
    """Keywords of a delete; an object that has another uid or resource version is not deleted."""

    propagation: Propagation | None
    grace_period: int | None
    expected_uid: str
    expected_version: str
    dry_run: bool
    orphan_dependents: bool | None
    ignore_store_read_error: bool


class Selectors(TypedDict, total=False):
    """Keywords of the verbs that select objects; without them, all are selected."""

    selector: LabelSelection | None
    field_selector: FieldSelection | None


class _PageArguments(TypedDict, total=False):
    limit: int
    next_page: str
    resource_version: str
    resource_version_match: VersionMatch | None
    timeout_seconds: int | None
    shard: str


class _ListFields(_PageArguments, total=False):
    selector: str
    field_selector: str


class ListArguments(Selectors, _PageArguments, total=False):
    """Keywords of a list, as `ListOptions` has them."""


class _StreamArguments(TypedDict, total=False):
    resource_version: str
    bookmarks: bool
    initial_events: bool
    timeout_seconds: int | None
    shard: str


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a list; `next_page` is the token from the previous page."""

    selector: str = ""
    field_selector: str = ""
    limit: int = 0
    next_page: str = ""
    resource_version: str = ""
    resource_version_match: VersionMatch | None = None
    timeout_seconds: int | None = None
    shard: str = ""

    @classmethod
    def of(
        cls,
        *,
        selector: LabelSelection | None = None,
        field_selector: FieldSelection | None = None,
        **others: Unpack[_PageArguments],
    ) -> ListOptions:
        """The options with selectors as text, dicts or `Selector`.

        Raises: InvalidArgument when they contradict each other, or a selector cannot be parsed.
        """
        return cls(
            selector=_selector_text(selector),
            field_selector=_field_selector_text(field_selector),
            **others,
        )

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise InvalidArgument(f"list: limit {self.limit} is negative (0 is no limit)")
        if self.resource_version_match is None:
            return
        _check_match(self.resource_version_match)
        if not self.resource_version:
            raise InvalidArgument(
                "list: resource_version_match without resource_version (give both, or neither)"
            )
        if self.next_page:
            raise InvalidArgument(
                "list: resource_version_match with next_page (the token already names the version)"
            )
        if self.resource_version_match == "Exact" and self.resource_version == "0":
            raise InvalidArgument(
                'list: resource_version "0" means any version, so that it cannot be matched exactly'
            )

    def params(self) -> Params:
        """The query parameters."""
        return query_options(
            label_selector=self.selector,
            field_selector=self.field_selector,
            limit=self.limit,
            continue_=self.next_page,
            resource_version=self.resource_version,
            resource_version_match=self.resource_version_match,
            timeout_seconds=self.timeout_seconds,
            shard_selector=self.shard,
        )

    def replace(self, **changes: Unpack[_ListFields]) -> ListOptions:
        """The same options with some changed, validated again."""
        return msgspec.structs.replace(self, **changes)


class WatchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a watch.

    `initial_events` streams the existing objects first (client-go: WatchList).
    """

    selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    bookmarks: bool = True
    initial_events: bool = False
    timeout_seconds: int | None = None
    shard: str = ""

    @classmethod
    def of(
        cls,
        *,
        selector: LabelSelection | None = None,
        field_selector: FieldSelection | None = None,
        **others: Unpack[_StreamArguments],
    ) -> WatchOptions:
        """The options with selectors as text, dicts or `Selector`. Raises: InvalidArgument."""
        return cls(
            selector=_selector_text(selector),
            field_selector=_field_selector_text(field_selector),
            **others,
        )

    def params(self) -> Params:
        """The query parameters; a server accepts a version match only with initial events."""
        return query_options(
            watch=True,
            label_selector=self.selector,
            field_selector=self.field_selector,
            resource_version=self.resource_version,
            allow_watch_bookmarks=self.bookmarks or self.initial_events,
            send_initial_events=True if self.initial_events else None,
            resource_version_match="NotOlderThan" if self.initial_events else None,
            timeout_seconds=self.timeout_seconds,
            shard_selector=self.shard,
        )


def write_params(
    *,
    dry_run: bool = False,
    field_manager: str = "",
    field_validation: FieldValidation | None = None,
    force: bool | None = None,
) -> Params:
    """The options of create, update, patch and apply; `force` is for apply alone."""
    if field_validation is not None and field_validation not in get_args(FieldValidation):
        raise InvalidArgument(
            f"field_validation={field_validation!r}: expected Ignore, Warn or Strict"
        )
    check_manager(field_manager)
    return query_options(
        dry_run="All" if dry_run else None,
        field_manager=field_manager,
        field_validation=field_validation,
        force=force,
    )


def check_manager(name: str) -> None:
    """Raise InvalidArgument for a field manager that no server accepts."""
    if len(name) > _MAX_MANAGER or not name.isprintable():
        raise InvalidArgument(
            f"field manager {name[:40]!r}: at most {_MAX_MANAGER} printable characters"
        )


def delete_options(
    *,
    propagation: Propagation | None = None,
    grace_period: int | None = None,
    expected_uid: str = "",
    expected_version: str = "",
    dry_run: bool = False,
    orphan_dependents: bool | None = None,
    ignore_store_read_error: bool = False,
) -> dict[str, Any]:
    """The body of a delete; the expected uid and version are preconditions."""
    if propagation is not None and propagation not in get_args(Propagation):
        raise InvalidArgument(
            f"propagation={propagation!r}: expected Orphan, Background or Foreground"
        )
    if propagation is not None and orphan_dependents is not None:
        raise InvalidArgument(
            "delete: propagation and the deprecated orphan_dependents exclude each other"
        )
    conditions = {"uid": expected_uid, "resourceVersion": expected_version}
    options: dict[str, Any] = {
        "gracePeriodSeconds": grace_period,
        "preconditions": {key: value for key, value in conditions.items() if value} or None,
        "orphanDependents": orphan_dependents,
        "propagationPolicy": propagation,
        "dryRun": ["All"] if dry_run else None,
        "ignoreStoreReadErrorWithClusterBreakingPotential": ignore_store_read_error or None,
    }
    return {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        **{key: value for key, value in options.items() if value is not None},
    }


def event_selector(
    obj: Any = None,
    *,
    name: str = "",
    namespace: str = "",
    kind: str = "",
    api_version: str = "",
    uid: str = "",
    events: str = "v1",
) -> FieldSelector:
    """Selects the events of an object: `events.list(field_selector=event_selector(pod))`.

    Without an object, by the fields that are given; those that an object does not have, such as
    a uid, are left out. `events` is the apiVersion of the events to list: `v1` or
    `events.k8s.io/v1`.
    Raises: InvalidArgument when there are no events of that apiVersion.
    """
    from kubeloop.selectors import field_selector_from_map

    prefix = _EVENT_FIELDS.get(events)
    if prefix is None:
        raise InvalidArgument(f"events of apiVersion {events!r}: expected v1 or events.k8s.io/v1")
    data = {} if obj is None else obj if isinstance(obj, dict) else obj.to_dict()
    metadata = data.get("metadata") or {}
    fields = {
        "name": name or metadata.get("name"),
        "namespace": namespace or metadata.get("namespace"),
        "kind": kind or data.get("kind"),
        "apiVersion": api_version,
        "uid": uid or metadata.get("uid"),
    }
    return field_selector_from_map(
        {f"{prefix}.{field}": value for field, value in fields.items() if value}
    )


def _selector_text(given: LabelSelection | None) -> str:
    if not given:
        return ""
    return _parsed_selector(given) if isinstance(given, str) else _read_selector(given)


def _field_selector_text(given: FieldSelection | None) -> str:
    if not given:
        return ""
    return _parsed_field_selector(given) if isinstance(given, str) else _read_field_selector(given)


def _read_selector(given: LabelSelection) -> str:
    from kubeloop.selectors import selector_text

    return selector_text(given)


def _read_field_selector(given: FieldSelection) -> str:
    from kubeloop.selectors import field_selector_text

    return field_selector_text(given)


# A program sends the same selectors again and again.
_parsed_selector = lru_cache(maxsize=256)(_read_selector)
_parsed_field_selector = lru_cache(maxsize=256)(_read_field_selector)


def _check_match(match: str) -> None:
    if match not in get_args(VersionMatch):
        raise InvalidArgument(f"resource_version_match={match!r}: expected Exact or NotOlderThan")
