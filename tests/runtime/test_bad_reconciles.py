"""What a reconcile function can do wrong, and what it costs: its own try, and no more."""

from __future__ import annotations

import asyncio
import contextlib
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

from .sites import Website, a_site
from .stage import Stage, says


async def test_a_terminal_error_is_not_retried_until_something_changes(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage.running(says(TerminalError("no such registry"))):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(10_000)
        assert stage.names() == ["shop"]
        stage.sites.put(a_site("shop", replicas=2))
        await stage.until(lambda: len(stage.calls) == 2)

    assert stage.names() == ["shop", "shop"]
    assert stage.controller.stats().terminal == 1
    assert "default/shop: given up until it changes: no such registry" in caplog.text


@pytest.mark.parametrize("rubbish", [5, "done", True, {"requeue_after": 3}], ids=repr)
async def test_an_invalid_result_is_logged_with_the_key(
    stage: Stage, rubbish: object, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage.running(says(rubbish)):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(100)

    assert stage.names() == ["shop"]
    assert "site default/shop" in caplog.text
    assert f"reconcile returned {rubbish!r}" in caplog.text


@pytest.mark.parametrize("after", [-1, float("nan"), float("inf"), "5", True], ids=repr)
def test_an_invalid_delay_is_rejected(after: Any) -> None:
    with pytest.raises(InvalidArgument, match="give seconds"):
        Result(requeue_after=after)


async def test_a_function_that_hangs_is_cancelled_and_retried(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async def hang(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad" and not ctx.attempt:
            await asyncio.Event().wait()

    async with stage.running(hang, timeout=60, workers=2):
        stage.sites.put(a_site("bad"))
        stage.sites.put(a_site("good"))
        await stage.clock.advance(59)
        assert stage.names() == ["bad", "good"]
        assert stage.controller.stats().active == ("default/bad",)
        await stage.clock.advance(2)

    assert stage.names() == ["bad", "good", "bad"]
    assert stage.controller.stats().timed_out == 1
    assert "default/bad: failed, to be tried again (1): cancelled after 60 s" in caplog.text


async def test_a_cancellation_from_inside_does_not_cost_the_worker(stage: Stage) -> None:
    async with stage.running(says(asyncio.CancelledError())):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(1)

    assert stage.names() == ["shop", "shop"]
    assert stage.controller.stats().failed == 1


@pytest.mark.parametrize("waits", [True, False], ids=["and waits", "and returns"])
async def test_a_function_that_cancels_its_own_task_fails_only_its_own_reconcile(
    stage: Stage, caplog: pytest.LogCaptureFixture, *, waits: bool
) -> None:
    async def suicidal(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad" and ctx.attempt < 3:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            if waits:
                await asyncio.sleep(0)

    async with stage.running(suicidal):
        stage.sites.put(a_site("bad"))
        await stage.clock.advance(1)
        stage.sites.put(a_site("good"))
        await stage.clock.advance(1)

    assert stage.names() == ["bad", "bad", "bad", "bad", "good"]
    assert "default/bad: failed, to be tried again (3): cancelled from inside" in caplog.text


async def test_a_worker_whose_function_suppresses_cancellation_gets_no_other_key(
    stage: Stage,
) -> None:
    """X-5: who has lost the lease is cancelled, and works on nothing more."""

    async def deaf(key: ObjectKey, ctx: Context) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    async with stage.running(deaf, timeout=None):
        stage.sites.put(a_site("first"))
        stage.sites.put(a_site("second"))
        await stage.clock.settle()

    assert stage.names() == ["first"]
    assert stage.controller.stats().state == "ended"


class Unspeakable(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise AttributeError("detail")


async def test_an_error_whose_text_fails_is_logged_by_its_class(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage.running(says(Unspeakable())):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(1)

    assert stage.names() == ["shop", "shop"]
    assert stage.controller.stats().last_error == "default/shop: Unspeakable"
    assert "default/shop: failed, to be tried again (1)" in caplog.text


class BrokenLimiter:
    """Does not know how long a key has to wait."""

    def when(self, key: ObjectKey) -> float:
        raise OSError(f"{key}: no memory")

    def forget(self, key: ObjectKey) -> None: ...

    def num_requeues(self, key: ObjectKey) -> int:
        return 0


async def test_a_limiter_that_fails_ends_the_controller_and_no_other_key_is_begun(
    stage: Stage,
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad":
            raise ValueError("no")
        await asyncio.Event().wait()

    for name in ("slow", "bad", "next"):
        stage.sites.put(a_site(name))
    with pytest.raises(OSError, match="default/bad: no memory"):
        async with stage.running(reconcile, workers=2, limiter=BrokenLimiter()):
            await asyncio.Event().wait()

    assert stage.names() == ["slow", "bad"]


class Odd(BaseException):
    """No Exception: what a test framework or an event loop throws."""


async def test_a_base_exception_fails_only_its_own_reconcile(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage.running(says(Odd("out of order"))):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(1)

    assert stage.names() == ["shop", "shop"]
    assert stage.controller.stats().last_error == "default/shop: Odd: out of order"
    assert "site default/shop: failed, to be tried again (1)" in caplog.text
    assert "Traceback" in caplog.text


def plain(key: ObjectKey, ctx: Context) -> None:
    """Written without `async`."""


async def dripping(key: ObjectKey, ctx: Context) -> AsyncIterator[None]:
    """Written with `yield`."""
    yield


@pytest.mark.parametrize("function", [plain, dripping])
async def test_a_function_that_cannot_be_awaited_is_logged_with_the_key_once(
    stage: Stage, function: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage.running(as_it_is=function):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(100)

    assert stage.controller.stats().terminal == 1
    assert "default/shop: given up until it changes: reconcile returned" in caplog.text
    assert "write `async def`" in caplog.text


async def test_a_function_that_ignores_cancellation_holds_only_its_own_worker(
    stage: Stage,
) -> None:
    async def stubborn(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await stage.clock.sleep(30)

    async with stage.running(stubborn, timeout=10, workers=2):
        stage.sites.put(a_site("bad"))
        await stage.clock.advance(20)
        assert stage.controller.stats().active == ("default/bad",)
        stage.sites.put(a_site("good"))
        await stage.clock.advance(1)
        assert stage.controller.stats().succeeded == 1
        await stage.clock.advance(30)

    assert stage.controller.stats().succeeded == 2  # late is still an answer


async def test_a_name_without_a_namespace_is_not_a_key(stage: Stage) -> None:
    """It could be of any namespace, and would be found in none."""

    async def careless(key: ObjectKey, ctx: Context) -> None:
        ctx.get(Website, cast("ObjectKey", key.name))

    async with stage.running(careless):
        stage.sites.put(a_site("shop"))
        await stage.until(lambda: stage.controller.stats().failed)

    assert "get 'shop': it is no key" in stage.controller.stats().last_error


async def test_a_timeout_of_the_functions_own_is_an_error_like_any_other(stage: Stage) -> None:
    async with stage.running(says(TimeoutError("the registry did not answer"))):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(1)

    assert stage.controller.stats().timed_out == 0
    assert stage.controller.stats().last_error == "default/shop: the registry did not answer"


async def test_changing_an_object_of_the_cache_changes_nothing_else(stage: Stage) -> None:
    seen: list[int] = []

    async def vandal(key: ObjectKey, ctx: Context) -> Result | None:
        site = ctx.get(Website, key)
        assert site is not None
        seen.append(site.spec.replicas)
        site.spec.replicas = 99
        return Result(requeue_after=1) if len(seen) < 3 else None

    async with stage.running(vandal):
        stage.sites.put(a_site("shop", replicas=3))
        await stage.clock.advance(10)

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
    stage: Stage, error: Exception, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async with stage.running(says(error)):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(1)

    (record,) = [each for each in caplog.records if "tried again" in each.getMessage()]
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
        ({"reconcile": None}, "None is no function"),
        ({"name": ""}, "needs a name"),
        ({"watches": (WatchSource(ConfigMap),)}, "a watch without `to`"),
        (
            {"kind": GroupVersionResource("a.b", "v1", "cs"), "owns": (WatchSource(Deployment),)},
            "owners are known by kind",
        ),
    ],
    ids=repr,
)
def test_an_invalid_controller_is_rejected_at_once(spec: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        ControllerSpec(**{"name": "c", "kind": Website, "reconcile": says(), **spec})


async def test_by_default_a_call_is_cancelled_after_five_minutes(stage: Stage) -> None:
    async def hang(key: ObjectKey, ctx: Context) -> None:
        if not ctx.attempt:
            await asyncio.Event().wait()

    async with stage.running(hang):
        stage.sites.put(a_site("bad"))
        await stage.clock.advance(299)
        assert stage.controller.stats().active == ("default/bad",)
        await stage.clock.advance(2)

    assert stage.names() == ["bad", "bad"]
    assert stage.controller.stats().timed_out == 1
