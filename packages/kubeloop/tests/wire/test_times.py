"""Times and durations: parsing, formatting, errors."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire.errors import DecodeError, InvalidArgument
from kubeloop.wire.times import (
    Duration,
    MicroTime,
    format_micro_time,
    format_time,
    parse_time,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
MOMENTS = st.datetimes(
    datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7, minutes=-30))])  # noqa: DTZ001 - hypothesis wants them naive
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-02T03:04:05Z", datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2024-01-02T03:04:05.123Z", datetime(2024, 1, 2, 3, 4, 5, 123000, tzinfo=UTC)),
        ("2024-01-02T03:04:05.000006Z", datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("2024-01-02T03:04:05.123456789Z", datetime(2024, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)),
        ("2024-01-02T03:04:05.9999999999999Z", datetime(2024, 1, 2, 3, 4, 5, 999999, tzinfo=UTC)),
        ("2024-01-02T03:04:05+02:00", datetime(2024, 1, 2, 1, 4, 5, tzinfo=UTC)),
        ("2024-01-02T23:04:05-23:59", datetime(2024, 1, 3, 23, 3, 5, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_with_any_offset_and_any_fraction(text: str, moment: datetime) -> None:
    """API-23, V-3: 0, 3, 6 and 9 digits"""
    assert parse_time(text) == moment
    assert parse_time(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    ["", "null", "2024-01-02", "2024-01-02T03:04:05", "2024-01-02 03:04:05Z", "2024-01-02t03:04:05z",
     "2024-02-30T00:00:00Z", "2024-01-02T24:00:00Z", "2024-01-02T23:59:60Z", "2024-01-02T03:04:05.Z",
     "2024-01-02T03:04:05+0200", "2024-01-02T03:04:05+24:00", "2024-01-02T03:04:05+00:60",
     "20240102T030405Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "2024-1-2T3:4:5Z",
     "9999-12-31T23:59:59-01:00", "2024-01-02T03:04:05Z\n", "\u0662024-01-02T03:04:05Z"],
)  # fmt: skip
def test_what_is_no_time_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        parse_time(text)

    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("value", [None, 5, b"2024-01-02T03:04:05Z"])
def test_only_a_text_can_be_a_time(value: str) -> None:
    with pytest.raises(DecodeError):
        parse_time(value)
    with pytest.raises(DecodeError):
        MicroTime.parse(value)


def test_a_time_is_written_in_utc_with_the_fraction_cut_off() -> None:
    """API-C6, API-23: times are truncated to seconds in UTC."""
    assert format_time(parse_time("2024-01-02T03:04:05.999+02:00")) == "2024-01-02T01:04:05Z"
    assert format_time(datetime(1, 1, 1, 0, 0, 0, 999999, tzinfo=UTC)) == "0001-01-01T00:00:00Z"


def test_a_micro_time_is_written_with_six_digits_in_utc() -> None:
    """API-24: MicroTime has six fractional digits."""
    moment = datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))

    assert format_micro_time(moment) == "2024-01-02T01:04:05.000000Z"
    assert format_micro_time(moment.replace(microsecond=6)) == "2024-01-02T01:04:05.000006Z"


def test_a_micro_time_is_read_with_exactly_six_digits() -> None:
    """API-C7, V-3: MicroTime has six fractional digits."""
    moment = MicroTime.parse("2024-01-02T03:04:05.000001+01:00")

    assert moment == datetime(2024, 1, 2, 2, 4, 5, 1, tzinfo=UTC)
    assert type(moment) is MicroTime


@pytest.mark.parametrize("fraction", ["", ".123", ".12345", ".1234567", ".123456789", ","])
def test_a_micro_time_with_another_number_of_digits_is_an_error(fraction: str) -> None:
    """API-C7, V-3, API-24: MicroTime has six fractional digits."""
    with pytest.raises(DecodeError, match="six fractional digits"):
        MicroTime.parse(f"2024-01-02T03:04:05{fraction}Z")


def test_a_time_without_a_zone_is_an_error_with_a_hint() -> None:
    naive = datetime(2024, 1, 2, 3, 4, 5)  # noqa: DTZ001 - that is what is tested

    for write in (format_time, format_micro_time, MicroTime.of):
        with pytest.raises(InvalidArgument, match=r"no time zone .*replace\(tzinfo=UTC\)"):
            write(naive)


def test_a_time_beyond_the_calendar_is_an_invalid_argument() -> None:
    with pytest.raises(InvalidArgument, match="years 1 to 9999"):
        format_time(datetime.min.replace(tzinfo=timezone(timedelta(hours=1))))


def test_a_micro_time_is_a_datetime_like_any_other() -> None:
    moment = MicroTime(2024, 1, 2, 3, 4, 5, 6, UTC)

    assert moment == datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert type(moment + timedelta(seconds=1)) is MicroTime
    assert type(pickle.loads(pickle.dumps(moment))) is MicroTime
    assert copy.deepcopy(moment) == moment
    assert type(MicroTime.now(UTC)) is MicroTime


@given(MOMENTS)
def test_a_time_reads_as_it_was_written_to_the_second(moment: datetime) -> None:
    assert parse_time(format_time(moment)) == moment.replace(microsecond=0)
    assert parse_time(moment.isoformat()) == moment


@given(MOMENTS)
def test_a_micro_time_reads_as_it_was_written(moment: datetime) -> None:
    assert MicroTime.parse(format_micro_time(moment)) == moment == MicroTime.of(moment)


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_a_decode_error(text: str) -> None:
    for parse in (parse_time, MicroTime.parse, Duration.parse):
        try:
            parse(text)
        except DecodeError:
            continue


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1100, "1.1µs"),
        (1500, "1.5µs"),
        (2_200_000, "2.2ms"),
        (500_000_000, "500ms"),
        (3_300_000_000, "3.3s"),
        (60 * 10**9, "1m0s"),
        (5 * 60 * 10**9 + 5001 * 10**6, "5m5.001s"),
        (3600 * 10**9, "1h0m0s"),
        (5400 * 10**9, "1h30m0s"),
        (-1500 * 10**6, "-1.5s"),
        (2**63 - 1, "2562047h47m16.854775807s"),
        (-(2**63), "-2562047h47m16.854775808s"),
    ],
)
def test_a_duration_is_written_as_go_writes_it(nanoseconds: int, text: str) -> None:
    """API-25: durations in Go's notation."""
    assert str(Duration(nanoseconds)) == text
    assert Duration(text).nanoseconds == nanoseconds


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("-0", 0),
        ("+5s", 5 * 10**9),
        ("-5s", -5 * 10**9),
        (".5s", 500_000_000),
        ("1.s", 10**9),
        ("1us", 1000),
        ("1\u00b5s", 1000),
        ("1\u03bcs", 1000),
        ("10.5s4m", 250_500_000_000),
        ("1h1h", 7200 * 10**9),
        ("-2m3.4s", -123_400_000_000),
        ("0.100000000000000000000h", 360 * 10**9),
        ("0.9ns", 0),
        ("0.3333333333333333333h", 1_199_999_999_999),
        ("-9223372036854775808ns", -(2**63)),
    ],
)
def test_every_text_that_go_reads_is_read(text: str, nanoseconds: int) -> None:
    """API-25: durations in Go's notation."""
    assert Duration.parse(text) == Duration(nanoseconds)


@pytest.mark.parametrize(
    "text",
    ["", "3", "-", "s", ".", "-.", ".s", "+.s", "1d", "1 s", "1S", "1.5", "1h3", "--1s", "1_0s",
     "9223372036854775808ns", "9223372036854775.808us", "3000000h", "\u0661s", "1e3s", "9" * 5000 + "s"],
)  # fmt: skip
def test_what_is_no_duration_is_an_error_that_names_it(text: str) -> None:
    """API-25: a bare number other than 0 is an error"""
    with pytest.raises(DecodeError) as caught:
        Duration(text)

    assert repr(text)[:60] in str(caught.value)


@pytest.mark.parametrize("value", [1.5, True, None, timedelta(1), 2**63])
def test_a_duration_is_made_from_a_text_or_64_bits_of_nanoseconds(value: int) -> None:
    with pytest.raises(InvalidArgument, match="duration"):
        Duration(value)


@pytest.mark.parametrize("value", [0, None, 1.5])
def test_parse_takes_nothing_but_a_text(value: str) -> None:
    with pytest.raises(DecodeError):
        Duration.parse(value)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.1, "100ms"), (90, "1m30s"), (1e-9, "1ns"), (-0.5, "-500ms"), (0.3, "300ms")]
)  # fmt: skip
def test_a_duration_can_be_made_from_seconds(seconds: float, text: str) -> None:
    assert str(Duration.from_seconds(seconds)) == text
    assert Duration(text).total_seconds() == seconds


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e300])
def test_seconds_without_end_are_refused(seconds: float) -> None:
    with pytest.raises(InvalidArgument, match="duration"):
        Duration.from_seconds(seconds)


def test_a_timedelta_keeps_the_microseconds_and_cuts_the_rest() -> None:
    assert Duration(1_999).to_timedelta() == timedelta(microseconds=1)
    assert Duration(-1_999).to_timedelta() == -timedelta(microseconds=1)


def test_durations_count_and_compare() -> None:
    minute, second = Duration("1m"), Duration("1s")

    assert (str(minute + second), str(minute - second), str(3 * second)) == ("1m1s", "59s", "3s")
    assert (str(-minute), str(abs(-minute))) == ("-1m0s", "1m0s")
    assert second < minute <= Duration("60s")
    assert minute > second >= Duration("1s")
    assert minute == Duration("60s") != second
    assert hash(minute) == hash(Duration("60s"))
    assert minute
    assert not Duration()
    assert minute != 60 * 10**9


def test_durations_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="64 bits"):
        Duration(2**63 - 1) + Duration("1s")


def test_a_duration_shows_its_text_and_survives_copies_and_pickles() -> None:
    duration = Duration("90m")

    assert repr(duration) == "Duration('1h30m0s')"
    assert copy.deepcopy(duration) == copy.copy(duration) == duration
    assert pickle.loads(pickle.dumps(duration)) == duration


@given(INT64)
def test_a_duration_reads_as_it_was_written(nanoseconds: int) -> None:
    assert Duration.parse(str(Duration(nanoseconds))).nanoseconds == nanoseconds


@given(st.timedeltas(timedelta(days=-100_000), timedelta(days=100_000)))
def test_a_timedelta_comes_back_as_it_went(span: timedelta) -> None:
    assert Duration.from_timedelta(span).to_timedelta() == span
