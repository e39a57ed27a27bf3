"""Times and durations of the API: Time, MicroTime and Duration.

Guarantees: parsed times are in UTC, formatted times end in `Z`; a fraction that is too fine is
truncated, never rounded up; a datetime without a time zone is rejected as ambiguous; durations
are exact to the nanosecond.
See also: decoding in models (`codec`), which reads a Time by msgspec's rule: it keeps the
offset and rounds to the nearest microsecond.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, TypeAlias, final

import msgspec

from .errors import DecodeError, InvalidArgument

__all__ = [
    "Duration",
    "MicroTime",
    "Time",
    "format_micro_time",
    "format_time",
    "parse_time",
]

_MOMENT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])"
    r"(?:\.([0-9]+))?"
    r"(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)
_EXAMPLE: Final = "2024-01-02T03:04:05"

_MIN_NANOSECONDS: Final = -(2**63)
_MAX_NANOSECONDS: Final = 2**63 - 1
_SECOND: Final = 10**9
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,  # the micro sign
    "\u03bcs": 10**3,  # the Greek letter mu
    "ms": 10**6,
    "s": _SECOND,
    "m": _MINUTE,
    "h": _HOUR,
}
# Bounded repeats keep matching linear for hostile text. `re` compiles them on their first use.
_PIECE: Final = (
    r"(?:([0-9]{1,99})(?:\.([0-9]{0,99}))?|\.([0-9]{1,99}))(ns|us|\u00b5s|\u03bcs|ms|s|m|h)"
)
_PIECES: Final = rf"([+-]?)((?:{_PIECE})+)"


# A datetime; as an annotation of a model it also requires a time zone.
Time: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]


@final
class MicroTime(datetime):
    """A datetime that the API writes with six fractional digits.

    Fields of Lease and Event have this type, and the encoder selects the format by it.
    """

    __slots__ = ()

    @classmethod
    def of(cls, time: datetime) -> MicroTime:
        """The same time, in UTC.

        Raises:
            InvalidArgument: `time` has no time zone.
        """
        utc = _in_utc(time)
        return cls(
            utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, UTC
        )

    @classmethod
    def parse(cls, text: str) -> MicroTime:
        """Parse an RFC 3339 time with exactly six fractional digits, as models do.

        The result is in UTC. `fromisoformat` is Python's: it takes any number of digits.

        Raises:
            DecodeError: the text is not a time, or has more or fewer digits.
        """
        found = _match_moment(text)
        if found is None or len(found[2] or "") != 6:
            raise _not_a_time("micro time", text, f"{_EXAMPLE}.000006Z with six fractional digits")
        return cls.of(_moment("micro time", text, found))


def parse_time(text: str) -> datetime:
    """Parse an RFC 3339 time; the result is in UTC, exact to the microsecond.

    Any offset and any number of fractional digits is accepted; digits after the sixth are
    truncated.

    Raises:
        DecodeError: the text is not a time.
    """
    found = _match_moment(text)
    if found is None:
        raise _not_a_time("time", text, f"{_EXAMPLE}Z")
    return _moment("time", text, found)


def format_time(time: datetime) -> str:
    """The text of a time in the API: UTC, whole seconds, truncated.

    Raises:
        InvalidArgument: `time` has no time zone.
    """
    return _in_utc(time).isoformat(timespec="seconds")[:19] + "Z"


def format_micro_time(time: datetime) -> str:
    """The text of a time in the API: UTC, six fractional digits.

    Raises:
        InvalidArgument: `time` has no time zone.
    """
    return _in_utc(time).isoformat(timespec="microseconds")[:26] + "Z"


def _match_moment(text: object) -> re.Match[str] | None:
    # A decoder may pass any JSON value.
    return _MOMENT.fullmatch(text) if isinstance(text, str) else None


def _not_a_time(kind: str, text: object, example: str) -> DecodeError:
    return DecodeError(f"{kind} {text!r:.80}: not an RFC 3339 time (write it like {example})")


def _moment(kind: str, text: str, found: re.Match[str]) -> datetime:
    clock, fraction, sign, hours, minutes = found.groups()
    try:
        # Truncated, not rounded: the result must not be later than the time.
        time = datetime.fromisoformat(f"{clock}.{(fraction or '')[:6]:0<6}+00:00")
        if sign is None:
            return time
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return time - offset if sign == "+" else time + offset
    except (ValueError, OverflowError) as error:
        raise DecodeError(f"{kind} {text!r}: no such time: {error}") from error


def _in_utc(time: datetime) -> datetime:
    if time.utcoffset() is None:
        raise InvalidArgument(
            f"time {time.isoformat()} has no time zone (use datetime.now(UTC), "
            "or replace(tzinfo=UTC) if it is in UTC)"
        )
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise InvalidArgument(
            f"time {time.isoformat()} is outside the years 1 to 9999 in UTC"
        ) from error


@final
class Duration:
    """A duration in Go's notation, such as `1h30m0s` or `500ms`; immutable, ordered.

    Created from such a text or from nanoseconds as an int. Exact, and at most 292 years in
    either direction, as in Go; `str()` is the text that Go prints.

    Raises:
        DecodeError: the text is not a duration.
        InvalidArgument: the number does not fit into 64 bits.
    """

    __slots__ = ("_nanoseconds",)

    _nanoseconds: int

    def __init__(self, value: str | int = 0) -> None:
        self._nanoseconds = (
            _parse_duration(value) if isinstance(value, str) else _check_nanoseconds(value)
        )

    @classmethod
    def parse(cls, text: str) -> Duration:
        """Parse a text in Go's notation; other types are an error.

        Raises:
            DecodeError: it is not a duration.
        """
        return cls(_parse_duration(text))

    @classmethod
    def from_seconds(cls, seconds: float) -> Duration:
        """The nearest nanosecond; a float counts as its shortest text, so 0.1 is 100ms."""
        if type(seconds) in (int, float) and seconds % 1 == 0:
            return cls(int(seconds) * _SECOND)
        from fractions import Fraction  # slow to import, and rarely needed

        try:
            exact = Fraction(repr(seconds))
        except ValueError as error:
            raise InvalidArgument(f"duration: {seconds!r} seconds is not a number") from error
        return cls(round(exact * _SECOND))

    @classmethod
    def from_timedelta(cls, span: timedelta) -> Duration:
        return cls(span // timedelta(microseconds=1) * 1000)

    @property
    def nanoseconds(self) -> int:
        """The duration in nanoseconds."""
        return self._nanoseconds

    def total_seconds(self) -> float:
        """The duration in seconds, as the nearest float."""
        return self._nanoseconds / _SECOND

    def to_timedelta(self) -> timedelta:
        """The duration, truncated to microseconds."""
        cut = timedelta(microseconds=abs(self._nanoseconds) // 1000)
        return -cut if self._nanoseconds < 0 else cut

    def __str__(self) -> str:
        text = _format_duration(abs(self._nanoseconds))
        return f"-{text}" if self._nanoseconds < 0 else text

    def __repr__(self) -> str:
        return f"Duration({str(self)!r})"

    def __bool__(self) -> bool:
        return self._nanoseconds != 0

    def __hash__(self) -> int:
        return hash(self._nanoseconds)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds == other._nanoseconds

    def __lt__(self, other: Duration) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds < other._nanoseconds

    def __le__(self, other: Duration) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds <= other._nanoseconds

    def __gt__(self, other: Duration) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds > other._nanoseconds

    def __ge__(self, other: Duration) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds >= other._nanoseconds

    def __add__(self, other: Duration) -> Duration:
        if not isinstance(other, Duration):
            return NotImplemented
        return Duration(self._nanoseconds + other._nanoseconds)

    def __sub__(self, other: Duration) -> Duration:
        if not isinstance(other, Duration):
            return NotImplemented
        return Duration(self._nanoseconds - other._nanoseconds)

    def __mul__(self, factor: int) -> Duration:
        if not isinstance(factor, int):
            return NotImplemented
        return Duration(self._nanoseconds * factor)

    __rmul__ = __mul__

    def __neg__(self) -> Duration:
        return Duration(-self._nanoseconds)

    def __abs__(self) -> Duration:
        return Duration(abs(self._nanoseconds))

    def __copy__(self) -> Duration:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Duration:
        return self


def _parse_duration(text: object) -> int:
    if not isinstance(text, str):
        raise _not_a_duration(text)
    if text in ("0", "+0", "-0"):  # the only number without a unit
        return 0
    found = re.fullmatch(_PIECES, text)
    if found is None:
        raise _not_a_duration(text)
    total = sum(map(_piece, re.finditer(_PIECE, found[2])))
    signed = -total if found[1] == "-" else total
    if not _MIN_NANOSECONDS <= signed <= _MAX_NANOSECONDS:
        raise DecodeError(f"duration {text!r:.80}: longer than 292 years (64 bits of nanoseconds)")
    return signed


def _not_a_duration(value: object) -> DecodeError:
    return DecodeError(
        f"duration {value!r:.80}: not a duration (write it like 1h30m0s or 500ms; "
        "units are ns, us, ms, s, m, h, and every number needs one)"
    )


def _check_nanoseconds(nanoseconds: object) -> int:
    if not isinstance(nanoseconds, int) or isinstance(nanoseconds, bool):
        raise InvalidArgument(
            f"duration {nanoseconds!r:.80}: expected text or whole nanoseconds "
            "(use Duration.from_seconds or Duration.from_timedelta)"
        )
    if not _MIN_NANOSECONDS <= nanoseconds <= _MAX_NANOSECONDS:
        raise InvalidArgument("duration: the nanoseconds do not fit into 64 bits (292 years)")
    return nanoseconds


def _piece(found: re.Match[str]) -> int:
    whole, fraction, bare_fraction, unit = found.groups(default="")
    fraction = fraction or bare_fraction
    nanoseconds = int(whole or "0") * _UNITS[unit]
    if fraction:
        nanoseconds += int(fraction) * _UNITS[unit] // 10 ** len(fraction)
    return nanoseconds


def _format_duration(nanoseconds: int) -> str:
    if nanoseconds == 0:
        return "0s"
    if nanoseconds < _SECOND:
        return _format_part_of_second(nanoseconds)
    minutes, rest = divmod(nanoseconds, _MINUTE)
    seconds = f"{_decimal(rest, 9)}s"
    if minutes == 0:
        return seconds
    if minutes < 60:
        return f"{minutes}m{seconds}"
    return f"{minutes // 60}h{minutes % 60}m{seconds}"


def _format_part_of_second(nanoseconds: int) -> str:
    if nanoseconds < 10**3:
        return f"{nanoseconds}ns"
    if nanoseconds < 10**6:
        return f"{_decimal(nanoseconds, 3)}\u00b5s"
    return f"{_decimal(nanoseconds, 6)}ms"


def _decimal(number: int, places: int) -> str:
    """`number` with the point moved left by `places`, without trailing zeros."""
    whole, fraction = divmod(number, 10**places)
    return f"{whole}.{fraction:0{places}d}".rstrip("0").rstrip(".")
