"""Validates cron schedules (five fields, or a descriptor such as @daily) and time zones.

Guarantees: accepts what kube-apiserver's parser (robfig/cron) accepts; reports why it rejects a
schedule.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from kubeloop.kit import whole_number
from kubeloop.wire import Duration, InvalidArgument

from ...statuses import quoted

__all__ = ["problem_of_schedule", "problem_of_time_zone"]

_NAMES: Final = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)
_MONTHS: Final = dict(
    zip("jan feb mar apr may jun jul aug sep oct nov dec".split(), range(1, 13), strict=True)  # noqa: SIM905
)
_DAYS: Final = dict(zip("sun mon tue wed thu fri sat".split(), range(7), strict=True))  # noqa: SIM905
# The minimum and maximum of each field, and its names for numbers.
_FIELDS: Final[tuple[tuple[int, int, dict[str, int]], ...]] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)


def problem_of_schedule(text: str) -> str:
    """What is wrong with a schedule; "" if it is valid."""
    if text.startswith("@"):
        return _problem_of_name(text)
    zone = re.match(r"(?:CRON_)?TZ=(\S+)\s+", text)
    if zone and (problem := problem_of_time_zone(zone[1])):
        return f"provided bad location {zone[1]}: {problem}"
    fields = text[zone.end() if zone else 0 :].split()
    if len(fields) != len(_FIELDS):
        found = " ".join(fields)
        return f"expected exactly 5 fields, found {len(fields)}: [{found}]"
    for field, (low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in filter(None, field.split(",")):
            problem = _problem_of_range(part, low, high, words)
            if problem:
                return problem
    return ""


def _problem_of_name(text: str) -> str:
    if text in _NAMES:
        return ""
    if text.startswith("@every "):
        try:
            Duration.parse(text.removeprefix("@every ").strip())
        except InvalidArgument:
            span = quoted(text.removeprefix("@every "))
            return f"failed to parse duration {text}: time: invalid duration {span}"
        return ""
    return f"unrecognized descriptor: {text}"


def _problem_of_range(part: str, low: int, high: int, words: dict[str, int]) -> str:
    """One range with its step: `*`, `*/5`, `1-5`, `mon-fri/2`."""
    span, slash, step = part.partition("/")
    ends = ["*"] if span in {"*", "?"} else span.split("-")
    if len(ends) > 2:
        return f"too many hyphens: {part}"
    numbers = [*ends[: len(ends) if ends != ["*"] else 0], *([step] if slash else [])]
    for text in numbers:
        if _number(text, {} if text is step else words) is None:
            problem = f"strconv.Atoi: parsing {quoted(text)}: invalid syntax"
            return f"failed to parse int from {text}: {problem}"
    if slash and int(step) == 0:
        return f"step of range should be a positive number: {part}"
    if ends == ["*"]:
        return ""
    parsed = [number for each in ends if (number := _number(each, words)) is not None]
    if parsed[0] < low:
        return f"beginning of range ({parsed[0]}) below minimum ({low}): {part}"
    if parsed[-1] > high:
        return f"end of range ({parsed[-1]}) above maximum ({high}): {part}"
    if parsed[0] > parsed[-1]:
        return f"beginning of range ({parsed[0]}) beyond end of range ({parsed[-1]}): {part}"
    return ""


def _number(text: str, words: dict[str, int]) -> int | None:
    number = whole_number(text)
    return words.get(text.lower()) if number is None else number


@functools.lru_cache(256)
def problem_of_time_zone(name: str) -> str:
    """What is wrong with the name of a time zone; "" if it is valid."""
    # `validateTimeZone`; the names are those of the time zone database of this machine.
    from zoneinfo import available_timezones

    if not name:
        return "timeZone must be nil or non-empty string"
    if name.lower() == "local":
        return (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    # Without a database nothing is known about names.
    known = available_timezones()
    return "" if not known or name in known else f"unknown time zone {name}"
