"""The query string of a request: options as parameters, parameters as text.

Guarantees: pure; keys are sorted, values of one key keep their order; options that are not
set are not sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TypedDict, Unpack
from urllib.parse import quote_plus

from kubeloop.errors import InvalidArgument

__all__ = ["Params", "QueryOptions", "encode_query", "pairs_of", "query_options"]

# Strings, numbers, Booleans, None, and lists of them; other values are rejected.
Params = Mapping[str, object] | Iterable[tuple[str, object]]

# Go keeps these as pointers: zero and false are values, and only None is "not set".
_ZERO_IS_A_VALUE = frozenset(
    {
        "timeout_seconds",
        "since_seconds",
        "tail_lines",
        "limit_bytes",
        "grace_period_seconds",
        "send_initial_events",
        "orphan_dependents",
        "force",
        "ignore_store_read_error_with_cluster_breaking_potential",
    }
)


class QueryOptions(TypedDict, total=False):
    """Keywords of `query_options`: the options of the API's verbs, in snake case."""

    # ListOptions
    label_selector: str | None
    field_selector: str | None
    watch: bool | None
    allow_watch_bookmarks: bool | None
    resource_version: str | None
    resource_version_match: str | None
    timeout_seconds: int | None
    limit: int | None
    continue_: str | None
    send_initial_events: bool | None
    shard_selector: str | None
    # TableOptions
    include_object: str | None
    # CreateOptions, UpdateOptions, PatchOptions
    dry_run: str | Sequence[str] | None
    field_manager: str | None
    field_validation: str | None
    force: bool | None
    # DeleteOptions
    grace_period_seconds: int | None
    orphan_dependents: bool | None
    propagation_policy: str | None
    ignore_store_read_error_with_cluster_breaking_potential: bool | None
    # PodLogOptions
    container: str | None
    follow: bool | None
    previous: bool | None
    since_seconds: int | None
    since_time: str | None
    timestamps: bool | None
    tail_lines: int | None
    limit_bytes: int | None
    stream: str | None


def query_options(**options: Unpack[QueryOptions]) -> dict[str, str | list[str]]:
    """The options of a request as parameters: `label_selector=` becomes `labelSelector`.

    None, "", 0 and False are left out, except where zero differs from "not set":
    `timeout_seconds=0` is sent.
    """
    sent: dict[str, str | list[str]] = {}
    for name, value in options.items():
        if value is None or (not value and name not in _ZERO_IS_A_VALUE):
            continue
        if isinstance(value, str):
            sent[_camel(name)] = value
        elif isinstance(value, list | tuple):
            sent[_camel(name)] = [_text(name, each) for each in value]
        else:
            sent[_camel(name)] = _text(name, value)
    return sent


def pairs_of(params: Params | None) -> tuple[tuple[str, str], ...]:
    """Parameters as pairs of strings, in the order given; None is left out."""
    if not params:
        return ()
    given = params.items() if isinstance(params, Mapping) else params
    pairs: list[tuple[str, str]] = []
    for key, value in given:
        if isinstance(value, str):
            pairs.append((key, value))
        elif isinstance(value, list | tuple):
            pairs.extend((key, _text(key, each)) for each in value if each is not None)
        elif value is not None:
            pairs.append((key, _text(key, value)))
    return tuple(pairs)


def encode_query(pairs: Iterable[tuple[str, str]]) -> str:
    """The pairs as a query string, sorted by key. Raises: InvalidArgument."""
    ordered = sorted(pairs, key=_key)
    try:
        return "&".join([f"{quote_plus(key)}={quote_plus(value)}" for key, value in ordered])
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"query parameter {error.object!r} is not valid UTF-8") from error


def _key(pair: tuple[str, str]) -> str:
    return pair[0]


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise InvalidArgument(
        f"query parameter {name}: expected a string, a number or a Boolean,"
        f" got {type(value).__name__}"
    )


@cache
def _camel(name: str) -> str:
    first, *others = name.rstrip("_").split("_")
    return first + "".join(map(str.capitalize, others))
