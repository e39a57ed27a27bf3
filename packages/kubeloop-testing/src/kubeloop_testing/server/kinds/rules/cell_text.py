"""The text of table cells, as kube-apiserver's printers write it.

Guarantees: pure; the same words and the same abbreviations; any object results in some text,
never in an exception.
See also: the columns (the module of a kind).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from kubeloop.selectors import selector_from_wire
from kubeloop.wire import InvalidArgument
from kubeloop.wire.times import parse_time

from ...values.json_values import value_at
from ..kind import Json, Since

__all__ = [
    "age_of",
    "condition_of",
    "containers_text",
    "human_duration",
    "human_since",
    "items_at",
    "labels_text",
    "name_of",
    "or_else",
    "selector_text",
    "with_more",
]

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY


def human_duration(seconds: float) -> str:
    """A duration as apimachinery's `HumanDuration`: `5s`, `3m20s`, `5h`, `3d4h`, `2y40d`."""
    if seconds <= -2:
        return "<invalid>"
    whole = max(int(seconds), 0)
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 10 * _MINUTE:
        return _two(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def _two(seconds: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = seconds % large // small
    first = f"{seconds // large}{large_name}"
    return f"{first}{rest}{small_name}" if rest else first


def human_since(timestamp: object, now: datetime) -> str:
    """The age of a timestamp of the API; `<unknown>` without one."""
    if not isinstance(timestamp, str) or not timestamp:
        return "<unknown>"
    try:
        return human_duration((now - parse_time(timestamp)).total_seconds())
    except InvalidArgument:
        return "<invalid>"


def name_of(obj: Json) -> Any:
    return value_at(obj, "metadata", "name")


def age_of(obj: Json, since: Since) -> str:
    return since(value_at(obj, "metadata", "creationTimestamp"))


def items_at(obj: Any, *path: str | int) -> list[Any]:
    """The list at a path; empty if there is none."""
    found = value_at(obj, *path)
    return found if isinstance(found, list) else []


def or_else(value: object, default: str) -> str:
    """`value` as text, or `default` if it is missing or empty."""
    return default if value is None or value == "" else str(value)


def labels_text(labels: object) -> str:
    """`a=1,b=2`, sorted; `<none>` without any."""
    if not isinstance(labels, Mapping) or not labels:
        return "<none>"
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def selector_text(selector: Any, *, none: str = "<none>") -> str:
    """A LabelSelector as `kubectl` prints it; `none` if it selects everything or nothing."""
    try:
        return str(selector_from_wire(selector)) or none
    except InvalidArgument:
        return "<error>" if none else "<invalid>"


def containers_text(spec: Any) -> tuple[str, str]:
    """The names and the images of a pod spec's containers."""
    containers = [each for each in items_at(spec, "containers") if isinstance(each, Mapping)]
    names = ",".join(str(each.get("name", "")) for each in containers)
    return names, ",".join(str(each.get("image", "")) for each in containers)


def with_more(words: Sequence[str], *, limit: int, total: int | None = None) -> str:
    """The first words, and the number of the others: `a,b,c + 2 more...`."""
    count = len(words) if total is None else total
    text = ",".join(words[:limit])
    return f"{text} + {count - limit} more..." if len(words) > limit else text


def condition_of(obj: Any, name: str) -> Mapping[str, Any] | None:
    """The first status condition of a type."""
    found: Iterable[Any] = items_at(obj, "status", "conditions")
    return next((e for e in found if isinstance(e, Mapping) and e.get("type") == name), None)
