"""One controller, its time moved by hand, without a server."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeloop.kit import ManualClock
from kubeloop.meta import ObjectKey
from kubeloop.runtime import (
    Context,
    NotCached,
    Result,
    TerminalError,
    WatchSource,
    generation_changed,
)
from kubeloop.runtime.caches import Caches
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap

from .fake_collections import FakeInformerClient
from .harness import ControllerHarness, returns
from .websites import SHOP, Website, a_config, a_site, deployment_for


async def test_existing_and_changed_objects_are_reconciled(harness: ControllerHarness) -> None:
    harness.sites.put(a_site("one"))
    async with harness.running():
        harness.sites.put(a_site("two"))
        await harness.clock.settle()
        harness.sites.drop(ObjectKey("default", "one"))
        await harness.clock.settle()

    assert harness.names() == ["one", "two", "one"]


async def test_a_deleted_object_reads_as_none(harness: ControllerHarness) -> None:
    found: list[Website | None] = []

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        found.append(ctx.get(Website, key))

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.settle()
        harness.sites.drop(SHOP)
        await harness.clock.settle()

    assert [site and site.metadata.name for site in found] == ["shop", None]


async def test_live_changes_go_before_the_first_list(harness: ControllerHarness) -> None:
    gate = asyncio.Event()

    async def slow(key: ObjectKey, ctx: Context) -> None:
        await gate.wait()

    for number in range(5):
        harness.sites.put(a_site(f"old-{number}"))
    async with harness.running(slow):
        harness.sites.put(a_site("new"))
        await harness.clock.settle()
        gate.set()
        await harness.clock.settle()

    assert harness.names()[:2] == ["old-0", "new"]


async def test_a_failing_key_backs_off_and_delays_no_other(
    harness: ControllerHarness,
) -> None:
    """X-4: 5 ms, 10 ms, 20 ms, …, while others continue."""

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad" and ctx.attempt < 4:
            raise RuntimeError("not yet")

    async with harness.running(reconcile):
        harness.sites.put(a_site("bad"))
        await harness.clock.settle()
        harness.sites.put(a_site("good"))
        await harness.clock.settle()
        assert harness.names() == ["bad", "good"]
        await harness.clock.advance(1)

    bad = [
        moment
        for key, moment in zip(harness.calls, harness.moments, strict=True)
        if key.name == "bad"
    ]
    waits = [later - earlier for earlier, later in itertools.pairwise(bad)]
    assert waits == pytest.approx([0.005, 0.010, 0.020, 0.040])
    assert harness.controller.stats().failed == 4
    assert harness.controller.stats().queue.delayed == 0


async def test_after_a_success_the_next_failure_waits_briefly_again(
    harness: ControllerHarness,
) -> None:
    async with harness.running(returns(RuntimeError(), RuntimeError(), None, RuntimeError(), None)):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(1)
        began = harness.clock.now()
        harness.sites.put(a_site("shop", replicas=2))
        await harness.clock.advance(1)

    assert harness.moments[-1] - began == pytest.approx(0.005)


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(1, 4))
@settings(max_examples=25)
def test_no_key_is_reconciled_by_two_workers_at_once(changes: list[int], workers: int) -> None:
    """X-4: with any number of workers, and any changes meanwhile."""

    async def scenario() -> None:
        harness = ControllerHarness()
        at_work: Counter[ObjectKey] = Counter()
        seen: dict[ObjectKey, int] = {}

        async def reconcile(key: ObjectKey, ctx: Context) -> None:
            at_work[key] += 1
            assert at_work[key] == 1
            await ctx._environment.clock.sleep(0.01)
            site = ctx.get(Website, key)
            seen[key] = site.spec.replicas if site else 0
            at_work[key] -= 1

        async with harness.running(reconcile, workers=workers):
            for count, name in enumerate(changes, start=1):
                harness.sites.put(a_site(f"site-{name}", replicas=count))
                await harness.clock.advance(0.003)
            await harness.clock.advance(5)

        assert harness.controller.stats().failed == 0
        last = {f"site-{name}": count for count, name in enumerate(changes, start=1)}
        assert {key.name: replicas for key, replicas in seen.items()} == last

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("result", "again_after"),
    [(Result(requeue_after=30), 30.0), (Result(requeue=True), 0.005), (RuntimeError("no"), 0.005)],
    ids=["requeue after", "requeue", "error"],
)
async def test_a_result_decides_when_the_key_is_reconciled_again(
    harness: ControllerHarness, result: object, again_after: float
) -> None:
    async with harness.running(returns(result)):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(100)

    assert harness.moments == pytest.approx([0.0, again_after])


@pytest.mark.parametrize("result", [None, Result()], ids=["nothing", "done"])
async def test_a_key_that_is_done_is_not_requeued(
    harness: ControllerHarness, result: object
) -> None:
    async with harness.running(returns(result)):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(10_000)

    assert harness.names() == ["shop"]


async def test_a_change_of_an_owned_object_adds_the_key_of_its_owner(
    harness: ControllerHarness,
) -> None:
    owned = harness.informer_client.source(Deployment)
    reference = {"apiVersion": "example.com/v1", "kind": "Website", "name": "shop", "uid": "1"}
    async with harness.running(owns=(WatchSource(Deployment),)):
        owned.put(
            deployment_for(a_site("shop")), ownerReferences=[{**reference, "controller": True}]
        )
        await harness.clock.settle()
        owned.put(deployment_for(a_site("other")), ownerReferences=[reference])
        owned.put(deployment_for(a_site("alone")))
        await harness.clock.settle()
        owned.put(deployment_for(a_site("shop")))  # it has lost its owner
        await harness.clock.settle()

    assert harness.names() == ["shop", "shop"]


@pytest.mark.parametrize("style", ["plain", "async"])
async def test_changes_of_another_kind_are_mapped_to_keys(
    harness: ControllerHarness, style: str
) -> None:
    configs = harness.informer_client.source(ConfigMap)

    def sites_of(config: ConfigMap) -> list[ObjectKey]:
        return [ObjectKey("default", config.data["site"])]

    async def later(config: ConfigMap) -> list[ObjectKey]:
        await asyncio.sleep(0)
        return sites_of(config)

    to = sites_of if style == "plain" else later
    async with harness.running(watches=(WatchSource(ConfigMap, to),)):
        configs.put(a_config("settings", site="one"))
        await harness.clock.settle()
        configs.put(a_config("settings", site="two"))
        await harness.clock.settle()

    assert harness.names() == ["one", "one", "two"]


async def test_a_mapping_that_fails_is_logged_with_the_key_and_later_changes_are_handled(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    configs = harness.informer_client.source(ConfigMap)

    async with harness.running(
        watches=(
            WatchSource(ConfigMap, lambda config: [ObjectKey("default", config.data["site"])]),
        )
    ):
        configs.put(a_config("wrong"))
        configs.put(a_config("right", site="shop"))
        await harness.clock.settle()

    assert harness.names() == ["shop"]
    assert "default/wrong" in caplog.text


async def test_a_mapping_to_something_that_is_not_a_key_is_logged(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    configs = harness.informer_client.source(ConfigMap)

    async with harness.running(
        watches=(WatchSource(ConfigMap, lambda config: cast("Any", ["shop"])),)
    ):
        configs.put(a_config("settings"))
        await harness.clock.settle()

    assert harness.names() == []
    assert "default/settings: mapped to 'shop', expected an ObjectKey" in caplog.text


async def test_predicates_choose_among_changes(harness: ControllerHarness) -> None:
    async with harness.running(predicates=(generation_changed,)):
        harness.sites.put(a_site("shop"), generation=1)
        await harness.clock.settle()
        harness.sites.put(a_site("shop"), generation=1)
        await harness.clock.settle()
        harness.sites.put(a_site("shop", replicas=2), generation=2)
        await harness.clock.settle()

    assert harness.names() == ["shop", "shop"]


async def test_a_predicate_that_fails_lets_the_change_pass(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(change: object) -> bool:
        raise KeyError("oops")

    async with harness.running(predicates=(broken,)):
        harness.sites.put(a_site("shop"))
        await harness.clock.settle()

    assert harness.names() == ["shop"]
    assert "default/shop: predicate" in caplog.text


async def test_a_resync_reconciles_every_key_again(harness: ControllerHarness) -> None:
    async with harness.running(resync=60.0):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(59)
        assert harness.names() == ["shop"]
        await harness.clock.advance(62)

    assert len(harness.names()) >= 2


async def test_nothing_is_reconciled_before_the_caches_have_synced(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    harness.sites.put(a_site("shop"))
    never = asyncio.Event()
    harness.informer_client.source(Deployment).list = cast("Any", lambda **_: never.wait())  # type: ignore[method-assign] # a server that does not answer

    async with harness.running(owns=(WatchSource(Deployment),)):
        await harness.clock.advance(31)

        assert harness.names() == []
        assert harness.controller.stats().state == "waiting for caches"
        assert "site: still waiting for the first list of deployments" in caplog.text


async def test_an_undeclared_kind_is_not_read(harness: ControllerHarness) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        ctx.get(ConfigMap, key)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.settle()

    assert (
        "read ConfigMap from the cache: it holds Website" in harness.controller.stats().last_error
    )


def test_an_undeclared_kind_starts_no_informer() -> None:
    with pytest.raises(NotCached, match="declare it with manager"):
        Caches(FakeInformerClient(ManualClock()), ()).lister(ConfigMap)


async def test_running_reconciles_finish_and_no_others_start(
    harness: ControllerHarness,
) -> None:
    gate = asyncio.Event()
    finished: list[ObjectKey] = []

    async def slow(key: ObjectKey, ctx: Context) -> None:
        await gate.wait()
        finished.append(key)

    for name in ("one", "two"):
        harness.sites.put(a_site(name))
    async with harness.running(slow):
        harness.controller.close()
        drained = asyncio.create_task(harness.controller.wait_idle())
        await harness.clock.settle()
        assert not drained.done()

        gate.set()
        await drained

    assert harness.names() == ["one"]
    assert len(finished) == 1


async def test_a_key_can_be_enqueued_by_hand(harness: ControllerHarness) -> None:
    async with harness.running():
        await asyncio.to_thread(harness.controller.enqueue, SHOP)
        harness.controller.enqueue(ObjectKey("default", "later"), after=5)
        await harness.clock.settle()
        assert harness.names() == ["shop"]
        await harness.clock.advance(5)

    assert harness.names() == ["shop", "later"]


async def test_log_lines_and_events_of_a_context_name_the_key(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        site = ctx.get(Website, key)
        assert site is not None
        ctx.recorder.event(site, "Normal", "Seen", "%d replicas", site.spec.replicas)
        ctx.log.info("seen %d", site.spec.replicas)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop", replicas=3))
        await harness.clock.settle()

    (record,) = [each for each in caplog.records if "seen" in each.getMessage()]
    assert record.getMessage() == "site default/shop: seen 3"
    assert record.__dict__["key"] == "default/shop"
    assert harness.recorder.lines == ["Normal Seen 3 replicas"]


async def test_only_the_event_is_dropped_if_its_type_is_unknown(
    harness: ControllerHarness,
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        ctx.recorder.event(ctx.get(Website, key), "Catastrophe", "Oops", "…")  # type: ignore[arg-type] # on purpose

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.settle()

    assert harness.controller.stats().succeeded == 1


async def test_a_failing_key_is_in_the_stats_with_its_error_until_it_succeeds(
    harness: ControllerHarness,
) -> None:
    async with harness.running(returns(OSError("no disk"), OSError("still no disk"))):
        harness.sites.put(a_site("shop"))
        await harness.until(lambda: harness.controller.stats().failed == 1)
        (failing,) = harness.controller.stats().failing
        assert (str(failing.key), failing.error, failing.attempts) == ("default/shop", "no disk", 1)
        await harness.clock.advance(0.006)
        (failing,) = harness.controller.stats().failing
        assert (failing.error, failing.attempts) == ("still no disk", 2)

        await harness.clock.advance(1)

        assert harness.controller.stats().succeeded == 1
        assert harness.controller.stats().failing == ()


async def test_a_key_with_a_terminal_error_is_failing_until_a_change(
    harness: ControllerHarness,
) -> None:
    async with harness.running(returns(TerminalError("no such registry"))):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(60)
        (failing,) = harness.controller.stats().failing
        assert (failing.is_terminal, round(failing.age)) == (True, 60)

        harness.sites.put(a_site("shop", replicas=2))
        await harness.until(lambda: len(harness.calls) == 2)
        await harness.clock.settle()

        assert harness.controller.stats().failing == ()


async def test_only_a_number_of_failing_keys_is_stored(
    harness: ControllerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubeloop.runtime.controller.MAX_FAILING", 2)
    async with harness.running(returns(*[OSError("x" * 5000)] * 3)):
        for name in ("a", "b", "c"):
            harness.sites.put(a_site(name))
        await harness.until(lambda: harness.controller.stats().failed == 3)

        failing = harness.controller.stats().failing

    assert [each.key.name for each in failing] == ["b", "a"]
    assert {len(each.error) for each in failing} == {1000}
