"""Text for people, as the columns of `kubectl get` have it.

Promises: pure; the same words and cuts as kube-apiserver's printers; whatever an object
holds gives some text and never an exception.
Elsewhere: which column shows what (`table_kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from kubeloop.selectors import selector_from_wire
from kubeloop.wire import InvalidArgument
from kubeloop.wire.times import parse_time

__all__ = [
    "at",
    "condition_of",
    "containers_text",
    "human_duration",
    "human_since",
    "items_at",
    "labels_text",
    "or_else",
    "selector_text",
    "with_more",
]

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY


def human_duration(seconds: float) -> str:
    """A span in two or three figures: `5s`, `3m20s`, `5h`, `3d4h`, `2y40d`."""
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


def human_since(moment: object, now: datetime) -> str:
    """How long ago a timestamp of the API was; `<unknown>` where there is none."""
    if not isinstance(moment, str) or not moment:
        return "<unknown>"
    try:
        return human_duration((now - parse_time(moment)).total_seconds())
    except InvalidArgument:
        return "<invalid>"


def at(obj: Any, *path: str | int) -> Any:
    """What stands at a path, or None where it ends early."""
    for step in path:
        if isinstance(step, int):
            obj = obj[step] if isinstance(obj, list) and len(obj) > step else None
        else:
            obj = obj.get(step) if isinstance(obj, Mapping) else None
    return obj


def items_at(obj: Any, *path: str | int) -> list[Any]:
    """The list at a path; empty where there is none."""
    found = at(obj, *path)
    return found if isinstance(found, list) else []


def or_else(value: object, otherwise: str) -> str:
    """`value` as text, or `otherwise` where it is missing or empty."""
    return otherwise if value is None or value == "" else str(value)


def labels_text(labels: object) -> str:
    """`a=1,b=2`, sorted; `<none>` without any."""
    if not isinstance(labels, Mapping) or not labels:
        return "<none>"
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def selector_text(selector: Any, *, none: str = "<none>") -> str:
    """A LabelSelector as `kubectl` writes it; `none` where it selects everything or nothing."""
    try:
        return str(selector_from_wire(selector)) or none
    except InvalidArgument:
        return "<error>" if none else "<invalid>"


def containers_text(spec: Any) -> tuple[str, str]:
    """The names and the images of a pod spec's containers."""
    containers = [each for each in items_at(spec, "containers") if isinstance(each, Mapping)]
    names = ",".join(str(each.get("name", "")) for each in containers)
    return names, ",".join(str(each.get("image", "")) for each in containers)


def with_more(words: Sequence[str], *, shown: int, total: int | None = None) -> str:
    """The first words, and how many more there are: `a,b,c + 2 more...`."""
    count = len(words) if total is None else total
    text = ",".join(words[:shown])
    return f"{text} + {count - shown} more..." if len(words) > shown else text


def condition_of(obj: Any, sort: str) -> Mapping[str, Any] | None:
    """The first status condition of a type."""
    found: Iterable[Any] = items_at(obj, "status", "conditions")
    return next((e for e in found if isinstance(e, Mapping) and e.get("type") == sort), None)
