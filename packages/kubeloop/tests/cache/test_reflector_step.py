"""The states of a reflector and the step between them, without an event loop."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.cache import ReflectorState, VeryShortWatch
from kubeloop.cache.reflector_errors import UnreadableEvent, VersionWentBack
from kubeloop.cache.reflector_state import (
    Aborted,
    AttemptFailed,
    BackingOff,
    Effect,
    Ended,
    Failed,
    FellBack,
    Listing,
    Observation,
    Opened,
    Position,
    ReadAgain,
    Received,
    Started,
    Starting,
    State,
    Streaming,
    Synced,
    Throttled,
    Waited,
    Watching,
    effect_of,
    reported_state,
    step,
)
from kubeloop.cache.watch_list import StreamEnded
from kubeloop.errors import StreamBroken
from tests.support.model_server import expired, refusal, refused, too_large

AT_10 = Position("10")
WATCHING = Watching(AT_10, since="10", is_open=True)
AGAIN = Watching(AT_10, since="10", is_suspect=True)
FORBIDDEN = refusal(403, "Forbidden")
TOO_MANY = refusal(429, "TooManyRequests")


# --- reading the collection


def test_a_collection_is_streamed_if_that_is_possible_and_else_listed() -> None:
    assert step(Starting(), Started(can_stream=True, is_failing=False)) == Streaming(Position())
    assert step(Starting(), Started(can_stream=False, is_failing=False)) == Listing(Position())


def test_while_attempts_fail_a_stream_is_not_repeated() -> None:
    state = step(Starting(AT_10), Started(can_stream=True, is_failing=True))

    assert state == Streaming(AT_10, may_retry=False)
    assert step(state, Failed(refused(), can_stream=True)) == Listing(AT_10)


def test_the_first_list_takes_any_version_and_later_ones_at_least_the_last() -> None:
    assert (Position().list_version, Position().stream_version) == ("0", "")
    assert (AT_10.list_version, AT_10.stream_version) == ("10", "10")
    assert (AT_10.reject().list_version, AT_10.reject().stream_version) == ("", "")


def test_a_list_leads_to_a_watch_that_has_to_be_opened() -> None:
    assert step(Listing(Position()), Synced("10")) == Watching(AT_10, since="10")


def test_a_stream_continues_as_the_watch() -> None:
    assert step(Streaming(Position()), Synced("10")) == WATCHING


@pytest.mark.parametrize("error", [expired(), too_large()], ids=["expired", "too large"])
def test_a_list_whose_version_is_rejected_is_repeated_once_for_the_newest(
    error: Exception,
) -> None:
    retry = step(Listing(AT_10), Failed(error))

    assert retry == Listing(AT_10.reject(), is_retry=True)
    assert step(retry, Failed(error)) == BackingOff(Starting(AT_10.reject()), error=error)


def test_the_newest_state_is_requested_until_there_is_one() -> None:
    state = step(BackingOff(Starting(AT_10.reject())), Waited())
    state = step(state, Started(can_stream=True, is_failing=False))
    assert state.position.stream_version == ""

    state = step(state, Synced("3"))
    assert state.position == Position("3")


def test_another_error_of_a_list_leads_to_a_wait_as_long_as_the_server_requests() -> None:
    error = refusal(503, "ServiceUnavailable")
    error.status.details.retry_after_seconds = 7  # type: ignore[union-attr] # it has details

    assert step(Listing(AT_10), Failed(error)) == BackingOff(Starting(AT_10), 7.0, error)


# --- streams that fail


def test_a_stream_whose_version_is_rejected_is_repeated_at_once_for_the_newest() -> None:
    assert step(Streaming(AT_10), Failed(expired(), can_stream=True)) == Streaming(AT_10.reject())


def test_a_stream_that_breaks_is_repeated_after_a_wait_and_then_listed() -> None:
    broken = StreamEnded("broken", events=3)
    state: State = Streaming(AT_10)
    for retries in (1, 2):
        waiting = step(state, Failed(broken, can_stream=True))
        assert waiting == BackingOff(Streaming(AT_10, retries=retries))
        state = step(waiting, Waited())

    assert step(state, Failed(broken, can_stream=True)) == Listing(AT_10, stream_error=broken)


def test_a_stream_that_is_not_possible_any_more_is_not_repeated() -> None:
    broken = StreamBroken("broken")

    assert step(Streaming(AT_10), Failed(broken, can_stream=False)) == Listing(AT_10)


def test_a_fault_of_streams_stays_known_while_the_list_is_repeated() -> None:
    fault = refusal(400, "BadRequest")
    listing = step(Streaming(AT_10), Failed(fault, can_stream=True))
    assert listing == Listing(AT_10, stream_error=fault)

    retry = step(listing, Failed(expired()))
    assert retry == Listing(AT_10.reject(), is_retry=True, stream_error=fault)


# --- watches


def test_a_watch_that_is_accepted_is_open() -> None:
    assert step(Watching(AT_10, since="10"), Opened()) == WATCHING


def test_events_move_the_version() -> None:
    state = step(WATCHING, Received("12"))

    assert state == Watching(Position("12"), since="10", is_open=True)
    assert step(state, Received("12")) is state


def test_a_watch_that_ends_is_followed_by_another_from_its_last_version() -> None:
    assert step(WATCHING, Ended(60.0)) == AGAIN
    moved = step(WATCHING, Received("12"))
    assert step(moved, Ended(0.1)) == Watching(Position("12"), since="12", is_suspect=True)


@pytest.mark.parametrize("observation", [Ended(0.5), Failed(StreamBroken("broken"), 0.5)])
def test_a_watch_that_ends_at_once_without_anything_new_leads_to_a_new_list(
    observation: Observation,
) -> None:
    state = step(WATCHING, observation, scope="pods")

    assert isinstance(state, BackingOff)
    assert state.then == Starting(AT_10)
    assert isinstance(state.error, VeryShortWatch)
    assert str(state.error).startswith("watch pods from 10: ")


@pytest.mark.parametrize(
    ("failed", "then"),
    [
        (Failed(refused()), BackingOff(AGAIN)),
        (Failed(TOO_MANY), BackingOff(AGAIN)),
        (Failed(StreamBroken("broken"), 60.0), AGAIN),
        (Failed(refusal(500, "InternalError"), is_tolerated=True), AGAIN),
    ],
    ids=["refused", "429", "broken", "tolerated"],
)
def test_failures_after_which_no_list_is_needed(failed: Failed, then: State) -> None:
    assert step(WATCHING, failed) == then


@pytest.mark.parametrize(
    "error",
    [expired(), FORBIDDEN, refusal(500, "InternalError"), UnreadableEvent("x"), ValueError("bug")],
    ids=lambda error: type(error).__name__,
)
def test_failures_after_which_the_collection_is_read_again_from_the_last_version(
    error: Exception,
) -> None:
    assert step(WATCHING, Failed(error)) == BackingOff(Starting(AT_10), error=error)


def test_a_server_that_went_back_is_asked_for_its_newest_state() -> None:
    error = VersionWentBack("the server is at 3")

    assert step(WATCHING, Aborted(error)) == BackingOff(Starting(AT_10.reject()), error=error)


@pytest.mark.parametrize("state", [WATCHING, Streaming(AT_10)])
def test_watches_that_end_too_quickly_wait_and_continue(state: Watching | Streaming) -> None:
    waiting = step(state, Throttled())

    assert waiting == BackingOff(state)
    assert step(waiting, Waited()) == state


# --- any state


@pytest.mark.parametrize(
    ("state", "reported"),
    [
        (Starting(), ReflectorState.NEW),
        (Listing(AT_10), ReflectorState.LISTING),
        (Streaming(AT_10), ReflectorState.LISTING),
        (Watching(AT_10, since="10"), ReflectorState.CONNECTING),
        (WATCHING, ReflectorState.WATCHING),
        (BackingOff(AGAIN), ReflectorState.WAITING),
    ],
    ids=lambda value: type(value).__name__,
)
def test_stats_report_the_state(state: State, reported: ReflectorState) -> None:
    assert reported_state(state) is reported


errors = st.sampled_from(
    [
        expired(),
        too_large(),
        refused(),
        TOO_MANY,
        FORBIDDEN,
        StreamBroken("broken"),
        StreamEnded("broken", events=2),
        StreamEnded("empty", events=0),
        VersionWentBack("older"),
        UnreadableEvent("unreadable"),
        ValueError("bug"),
    ]
)
versions = st.integers(1, 99).map(str)
seconds = st.sampled_from([0.0, 0.5, 1.0, 300.0])
observations: st.SearchStrategy[Observation] = st.one_of(
    st.builds(Started, can_stream=st.booleans(), is_failing=st.booleans()),
    st.builds(Synced, versions),
    st.just(Opened()),
    st.builds(Received, versions),
    st.builds(Ended, seconds),
    st.builds(Failed, errors, seconds, can_stream=st.booleans(), is_tolerated=st.booleans()),
    st.builds(Aborted, errors),
    st.just(Throttled()),
    st.just(Waited()),
)


def _reach(steps: list[Observation]) -> State:
    state: State = Starting()
    for observation in steps:
        state = step(state, observation)
    return state


@given(st.lists(observations, max_size=20), observations)
def test_only_a_list_a_stream_or_an_event_changes_the_version(
    steps: list[Observation], last: Observation
) -> None:
    before = _reach(steps)
    after = step(before, last)

    if after.position.version != before.position.version:
        assert isinstance(last, Synced | Received)
        assert after.position == Position(last.version)


@given(st.lists(observations, max_size=20), observations)
def test_a_rejected_version_stays_rejected_until_there_is_another_state(
    steps: list[Observation], last: Observation
) -> None:
    before = _reach(steps)
    after = step(before, last)

    if before.position.is_rejected and not isinstance(last, Synced):
        assert after.position.list_version == after.position.stream_version == ""


@given(st.lists(observations, max_size=20), st.booleans())
def test_from_any_state_a_server_that_works_again_is_watched(
    steps: list[Observation], can_stream: bool
) -> None:
    state = _reach(steps)
    for _ in range(4):
        state = step(state, _next_success(state, can_stream=can_stream))

    assert isinstance(state, Watching)
    assert state.is_open


@given(st.lists(observations, max_size=20), st.lists(errors, min_size=5, max_size=5))
def test_failures_never_repeat_without_a_wait(
    steps: list[Observation], failures: list[Exception]
) -> None:
    state = _reach(steps)
    if isinstance(state, Watching):
        state = step(state, Aborted(failures[0]))
    waits = 0
    for error in failures:
        if isinstance(state, Starting):
            state = step(state, Started(can_stream=True, is_failing=False))
        state = step(state, Failed(error, can_stream=True))
        waits += isinstance(state, BackingOff)

    assert waits > 0


def _next_success(state: State, *, can_stream: bool) -> Observation:
    successes: dict[type[State], Callable[[], Observation]] = {
        Starting: lambda: Started(can_stream, is_failing=False),
        Streaming: lambda: Synced("100"),
        Listing: lambda: Synced("100"),
        Watching: Opened,
        BackingOff: Waited,
    }
    return successes[type(state)]()


# --- what a step counts as


@pytest.mark.parametrize(
    ("before", "observation", "effect"),
    [
        (Starting(), Started(can_stream=True, is_failing=False), None),
        (Listing(AT_10), Synced("10"), None),
        (Watching(AT_10, since="5", is_open=True), Ended(300.0), None),
        (Listing(AT_10), Failed(FORBIDDEN), ReadAgain(FORBIDDEN)),
        (WATCHING, Aborted(FORBIDDEN), ReadAgain(FORBIDDEN)),
        (WATCHING, Failed(TOO_MANY, 5.0), AttemptFailed(TOO_MANY)),
        (Listing(AT_10), Waited(), None),
    ],
    ids=repr,
)
def test_an_error_that_leads_to_a_list_is_reported_and_another_one_is_counted(
    before: State, observation: Observation, effect: Effect | None
) -> None:
    assert effect_of(before, observation, step(before, observation)) == effect


def test_a_list_that_is_repeated_for_its_version_is_no_failed_attempt() -> None:
    failed = Failed(expired())

    assert effect_of(Listing(AT_10), failed, step(Listing(AT_10), failed)) is None


def test_a_list_after_a_stream_is_a_fallback_that_says_whether_the_stream_is_at_fault() -> None:
    ended = StreamEnded("ended", events=0)
    before = Streaming(AT_10)

    at_fault = effect_of(before, Failed(ended), step(before, Failed(ended)))
    refused_all = effect_of(before, Failed(FORBIDDEN), step(before, Failed(FORBIDDEN)))

    assert at_fault == FellBack(ended, is_suspected=True)
    assert refused_all == FellBack(FORBIDDEN, is_suspected=False)
