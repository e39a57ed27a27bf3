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
    WatchSource,
    generation_changed,
)
from kubeloop.runtime.caches import Caches
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap

from .mirrors import Mirrors
from .sites import SHOP, Website, a_config, a_site, deployment_for
from .stage import Stage, says


async def test_what_is_there_and_what_changes_is_reconciled(stage: Stage) -> None:
    stage.sites.put(a_site("one"))
    async with stage.running():
        stage.sites.put(a_site("two"))
        await stage.clock.settle()
        stage.sites.drop(ObjectKey("default", "one"))
        await stage.clock.settle()

    assert stage.names() == ["one", "two", "one"]


async def test_a_deleted_object_reads_as_none(stage: Stage) -> None:
    found: list[Website | None] = []

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        found.append(ctx.get(Website, key))

    async with stage.running(reconcile):
        stage.sites.put(a_site("shop"))
        await stage.clock.settle()
        stage.sites.drop(SHOP)
        await stage.clock.settle()

    assert [site and site.metadata.name for site in found] == ["shop", None]


async def test_live_changes_go_before_the_first_list(stage: Stage) -> None:
    gate = asyncio.Event()

    async def slow(key: ObjectKey, ctx: Context) -> None:
        await gate.wait()

    for number in range(5):
        stage.sites.put(a_site(f"old-{number}"))
    async with stage.running(slow):
        stage.sites.put(a_site("new"))
        await stage.clock.settle()
        gate.set()
        await stage.clock.settle()

    assert stage.names()[:2] == ["old-0", "new"]


async def test_a_failing_key_backs_off_and_delays_no_other(stage: Stage) -> None:
    """X-4: 5 ms, 10 ms, 20 ms, …, while others go on."""

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        if key.name == "bad" and ctx.attempt < 4:
            raise RuntimeError("not yet")

    async with stage.running(reconcile):
        stage.sites.put(a_site("bad"))
        await stage.clock.settle()
        stage.sites.put(a_site("good"))
        await stage.clock.settle()
        assert stage.names() == ["bad", "good"]
        await stage.clock.advance(1)

    bad = [
        moment for key, moment in zip(stage.calls, stage.moments, strict=True) if key.name == "bad"
    ]
    waits = [later - earlier for earlier, later in itertools.pairwise(bad)]
    assert waits == pytest.approx([0.005, 0.010, 0.020, 0.040])
    assert stage.controller.stats().failed == 4
    assert stage.controller.stats().queue.waiting == 0


async def test_after_a_success_the_next_failure_waits_briefly_again(stage: Stage) -> None:
    async with stage.running(says(RuntimeError(), RuntimeError(), None, RuntimeError(), None)):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(1)
        began = stage.clock.now()
        stage.sites.put(a_site("shop", replicas=2))
        await stage.clock.advance(1)

    assert stage.moments[-1] - began == pytest.approx(0.005)


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(1, 4))
@settings(max_examples=25)
def test_no_key_is_ever_worked_on_twice_at_once(changes: list[int], workers: int) -> None:
    """X-4: however many workers there are, and whatever comes while they work."""

    async def scenario() -> None:
        stage = Stage()
        at_work: Counter[ObjectKey] = Counter()
        seen: dict[ObjectKey, int] = {}

        async def reconcile(key: ObjectKey, ctx: Context) -> None:
            at_work[key] += 1
            assert at_work[key] == 1
            await ctx._around.clock.sleep(0.01)
            site = ctx.get(Website, key)
            seen[key] = site.spec.replicas if site else 0
            at_work[key] -= 1

        async with stage.running(reconcile, workers=workers):
            for count, name in enumerate(changes, start=1):
                stage.sites.put(a_site(f"site-{name}", replicas=count))
                await stage.clock.advance(0.003)
            await stage.clock.advance(5)

        assert stage.controller.stats().failed == 0
        last = {f"site-{name}": count for count, name in enumerate(changes, start=1)}
        assert {key.name: replicas for key, replicas in seen.items()} == last

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("answer", "again_after"),
    [(Result(requeue_after=30), 30.0), (Result(requeue=True), 0.005), (RuntimeError("no"), 0.005)],
    ids=["requeue after", "requeue", "error"],
)
async def test_a_result_decides_when_the_key_is_reconciled_again(
    stage: Stage, answer: object, again_after: float
) -> None:
    async with stage.running(says(answer)):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(100)

    assert stage.moments == pytest.approx([0.0, again_after])


@pytest.mark.parametrize("answer", [None, Result()], ids=["nothing", "done"])
async def test_what_is_done_does_not_come_again(stage: Stage, answer: object) -> None:
    async with stage.running(says(answer)):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(10_000)

    assert stage.names() == ["shop"]


async def test_changes_of_an_owned_object_are_the_owners(stage: Stage) -> None:
    owned = stage.mirrors.source(Deployment)
    reference = {"apiVersion": "example.com/v1", "kind": "Website", "name": "shop", "uid": "1"}
    async with stage.running(owns=(WatchSource(Deployment),)):
        owned.put(
            deployment_for(a_site("shop")), ownerReferences=[{**reference, "controller": True}]
        )
        await stage.clock.settle()
        owned.put(deployment_for(a_site("other")), ownerReferences=[reference])
        owned.put(deployment_for(a_site("alone")))
        await stage.clock.settle()
        owned.put(deployment_for(a_site("shop")))  # it has lost its owner
        await stage.clock.settle()

    assert stage.names() == ["shop", "shop"]


@pytest.mark.parametrize("style", ["plain", "async"])
async def test_changes_of_another_kind_are_mapped_to_keys(stage: Stage, style: str) -> None:
    configs = stage.mirrors.source(ConfigMap)

    def sites_of(config: ConfigMap) -> list[ObjectKey]:
        return [ObjectKey("default", config.data["site"])]

    async def later(config: ConfigMap) -> list[ObjectKey]:
        await asyncio.sleep(0)
        return sites_of(config)

    to = sites_of if style == "plain" else later
    async with stage.running(watches=(WatchSource(ConfigMap, to),)):
        configs.put(a_config("settings", site="one"))
        await stage.clock.settle()
        configs.put(a_config("settings", site="two"))
        await stage.clock.settle()

    assert stage.names() == ["one", "one", "two"]


async def test_a_mapping_that_fails_is_logged_with_the_key_and_later_changes_are_handled(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    configs = stage.mirrors.source(ConfigMap)

    async with stage.running(
        watches=(
            WatchSource(ConfigMap, lambda config: [ObjectKey("default", config.data["site"])]),
        )
    ):
        configs.put(a_config("wrong"))
        configs.put(a_config("right", site="shop"))
        await stage.clock.settle()

    assert stage.names() == ["shop"]
    assert "default/wrong" in caplog.text


async def test_a_mapping_to_something_that_is_not_a_key_is_logged(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    configs = stage.mirrors.source(ConfigMap)

    async with stage.running(
        watches=(WatchSource(ConfigMap, lambda config: cast("Any", ["shop"])),)
    ):
        configs.put(a_config("settings"))
        await stage.clock.settle()

    assert stage.names() == []
    assert "default/settings: mapped to 'shop', which is no ObjectKey" in caplog.text


async def test_predicates_choose_among_changes(stage: Stage) -> None:
    async with stage.running(predicates=(generation_changed,)):
        stage.sites.put(a_site("shop"), generation=1)
        await stage.clock.settle()
        stage.sites.put(a_site("shop"), generation=1)
        await stage.clock.settle()
        stage.sites.put(a_site("shop", replicas=2), generation=2)
        await stage.clock.settle()

    assert stage.names() == ["shop", "shop"]


async def test_a_predicate_that_fails_lets_the_change_pass(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(change: object) -> bool:
        raise KeyError("oops")

    async with stage.running(predicates=(broken,)):
        stage.sites.put(a_site("shop"))
        await stage.clock.settle()

    assert stage.names() == ["shop"]
    assert "default/shop: the predicate" in caplog.text


async def test_a_resync_reconciles_every_key_again(stage: Stage) -> None:
    async with stage.running(resync=60.0):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(59)
        assert stage.names() == ["shop"]
        await stage.clock.advance(62)

    assert len(stage.names()) >= 2


async def test_nothing_is_reconciled_before_the_caches_have_synced(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.sites.put(a_site("shop"))
    never = asyncio.Event()
    stage.mirrors.source(Deployment).list = cast("Any", lambda **_: never.wait())  # type: ignore[method-assign] # a server that does not answer

    async with stage.running(owns=(WatchSource(Deployment),)):
        await stage.clock.advance(31)

        assert stage.names() == []
        assert stage.controller.stats().state == "waiting for caches"
        assert "site: still waiting for the first list of deployments" in caplog.text


async def test_an_undeclared_kind_is_not_read(stage: Stage) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        ctx.get(ConfigMap, key)

    async with stage.running(reconcile):
        stage.sites.put(a_site("shop"))
        await stage.clock.settle()

    assert "read ConfigMap from the cache: it holds Website" in stage.controller.stats().last_error


def test_an_undeclared_kind_starts_no_informer() -> None:
    with pytest.raises(NotCached, match="declare it with manager"):
        Caches(Mirrors(ManualClock()), ()).lister(ConfigMap)


async def test_running_reconciles_finish_and_no_others_start(stage: Stage) -> None:
    gate = asyncio.Event()
    finished: list[ObjectKey] = []

    async def slow(key: ObjectKey, ctx: Context) -> None:
        await gate.wait()
        finished.append(key)

    for name in ("one", "two"):
        stage.sites.put(a_site(name))
    async with stage.running(slow):
        stage.controller.close()
        drained = asyncio.create_task(stage.controller.drained())
        await stage.clock.settle()
        assert not drained.done()

        gate.set()
        await drained

    assert stage.names() == ["one"]
    assert len(finished) == 1


async def test_a_key_can_be_enqueued_by_hand(stage: Stage) -> None:
    async with stage.running():
        await asyncio.to_thread(stage.controller.enqueue, SHOP)
        stage.controller.enqueue(ObjectKey("default", "later"), after=5)
        await stage.clock.settle()
        assert stage.names() == ["shop"]
        await stage.clock.advance(5)

    assert stage.names() == ["shop", "later"]


async def test_the_context_speaks_in_the_name_of_the_key(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        site = ctx.get(Website, key)
        assert site is not None
        ctx.recorder.event(site, "Normal", "Seen", "%d replicas", site.spec.replicas)
        ctx.log.info("seen %d", site.spec.replicas)

    async with stage.running(reconcile):
        stage.sites.put(a_site("shop", replicas=3))
        await stage.clock.settle()

    (record,) = [each for each in caplog.records if "seen" in each.getMessage()]
    assert record.getMessage() == "site default/shop: seen 3"
    assert record.__dict__["key"] == "default/shop"
    assert stage.recorder.lines == ["Normal Seen 3 replicas"]


async def test_an_unknown_type_of_event_costs_the_event_and_no_more(stage: Stage) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        ctx.recorder.event(ctx.get(Website, key), "Catastrophe", "Oops", "…")  # type: ignore[arg-type] # on purpose

    async with stage.running(reconcile):
        stage.sites.put(a_site("shop"))
        await stage.clock.settle()

    assert stage.controller.stats().succeeded == 1
