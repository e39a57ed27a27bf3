"""Edits with concurrent writers, and responses that leave open what was stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kubeloop.errors import (
    ApiError,
    Conflict,
    ConnectError,
    DecodeError,
    InFlightTimeout,
    InvalidArgument,
    KubeError,
    NotFound,
    ServerTimeout,
    ServiceUnavailable,
    StreamBroken,
    TimeoutExceeded,
    api_error,
    failure,
)
from kubeloop.kit import ManualClock, SystemClock
from kubeloop.wire.core.v1 import ConfigMap

from .conftest import Recorder


class Waits:
    """The system clock, but `sleep` only records that it was called."""

    def __init__(self, tell: Callable[[], None] = lambda: None) -> None:
        clock = SystemClock()
        self.now, self.time = clock.now, clock.time
        self.timeout, self.timer = clock.timeout, clock.timer
        self._tell = tell

    async def sleep(self, seconds: float) -> None:
        self._tell()


def a_map(version: int, uid: str = "u", **data: str) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "home", "uid": uid, "resourceVersion": str(version)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def lost(text: str = "changed") -> ApiError:
    return api_error("PATCH configmaps/a", failure("Conflict", text))


def busy(reason: str = "ServiceUnavailable", retry_after: int = 1) -> ApiError:
    return api_error("PATCH configmaps/a", failure(reason, "busy", retry_after=retry_after))


def sent(recorder: Recorder) -> list[str]:
    return [request.method for request in recorder.requests]


async def edit(recorder: Recorder, **options: Any) -> None:
    async with recorder.client.resource("v1", "ConfigMap").edit("a", **options) as found:
        found["data"]["mine"] = "x"


class Increment:
    """A function for `modify` that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, found: dict[str, Any]) -> None:
        self.calls += 1
        found["data"]["next"] = str(int(found["data"]["next"]) + 1)


async def modify(recorder: Recorder, function: Any, **options: Any) -> dict[str, Any]:
    return await recorder.client.resource("v1", "ConfigMap").modify("a", function, **options)


async def test_an_edit_reads_the_newer_object_after_its_wait_and_not_before() -> None:
    """An object that was read before the wait would be stale after it: the next conflict."""
    recorder = Recorder(a_map(1), lost(), a_map(2, theirs="y"), a_map(3))
    asked_by_then: list[list[str]] = []
    recorder.clock = Waits(lambda: asked_by_then.append(sent(recorder)))

    await edit(recorder)

    assert asked_by_then == [["GET", "PATCH"]]
    assert recorder.body == {
        "metadata": {"uid": "u", "resourceVersion": "2"},
        "data": {"mine": "x"},
    }


async def test_an_edit_is_carried_over_as_often_as_needed() -> None:
    versions = range(2, 102)
    storm = [step for version in versions for step in (lost(), a_map(version))]
    recorder = Recorder(a_map(1), *storm, a_map(999), clock=Waits())

    await edit(recorder)

    assert recorder.body["metadata"]["resourceVersion"] == "101"


class ElapsedClock(Waits):
    """Time passes only in `sleep`, which records the delays, and by `elapse`."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 100.0
        self.delays: list[float] = []
        self.now = lambda: self.seconds

    async def sleep(self, seconds: float) -> None:
        self.delays.append(seconds)
        self.elapse(seconds)

    def elapse(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.mark.parametrize(
    ("duration", "least", "longest"), [(0.001, 0.01, 0.04), (0.5, 1.0, 4.0), (60.0, 2.0, 8.0)]
)
async def test_after_a_conflict_a_change_waits_longer_if_its_attempt_took_longer(
    duration: float, least: float, longest: float
) -> None:
    """Otherwise many writers keep a busy server busy with attempts that are too late."""
    clock = ElapsedClock()
    recorder = Recorder(a_map(1, next="1"), lost(), a_map(2, next="2"), a_map(3), clock=clock)
    increment = Increment()

    def increment_slowly(found: dict[str, Any]) -> None:
        clock.elapse(duration)
        increment(found)

    await modify(recorder, increment_slowly, timeout=None)

    (delay,) = clock.delays
    assert least <= delay <= longest


@pytest.mark.parametrize("verb", ["edit", "modify"])
async def test_when_the_time_is_over_the_error_says_how_often_it_was_tried(verb: str) -> None:
    clock = ManualClock()
    storm = [step for version in range(2, 400) for step in (a_map(version, next="1"), lost())]
    recorder = Recorder(*storm, clock=clock)
    work = edit(recorder) if verb == "edit" else modify(recorder, Increment())

    task = asyncio.create_task(work)
    await clock.advance(29.9)
    assert not task.done()
    await clock.advance(0.2)

    attempts = sent(recorder).count("PATCH")
    pattern = rf"{verb} configmaps/a in home: not stored within 30 s: {attempts} attempts, each"
    with pytest.raises(TimeoutExceeded, match=pattern) as caught:
        await task
    assert isinstance(caught.value.__cause__, Conflict)
    assert attempts > 5


async def test_a_change_that_may_be_on_its_way_when_the_time_is_over_is_called_so() -> None:
    clock = ManualClock()
    recorder = Silent(a_map(1), clock=clock)

    task = asyncio.create_task(edit(recorder, timeout=5))
    await clock.advance(5.1)

    with pytest.raises(TimeoutExceeded, match="within 5 s: 1 attempt, the last may have"):
        await task


class Silent(Recorder):
    """Responds to reads and not to writes."""

    async def send(self, request: Any) -> Any:
        if request.method != "GET":
            await asyncio.Event().wait()
        return await super().send(request)


async def test_the_time_of_an_edit_begins_behind_its_block() -> None:
    clock = ManualClock()
    recorder = Recorder(a_map(1), a_map(2), clock=clock)

    async with recorder.client.resource("v1", "ConfigMap").edit("a", timeout=1) as found:
        await clock.advance(3600)
        found["data"]["mine"] = "x"

    assert sent(recorder) == ["GET", "PATCH"]


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
async def test_a_time_in_which_nothing_can_be_done_is_rejected_before_anything_is_sent(
    seconds: float,
) -> None:
    recorder = Recorder()

    with pytest.raises(InvalidArgument, match=r"edit configmaps/a in home: the timeout is"):
        await edit(recorder, timeout=seconds)
    with pytest.raises(InvalidArgument, match=r"modify configmaps/a in home: the timeout is"):
        await modify(recorder, Increment(), timeout=seconds)

    assert recorder.requests == []


async def test_a_strict_edit_ends_with_the_first_conflict() -> None:
    recorder = Recorder(a_map(1), lost(), a_map(2))

    with pytest.raises(Conflict, match="changed"):
        await edit(recorder, strict=True)

    assert sent(recorder) == ["GET", "PATCH"]


async def test_an_object_that_was_deleted_meanwhile_is_not_found() -> None:
    gone = api_error("GET configmaps/a", failure("NotFound", "gone"))
    recorder = Recorder(a_map(1), lost(), gone, clock=Waits())

    with pytest.raises(NotFound):
        await edit(recorder)


async def test_an_edit_of_an_object_created_again_says_so() -> None:
    recorder = Recorder(a_map(1), lost(), a_map(2, uid="v"), clock=Waits())

    with pytest.raises(
        Conflict, match=r"edit configmaps/a in home: .* deleted and created again since it was read"
    ):
        await edit(recorder)

    assert sent(recorder) == ["GET", "PATCH", "GET"]


async def test_modify_works_on_an_object_created_again() -> None:
    """Its function decides again, for the new object."""
    recorder = Recorder(
        a_map(1, next="5"), lost(), a_map(2, uid="v", next="0"), a_map(3), clock=Waits()
    )

    await modify(recorder, Increment())

    assert recorder.body == {
        "metadata": {"uid": "v", "resourceVersion": "2"},
        "data": {"next": "1"},
    }


# --- responses that leave open whether the change was stored


@pytest.mark.parametrize("broken", [StreamBroken("cut"), TimeoutExceeded("silence")])
async def test_a_write_whose_connection_broke_is_not_made_again(broken: Exception) -> None:
    recorder, function = Recorder(a_map(1, next="5"), broken), Increment()
    with pytest.raises(type(broken), match=r"cut|silence"):
        await modify(recorder, function)
    assert (sent(recorder), function.calls) == (["GET", "PATCH"], 1)

    recorder = Recorder(a_map(1), broken)
    with pytest.raises(type(broken), match=r"cut|silence"):
        await edit(recorder)
    assert sent(recorder) == ["GET", "PATCH"]


@pytest.mark.parametrize("reason", ["ServiceUnavailable", "ServerTimeout", "TooManyRequests"])
async def test_a_busy_server_is_sent_the_same_patch_again(reason: str) -> None:
    recorder, function = Recorder(a_map(1, next="5"), busy(reason), a_map(2)), Increment()
    recorder.clock = Waits()

    await modify(recorder, function)

    first, second = recorder.requests[1:]
    assert (first.body, function.calls) == (second.body, 1)
    assert {request.max_retries for request in (first, second)} == {0}


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("ServiceUnavailable", ServiceUnavailable), ("ServerTimeout", ServerTimeout)],
)
async def test_a_conflict_with_what_may_be_the_own_write_is_not_taken_for_one(
    reason: str, kind: type[ApiError]
) -> None:
    """The first attempt may have been stored: repeated, it would count twice."""
    recorder, function = Recorder(a_map(1, next="5"), busy(reason), lost(), a_map(2)), Increment()
    recorder.clock = Waits()
    with pytest.raises(kind, match="the first one was stored, or another writer was faster"):
        await modify(recorder, function)
    assert (sent(recorder), function.calls) == (["GET", "PATCH", "PATCH"], 1)

    recorder = Recorder(a_map(1), busy(reason), lost(), a_map(2), clock=Waits())
    with pytest.raises(kind, match="read the object to check"):
        await edit(recorder)
    assert sent(recorder) == ["GET", "PATCH", "PATCH"]


@pytest.mark.parametrize(
    "error",
    [
        StreamBroken("PATCH configmaps/a: the response is incomplete"),
        TimeoutExceeded("PATCH configmaps/a: no response in time"),
        busy("InternalError", 0),
        busy("ServiceUnavailable", 0),
    ],
    ids=["cut off", "no answer", "500", "503"],
)
async def test_an_error_that_leaves_the_outcome_open_says_so(error: KubeError) -> None:
    """A hint to retry would increase a counter twice."""
    open_outcome = r"\(the change may have been stored: read the object to check\)$"
    with pytest.raises(type(error), match=open_outcome):
        await modify(Recorder(a_map(1, next="5"), error, a_map(2)), Increment())
    with pytest.raises(type(error), match=open_outcome):
        await edit(Recorder(a_map(1), error, a_map(2)))


@pytest.mark.parametrize(
    "error",
    [
        ConnectError("PATCH configmaps/a: no connection"),
        InFlightTimeout("PATCH configmaps/a: not sent"),
        api_error("PATCH configmaps/a", failure("Forbidden", "no")),
    ],
    ids=["no connection", "no slot", "403"],
)
async def test_an_error_behind_which_nothing_is_stored_leaves_no_doubt(error: KubeError) -> None:
    with pytest.raises(type(error)) as caught:
        await edit(Recorder(a_map(1), error, a_map(2)))
    assert "may have been stored" not in str(caught.value)


async def test_a_server_that_turned_the_request_away_has_stored_nothing() -> None:
    """429 comes before the request is executed, so a conflict after it is a real one."""
    recorder = Recorder(
        a_map(1, next="5"), busy("TooManyRequests"), lost(), a_map(2, next="6"), a_map(3)
    )
    recorder.clock, function = Waits(), Increment()

    await modify(recorder, function)

    assert (recorder.body["data"], function.calls) == ({"next": "7"}, 2)


async def test_a_server_that_stays_busy_ends_after_the_retries_of_the_client() -> None:
    recorder = Recorder(a_map(1), *[busy() for _ in range(9)], clock=Waits())
    recorder.max_retries = 2

    with pytest.raises(ServiceUnavailable):
        await edit(recorder)

    assert sent(recorder) == ["GET", "PATCH", "PATCH", "PATCH"]


# --- the function and the block


async def test_a_conflict_that_the_function_raises_is_its_own() -> None:
    recorder = Recorder(a_map(1))

    def clash(found: Any) -> None:
        raise lost("elsewhere")

    with pytest.raises(Conflict, match="elsewhere"):
        await modify(recorder, clash)

    assert sent(recorder) == ["GET"]


@pytest.mark.parametrize("kind", [("v1", "ConfigMap"), (ConfigMap,)])
async def test_a_block_that_changes_nothing_sends_nothing_and_keeps_its_object(kind: Any) -> None:
    recorder = Recorder(a_map(1, next="5"))

    async with recorder.client.resource(*kind).edit("a") as found:
        pass

    assert sent(recorder) == ["GET"]
    assert (found["data"] if isinstance(found, dict) else found.data) == {"next": "5"}


async def test_a_cancelled_edit_sends_nothing_more() -> None:
    clock = ManualClock()
    recorder = Recorder(a_map(1), lost(), a_map(2), clock=clock)

    task = asyncio.create_task(edit(recorder))
    await clock.settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (sent(recorder), clock.sleepers) == (["GET", "PATCH"], 0)


@pytest.mark.parametrize("metadata", [{"name": "a"}, {}, None, 5])
async def test_an_object_without_a_version_is_not_edited(metadata: Any) -> None:
    """Some servers behind an aggregator keep none."""
    recorder = Recorder({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {}})

    with pytest.raises(DecodeError, match="without a resourceVersion"):
        await edit(recorder)

    assert [request.method for request in recorder.requests] == ["GET"]
