"""The decision to retry, with its exact numbers."""

from __future__ import annotations

import pytest

from kubeloop.errors import ConnectError, StreamBroken, TimeoutExceeded, TransportError
from kubeloop.rest import TRANSPORT_DELAY, RequestSpacing, UrlBackoff
from kubeloop.rest.retry import Call, delay_after_failure, delay_after_response, retry_after_of

BROKEN = StreamBroken("x")
LATE = TimeoutExceeded("x")
REFUSED = ConnectError("x")


@pytest.mark.parametrize(
    ("status", "header", "wait"),
    [
        (429, "3", 3.0),
        (503, "0", 1.5),
        (503, "00", 1.5),
        (429, "300", 300.0),
        (429, "301", None),
        (503, "999999999", None),
        (503, "9" * 400, None),
        (503, "", None),
        (500, "1", 1.0),
        (504, " 7 ", 7.0),
        (429, None, None),
        (429, "Wed, 21 Oct 2026 07:28:00 GMT", None),
        (429, "1.5", None),
        (429, "-1", None),
        (302, "1", None),
        (409, "1", None),
        (200, "1", None),
    ],
)
def test_only_429_and_5xx_with_seconds_are_tried_again(
    status: int, header: str | None, wait: float | None
) -> None:
    """REST-31, REST-C6; unlike client-go, no wait is shorter than a second or endless."""
    found = delay_after_response(status, retry_after_of(header), left=1, random=lambda: 0.5)

    assert found == (wait and pytest.approx(wait))


def test_without_retries_left_a_response_is_the_last_word() -> None:
    """REST-37: attempts total = maxRetries + 1."""
    assert delay_after_response(429, 1, left=0) is None
    assert delay_after_failure(BROKEN, call=Call.WATCH, method="GET", left=0) is None


@pytest.mark.parametrize(
    ("call", "method", "failure", "again"),
    [
        (Call.SEND, "GET", BROKEN, True),
        (Call.SEND, "POST", BROKEN, False),
        (Call.SEND, "PUT", BROKEN, False),
        (Call.SEND, "DELETE", BROKEN, False),
        (Call.SEND, "GET", LATE, False),
        (Call.SEND, "GET", REFUSED, False),
        (Call.WATCH, "GET", BROKEN, True),
        (Call.WATCH, "GET", LATE, True),
        (Call.WATCH, "POST", BROKEN, True),
        (Call.WATCH, "GET", REFUSED, False),
        (Call.STREAM, "GET", BROKEN, False),
        (Call.STREAM, "GET", LATE, False),
    ],
)
def test_a_failure_on_the_way_is_repeated_only_where_that_is_safe(
    call: Call, method: str, failure: TransportError, again: bool
) -> None:
    """REST-32, REST-33, REST-C7: retryable transport errors: Do/DoRaw: only for GET."""
    wait = delay_after_failure(failure, call=call, method=method, left=1)

    assert wait == (TRANSPORT_DELAY if again else None)


def test_the_delay_after_a_failure_is_one_second() -> None:
    """REST-34: for a retryable transport error the artificial delay is 1 second."""
    assert TRANSPORT_DELAY == 1.0


def test_the_backoff_of_a_url_doubles_up_to_its_limit() -> None:
    """REST-40: URL backoff."""
    backoff = UrlBackoff(2, 7)
    delays = [backoff.delay]

    for status in (429, 500, 503, 200, 429):
        backoff.record(status)
        delays.append(backoff.delay)

    assert delays == [0, 2, 4, 7, 0, 2]


@pytest.mark.parametrize(
    ("base", "duration", "on"),
    [("1", "120", True), ("1", None, False), (None, "120", False), ("x", "120", False)],
)
def test_the_backoff_of_a_url_needs_both_variables(
    base: str | None, duration: str | None, on: bool
) -> None:
    """REST-40: URL backoff."""
    names = {"KUBE_CLIENT_BACKOFF_BASE": base, "KUBE_CLIENT_BACKOFF_DURATION": duration}
    environ = {name: value for name, value in names.items() if value is not None}

    assert (UrlBackoff.from_environ(environ) is not None) is on


def test_a_spacing_lets_five_requests_begin_within_two_seconds() -> None:
    spacing, now, begins = RequestSpacing(), 0.0, list[float]()
    for pause in (0.0, 0.1, 0.3, 0.0, 0.7, 0.0, 0.0, 0.1, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0):
        now += pause
        now += spacing.delay(now)
        assert spacing.delay(now) == 0
        spacing.begin(now)
        begins.append(now)

    assert begins[:5] == pytest.approx([0, 0.1, 0.4, 0.4, 1.1])
    gaps = [later - first for first, later in zip(begins, begins[5:], strict=False)]
    assert min(gaps) >= 2 - 1e-6
