"""Mistakes of a reconcile function: they cost its own reconcile, and no more."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from kubeloop.errors import InvalidArgument, api_error, failure
from kubeloop.meta import GroupVersionResource, ObjectKey
from kubeloop.runtime import (
    Context,
    Result,
    TerminalError,
    WatchSource,
)
from kubeloop.runtime.specs import ControllerSpec
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap

from .harness import ControllerHarness, returns
from .websites import Website, a_site


async def test_a_terminal_error_is_not_retried_until_something_changes(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    async with harness.running(returns(TerminalError("no such registry"))):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(10_000)
        assert harness.names() == ["shop"]
        harness.sites.put(a_site("shop", replicas=2))
        await harness.until(lambda: len(harness.calls) == 2)

    assert harness.names() == ["shop", "shop"]
    assert harness.controller.stats().terminal == 1
    assert (
        "default/shop: reconcile failed, will not retry until a change: no such registry"
        in caplog.text
    )


@pytest.mark.parametrize("rubbish", [5, "done", True, {"requeue_after": 3}], ids=repr)
async def test_an_invalid_result_is_logged_with_the_key(
    harness: ControllerHarness, rubbish: object, caplog: pytest.LogCaptureFixture
) -> None:
    async with harness.running(returns(rubbish)):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(100)

    assert harness.names() == ["shop"]
    assert "site default/shop" in caplog.text
    assert f"reconcile returned {rubbish!r}" in caplog.text


@pytest.mark.parametrize("after", [-1, float("nan"), float("inf"), "5", True], ids=repr)
def test_an_invalid_delay_is_rejected(after: Any) -> None:
    with pytest.raises(InvalidArgument, match="give seconds"):
        Result(requeue_after=after)


async def test_a_function_that_hangs_is_cancelled_and_retried(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    async def hang(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad" and not ctx.attempt:
            await asyncio.Event().wait()

    async with harness.running(hang, timeout=60, workers=2):
        harness.sites.put(a_site("bad"))
        harness.sites.put(a_site("good"))
        await harness.clock.advance(59)
        assert harness.names() == ["bad", "good"]
        assert harness.controller.stats().active == ("default/bad",)
        await harness.clock.advance(2)

    assert harness.names() == ["bad", "good", "bad"]
    assert harness.controller.stats().timed_out == 1
    assert (
        "default/bad: reconcile failed, will retry (attempt 1): cancelled after 60 s" in caplog.text
    )


async def test_a_cancellation_from_inside_does_not_cost_the_worker(
    harness: ControllerHarness,
) -> None:
    async with harness.running(returns(asyncio.CancelledError())):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(1)

    assert harness.names() == ["shop", "shop"]
    assert harness.controller.stats().failed == 1


@pytest.mark.parametrize("waits", [True, False], ids=["and waits", "and returns"])
async def test_a_function_that_cancels_its_own_task_fails_only_its_own_reconcile(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture, *, waits: bool
) -> None:
    async def suicidal(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad" and ctx.attempt < 3:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            if waits:
                await asyncio.sleep(0)

    async with harness.running(suicidal):
        harness.sites.put(a_site("bad"))
        await harness.clock.advance(1)
        harness.sites.put(a_site("good"))
        await harness.clock.advance(1)

    assert harness.names() == ["bad", "bad", "bad", "bad", "good"]
    assert (
        "default/bad: reconcile failed, will retry (attempt 3): cancelled from inside"
        in caplog.text
    )


async def test_a_worker_whose_function_suppresses_cancellation_gets_no_other_key(
    harness: ControllerHarness,
) -> None:
    """X-5: a former leader is cancelled, and reconciles nothing more."""

    async def deaf(key: ObjectKey, ctx: Context) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    async with harness.running(deaf, timeout=None):
        harness.sites.put(a_site("first"))
        harness.sites.put(a_site("second"))
        await harness.clock.settle()

    assert harness.names() == ["first"]
    assert harness.controller.stats().state == "ended"


class Unspeakable(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise AttributeError("detail")


async def test_an_error_whose_text_fails_is_logged_by_its_class(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    async with harness.running(returns(Unspeakable())):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(1)

    assert harness.names() == ["shop", "shop"]
    assert harness.controller.stats().last_error == "default/shop: Unspeakable"
    assert "default/shop: reconcile failed, will retry (attempt 1)" in caplog.text


class BrokenLimiter:
    """Does not know how long a key has to wait."""

    def when(self, key: ObjectKey) -> float:
        raise OSError(f"{key}: no memory")

    def forget(self, key: ObjectKey) -> None: ...

    def num_requeues(self, key: ObjectKey) -> int:
        return 0


async def test_a_limiter_that_fails_ends_the_controller_and_no_other_key_is_begun(
    harness: ControllerHarness,
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad":
            raise ValueError("no")
        await asyncio.Event().wait()

    for name in ("slow", "bad", "next"):
        harness.sites.put(a_site(name))
    with pytest.raises(OSError, match="default/bad: no memory"):
        async with harness.running(reconcile, workers=2, limiter=BrokenLimiter()):
            await asyncio.Event().wait()

    assert harness.names() == ["slow", "bad"]


class Odd(BaseException):
    """No Exception: what a test framework or an event loop throws."""


async def test_a_base_exception_fails_only_its_own_reconcile(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    async with harness.running(returns(Odd("out of order"))):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(1)

    assert harness.names() == ["shop", "shop"]
    assert harness.controller.stats().last_error == "default/shop: Odd: out of order"
    assert "site default/shop: reconcile failed, will retry (attempt 1)" in caplog.text
    assert "Traceback" in caplog.text


def plain(key: ObjectKey, ctx: Context) -> None:
    """Written without `async`."""


async def dripping(key: ObjectKey, ctx: Context) -> AsyncIterator[None]:
    """Written with `yield`."""
    yield


@functools.wraps(returns())
def decorated(key: ObjectKey, ctx: Context) -> None:
    """Under a decorator that loses the coroutine."""


async def test_a_decorator_that_loses_the_coroutine_is_logged_with_the_key_once(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    async with harness.running(unwrapped=cast("Any", decorated)):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(100)

    assert harness.controller.stats().terminal == 1
    assert (
        "default/shop: reconcile failed, will not retry until a change: reconcile returned"
        in caplog.text
    )
    assert "write `async def`" in caplog.text


async def test_a_function_that_ignores_cancellation_holds_only_its_own_worker(
    harness: ControllerHarness,
) -> None:
    async def stubborn(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await harness.clock.sleep(30)

    async with harness.running(stubborn, timeout=10, workers=2):
        harness.sites.put(a_site("bad"))
        await harness.clock.advance(20)
        assert harness.controller.stats().active == ("default/bad",)
        harness.sites.put(a_site("good"))
        await harness.clock.advance(1)
        assert harness.controller.stats().succeeded == 1
        await harness.clock.advance(30)

    assert harness.controller.stats().succeeded == 2  # a late result is still a result


async def test_each_reconcile_has_the_whole_timeout_also_behind_one_that_ignores_it(
    harness: ControllerHarness,
) -> None:
    ended: dict[str, float] = {}

    async def hang(key: ObjectKey, ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended[key.name] = harness.clock.now()
            if key.name == "stubborn":
                await harness.clock.sleep(100)
            raise

    async with harness.running(hang, timeout=10, workers=3):
        started = harness.clock.now()
        for name in ("stubborn", "second", "third"):
            harness.sites.put(a_site(name))
            await harness.clock.advance(4)
        await harness.clock.advance(9)

        assert {name: at - started for name, at in ended.items()} == pytest.approx(
            {"stubborn": 10, "second": 14, "third": 18}
        )
        assert harness.controller.stats().timed_out == 2


async def test_a_name_without_a_namespace_is_not_a_key(harness: ControllerHarness) -> None:
    """It could be of any namespace, and would be found in none."""

    async def careless(key: ObjectKey, ctx: Context) -> None:
        ctx.get(Website, cast("ObjectKey", key.name))

    async with harness.running(careless):
        harness.sites.put(a_site("shop"))
        await harness.until(lambda: harness.controller.stats().failed)

    assert "get 'shop': not a key" in harness.controller.stats().last_error


async def test_a_timeout_of_the_functions_own_is_an_error_like_any_other(
    harness: ControllerHarness,
) -> None:
    async with harness.running(returns(TimeoutError("the registry did not respond"))):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(1)

    assert harness.controller.stats().timed_out == 0
    assert harness.controller.stats().last_error == "default/shop: the registry did not respond"


async def test_changing_an_object_of_the_cache_changes_nothing_else(
    harness: ControllerHarness,
) -> None:
    seen: list[int] = []

    async def vandal(key: ObjectKey, ctx: Context) -> Result | None:
        site = ctx.get(Website, key)
        assert site is not None
        seen.append(site.spec.replicas)
        site.spec.replicas = 99
        return Result(requeue_after=1) if len(seen) < 3 else None

    async with harness.running(vandal):
        harness.sites.put(a_site("shop", replicas=3))
        await harness.clock.advance(10)

    assert seen == [3, 3, 3]


def conflict() -> Exception:
    return api_error("PUT websites/shop", failure("Conflict", "it has been modified"))


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (conflict(), logging.INFO),
        (InvalidArgument("no"), logging.WARNING),
        (KeyError("x"), logging.ERROR),
    ],
    ids=["conflict", "of the API", "a fault"],
)
async def test_failures_are_logged_at_the_level_that_fits(
    harness: ControllerHarness, error: Exception, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async with harness.running(returns(error)):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(1)

    (record,) = [each for each in caplog.records if "will retry" in each.getMessage()]
    assert record.levelno == level
    assert bool(record.exc_info) == (level == logging.ERROR)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ({"workers": 0}, "0 workers"),
        ({"workers": 2.5}, r"2\.5 workers"),
        ({"workers": "3"}, "3 workers"),
        ({"timeout": 0}, "timeout 0"),
        ({"timeout": "soon"}, "timeout soon"),
        ({"resync": -1}, "resync -1"),
        ({"resync": float("nan")}, "resync nan"),
        ({"reconcile": None}, "None is not a function"),
        ({"reconcile": plain}, r"plain is not async \(write `async def`"),
        ({"reconcile": dripping}, "dripping is not async"),
        ({"name": ""}, "the name is empty"),
        ({"watches": (WatchSource(ConfigMap),)}, "a watch without `to`"),
        (
            {"kind": GroupVersionResource("a.b", "v1", "cs"), "owns": (WatchSource(Deployment),)},
            "`owns` needs a kind",
        ),
    ],
    ids=repr,
)
def test_an_invalid_controller_is_rejected_at_once(spec: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        ControllerSpec(**{"name": "c", "kind": Website, "reconcile": returns(), **spec})


class CountingReconciler:
    """A reconcile function with state."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self, key: ObjectKey, ctx: Context) -> None:
        self.count += 1


@pytest.mark.parametrize(
    "function",
    [CountingReconciler(), CountingReconciler().__call__, functools.partial(returns())],
    ids=["an object", "a method", "a partial"],
)
def test_everything_that_is_async_when_called_can_be_a_reconcile_function(function: Any) -> None:
    assert ControllerSpec(name="c", kind=Website, reconcile=function).reconcile is function


async def test_by_default_a_call_is_cancelled_after_five_minutes(
    harness: ControllerHarness,
) -> None:
    async def hang(key: ObjectKey, ctx: Context) -> None:
        if not ctx.attempt:
            await asyncio.Event().wait()

    async with harness.running(hang):
        harness.sites.put(a_site("bad"))
        await harness.clock.advance(299)
        assert harness.controller.stats().active == ("default/bad",)
        await harness.clock.advance(2)

    assert harness.names() == ["bad", "bad"]
    assert harness.controller.stats().timed_out == 1
