"""Moments and spans as the API writes them: Time, MicroTime and Duration.

Guarantees: what is parsed is in UTC, what is formatted ends in `Z`; a fraction too
fine to keep is cut off, never rounded up; a datetime without a zone is refused,
because nobody knows which moment it means; durations are exact to the nanosecond.
See also: where the models' decoder meets these types is `codec`; a Time it reads by
msgspec's own rule, which keeps the offset and rounds to the nearest microsecond.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Annotated, Final, TypeAlias, final

import msgspec

from .errors import DecodeError, InvalidArgument

__all__ = [
    "Duration",
    "MicroTime",
    "Time",
    "format_micro_time",
    "format_time",
    "parse_micro_time",
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
# The bounds on the repeats keep a hostile text from costing more than its length.
_PIECE: Final = re.compile(
    r"(?:([0-9]{1,99})(?:\.([0-9]{0,99}))?|\.([0-9]{1,99}))(ns|us|\u00b5s|\u03bcs|ms|s|m|h)"
)
_PIECES: Final = re.compile(rf"([+-]?)((?:{_PIECE.pattern})+)")


# A datetime like any; in a model's annotation it also says that a zone must be there.
Time: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]


@final
class MicroTime(datetime):
    """A moment that the API writes with six fractional digits; else a datetime like any.

    The type tells the encoder the form: Lease and Event fields have it.
    """

    __slots__ = ()

    @classmethod
    def of(cls, moment: datetime) -> MicroTime:
        """The same moment, in UTC.

        Raises:
            InvalidArgument: `moment` has no time zone.
        """
        utc = _in_utc(moment)
        return cls(
            utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, UTC
        )


def parse_time(text: str) -> datetime:
    """The moment that an RFC 3339 text names, in UTC, to the microsecond.

    Any offset and any number of fractional digits will do; digits after the sixth are cut.

    Raises:
        DecodeError: the text names no moment.
    """
    found = _match_moment(text)
    if found is None:
        raise _no_moment("time", text, f"{_EXAMPLE}Z")
    return _moment("time", text, found)


def parse_micro_time(text: str) -> MicroTime:
    """The moment that an RFC 3339 text with exactly six fractional digits names, in UTC.

    Raises:
        DecodeError: the text names no moment, or has more or fewer digits.
    """
    found = _match_moment(text)
    if found is None or len(found[2] or "") != 6:
        raise _no_moment("micro time", text, f"{_EXAMPLE}.000006Z with six fractional digits")
    return MicroTime.of(_moment("micro time", text, found))


def format_time(moment: datetime) -> str:
    """The API's text of a moment: UTC, whole seconds, the rest cut off.

    Raises:
        InvalidArgument: `moment` has no time zone.
    """
    return _in_utc(moment).isoformat(timespec="seconds")[:19] + "Z"


def format_micro_time(moment: datetime) -> str:
    """The API's text of a moment: UTC, six fractional digits.

    Raises:
        InvalidArgument: `moment` has no time zone.
    """
    return _in_utc(moment).isoformat(timespec="microseconds")[:26] + "Z"


def _match_moment(text: object) -> re.Match[str] | None:
    # A decoder hands over whatever the JSON held.
    return _MOMENT.fullmatch(text) if isinstance(text, str) else None


def _no_moment(kind: str, text: object, example: str) -> DecodeError:
    return DecodeError(f"{kind} {text!r:.80}: not an RFC 3339 moment (write it like {example})")


def _moment(kind: str, text: str, found: re.Match[str]) -> datetime:
    clock, fraction, sign, hours, minutes = found.groups()
    try:
        # Cut, not rounded: a moment must not come out later than it was.
        moment = datetime.fromisoformat(f"{clock}.{(fraction or '')[:6]:0<6}+00:00")
        if sign is None:
            return moment
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return moment - offset if sign == "+" else moment + offset
    except (ValueError, OverflowError) as error:
        raise DecodeError(f"{kind} {text!r}: no such moment: {error}") from error


def _in_utc(moment: datetime) -> datetime:
    if moment.utcoffset() is None:
        raise InvalidArgument(
            f"time {moment.isoformat()} has no time zone (use datetime.now(UTC), "
            "or replace(tzinfo=UTC) when UTC is what it means)"
        )
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidArgument(
            f"time {moment.isoformat()} is outside the years 1 to 9999 in UTC"
        ) from error


@final
class Duration:
    """A span of time in Go's notation, such as `1h30m0s` or `500ms`; immutable, ordered.

    Made from such a text or, when given an int, from nanoseconds. Exact, and at most 292
    years either way, as in Go; `str()` is the text Go prints.

    Raises:
        DecodeError: the text is no duration.
        InvalidArgument: the number does not fit into 64 bits.
    """

    __slots__ = ("_nanoseconds",)

    _nanoseconds: int

    def __init__(self, value: str | int = 0) -> None:
        self._nanoseconds = _parse_duration(value) if isinstance(value, str) else _checked(value)

    @classmethod
    def parse(cls, text: str) -> Duration:
        """The span that a text in Go's notation names; nothing but a text will do.

        Raises:
            DecodeError: it is no duration.
        """
        return cls(_parse_duration(text))

    @classmethod
    def from_seconds(cls, seconds: float) -> Duration:
        """The nearest nanosecond; a float counts as its shortest text, so 0.1 is 100ms."""
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
        """The whole span."""
        return self._nanoseconds

    def total_seconds(self) -> float:
        """The whole span, as the nearest float."""
        return self._nanoseconds / _SECOND

    def to_timedelta(self) -> timedelta:
        """The span to the microsecond; what is finer is cut off."""
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
        raise _no_duration(text)
    if text in ("0", "+0", "-0"):  # the only number that needs no unit
        return 0
    found = _PIECES.fullmatch(text)
    if found is None:
        raise _no_duration(text)
    total = sum(map(_piece, _PIECE.finditer(found[2])))
    signed = -total if found[1] == "-" else total
    if not _MIN_NANOSECONDS <= signed <= _MAX_NANOSECONDS:
        raise DecodeError(f"duration {text!r:.80}: longer than 292 years (64 bits of nanoseconds)")
    return signed


def _no_duration(value: object) -> DecodeError:
    return DecodeError(
        f"duration {value!r:.80}: not a duration (write it like 1h30m0s or 500ms; "
        "units are ns, us, ms, s, m, h, and every number needs one)"
    )


def _checked(nanoseconds: object) -> int:
    if not isinstance(nanoseconds, int) or isinstance(nanoseconds, bool):
        raise InvalidArgument(
            f"duration {nanoseconds!r:.80}: expected a text or whole nanoseconds "
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
    """`number` with the point moved left by `places`, without needless zeros."""
    whole, fraction = divmod(number, 10**places)
    return f"{whole}.{fraction:0{places}d}".rstrip("0").rstrip(".")
