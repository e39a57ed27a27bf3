"""The states of a handler's registration, step by step and without an event loop."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from kubeloop.cache import Change, EntryCodec, Notification, Registration
from kubeloop.cache.handlers import Awaiting, Buffering, Handlers, Idle, Notifying, Removed
from kubeloop.cache.metrics import NO_METER
from kubeloop.cache.waiting import Progress
from kubeloop.kit import ManualClock
from tests.cache.objects import block_loop, entry

Result = Awaitable[object] | None


class Pending(Awaitable[None]):
    """What an async handler returns; no test awaits it."""

    def __await__(self) -> Any:
        raise AssertionError


def register(callback: Callable[[Change[Any]], Result], *names: str) -> Registration[Any]:
    """A registration of a handler, with objects that were there before it."""
    clock = ManualClock()
    handlers: Handlers[Any] = Handlers(
        EntryCodec(dict),
        clock=clock,
        check_period=0.0,
        limit=4,
        progress=Progress(clock),
        meter=NO_METER,
        informer="pods",
        is_upstream_synced=lambda: True,
    )
    replay = [entry(name) for name in names]
    return handlers.add(callback, name="", resync=0.0, replay=replay, has_started=True)


def adds(*names: str) -> list[Notification]:
    return [Notification(each.key, None, each) for each in map(entry, names)]


def collect(seen: list[str]) -> Callable[[Change[Any]], None]:
    return lambda change: seen.append(change.key.name)


def test_without_a_worker_notifications_wait() -> None:
    seen: list[str] = []
    registration = register(collect(seen))

    registration.put(adds("a", "b"))

    assert registration.state == Buffering()
    assert (seen, registration.stats().backlog) == ([], 2)


def test_each_step_hands_over_one_notification_until_the_handler_is_idle() -> None:
    seen: list[str] = []
    registration = register(collect(seen), "a")
    registration.put(adds("b"))

    states = [registration.step() for _ in range(3)]

    assert states == [Notifying(), Notifying(), Idle()]
    assert seen == ["a", "b"]


def test_an_idle_handler_is_called_directly_and_stays_idle() -> None:
    seen: list[str] = []
    registration = register(collect(seen))
    assert registration.step() == Idle()

    registration.put(adds("a", "b"))

    assert registration.state == Idle()
    assert (seen, registration.stats().backlog) == (["a", "b"], 0)


def test_a_direct_call_that_returns_an_awaitable_is_left_to_the_worker_with_the_rest() -> None:
    seen: list[str] = []
    result = Pending()

    def handler(change: Change[Any]) -> Result:
        seen.append(change.key.name)
        return result

    registration = register(handler)
    registration.step()
    first, second = adds("a", "b")

    registration.put([first, second])

    states = [registration.state, registration.step(), registration.state]
    call = Awaiting(first, result)
    assert states == [Notifying(call), call, call]
    assert (seen, registration.stats().backlog) == (["a"], 1)


def test_notifications_wait_while_the_worker_awaits_a_result() -> None:
    registration = register(lambda _: Pending(), "a")
    assert isinstance(registration.step(), Awaiting)

    registration.put(adds("b"))

    assert isinstance(registration.state, Awaiting)
    assert (registration.stats().notified, registration.stats().backlog) == (1, 1)


def test_direct_calls_that_take_long_are_left_to_the_worker() -> None:
    seen: list[str] = []

    def handler(change: Change[Any]) -> None:
        seen.append(change.key.name)
        block_loop()

    registration = register(handler)
    registration.step()

    registration.put(adds("a", "b", "c"))

    assert registration.state == Notifying()
    assert (seen, registration.stats().backlog) == (["a"], 2)


def test_a_removed_handler_receives_nothing_and_its_worker_ends() -> None:
    seen: list[str] = []
    registration = register(collect(seen), "a")

    registration.remove()
    registration.remove()
    registration.put(adds("b"))

    assert registration.step() == Removed()
    assert (seen, registration.stats().backlog) == ([], 0)


def test_removal_drops_a_call_that_the_worker_has_not_awaited_yet() -> None:
    async def handler() -> None:
        raise AssertionError

    coroutine: Coroutine[Any, Any, None] = handler()
    registration = register(lambda _: coroutine)
    registration.step()
    registration.put(adds("a"))

    registration.remove()

    assert registration.step() == Removed()
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


@pytest.mark.parametrize("directly", [True, False])
def test_a_handler_that_removes_itself_still_completes_its_call(directly: bool) -> None:
    result = Pending()

    def handler(_: Change[Any]) -> Result:
        registration.remove()
        return result

    registration = register(handler)
    (notification,) = adds("a")
    if directly:
        registration.step()
    registration.put([notification])

    assert registration.step() == Awaiting(notification, result)
    assert registration.step() == Removed()


def test_a_failure_is_counted_and_the_next_notification_follows(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """CCH-80: a handler that raises is logged, and receives the next change."""
    seen: list[str] = []

    def handler(change: Change[Any]) -> None:
        seen.append(change.key.name)
        raise ValueError

    registration = register(handler, "a", "b")
    while registration.step() != Idle():
        pass

    assert (seen, registration.stats().failures) == (["a", "b"], 2)
    assert "shop/a: handler handler-1 failed" in caplog.text


def test_only_a_busy_worker_with_a_long_backlog_is_behind() -> None:
    registration = register(lambda _: None, "a")
    registration.put(adds("b", "c", "d"))
    without_worker = registration.is_behind

    registration.step()

    assert registration.state == Notifying()
    assert (without_worker, registration.is_behind) == (False, True)
    assert registration.stats().backlog == 3
