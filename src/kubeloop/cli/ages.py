"""How old something is, in the few figures that kubectl shows."""

from __future__ import annotations

from datetime import datetime

from kubeloop.wire import InvalidArgument, parse_time

__all__ = ["age_text", "since_text"]

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 31_536_000

# Up to so many seconds: a unit, and a smaller one for what is left (0: that is not said).
_STEPS = (
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
    (float("inf"), _YEAR, "y", 0, ""),
)


def age_text(seconds: float) -> str:
    """`45s`, `3m20s`, `5h`, `3d4h`, `2y40d`; a moment to come is no age at all."""
    whole = max(0, int(seconds))
    _, unit, letter, part, small = next(step for step in _STEPS if whole < step[0])
    rest = whole % unit // part if part else 0
    return f"{whole // unit}{letter}{f'{rest}{small}' if rest else ''}"


def since_text(moment: str, now: datetime) -> str:
    """The age of what began at a timestamp of the API; empty where that is none."""
    try:
        return age_text((now - parse_time(moment)).total_seconds())
    except InvalidArgument:
        return ""
