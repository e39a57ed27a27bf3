"""Validates cron schedules (five fields, or a descriptor such as @daily) and time zones.

Guarantees: accepts what kube-apiserver's parser (robfig/cron) accepts; reports why it rejects a
schedule.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from kubeloop.wire import Duration, InvalidArgument

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
    fields = re.sub(r"^(CRON_)?TZ=\S+\s+", "", text).split()
    if len(fields) != len(_FIELDS):
        found = " ".join(fields)
        return f"expected exactly 5 fields, found {len(fields)}: [{found}]"
    for field, (low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in field.split(","):
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
            return f"failed to parse duration {text}"
        return ""
    return f"unrecognized descriptor: {text}"


def _problem_of_range(part: str, low: int, high: int, words: dict[str, int]) -> str:
    """One range with its step: `*`, `*/5`, `1-5`, `mon-fri/2`."""
    span, slash, step = part.partition("/")
    if slash and (not step.isdecimal() or int(step) == 0):
        return f"step of range should be a positive number: {part}"
    if span in {"*", "?"}:
        return ""
    numbers = [_number(each, words) for each in span.split("-")]
    if len(numbers) > 2:
        return f"too many hyphens: {part}"
    parsed = [each for each in numbers if each is not None]
    if len(parsed) < len(numbers):
        return f"failed to parse int from {span}: invalid syntax"
    if parsed[0] < low:
        return f"beginning of range ({parsed[0]}) below minimum ({low}): {part}"
    if parsed[-1] > high:
        return f"end of range ({parsed[-1]}) above maximum ({high}): {part}"
    if parsed[0] > parsed[-1]:
        return f"beginning of range ({parsed[0]}) beyond end of range ({parsed[-1]}): {part}"
    return ""


def _number(text: str, words: dict[str, int]) -> int | None:
    return int(text) if text.isdecimal() else words.get(text.lower())


@functools.lru_cache(256)
def problem_of_time_zone(name: str) -> str:
    """What is wrong with the name of a time zone; "" if it is valid."""
    # `validateTimeZone`; the names are those of the time zone database of this machine.
    from zoneinfo import available_timezones

    if not name:
        return "must be nil or not empty"
    if name.lower() == "local":
        return "must be an explicit time zone of the IANA time zone database"
    # Without a database nothing is known about names.
    known = available_timezones()
    return "" if not known or name in known else f"unknown time zone {name}"
