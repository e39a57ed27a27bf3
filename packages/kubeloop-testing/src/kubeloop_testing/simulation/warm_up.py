"""Uses what most runs use, once, before any run: modules, types, decoders, tables.

Each run is a fork, so what is created before is there in all of them. It takes a third of a
short run away. No code of the user's runs here.
Guarantees: the same state of the interpreter in every worker, and in a replay.
See also: `worker.prepare`.
"""

from __future__ import annotations

import asyncio
from typing import Final

from kubeloop.config import ClusterConfig
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Context, Manager
from kubeloop.wire.apps.v1 import Deployment, DeploymentSpec
from kubeloop.wire.core.v1 import ConfigMap, Container, PodSpec, PodTemplateSpec
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta

from . import single_run
from .scenarios import Scenario
from .world import World

__all__ = ["warm_up"]

_LABELS: Final = {"app": "warm-up"}
# What is freed runs its `finally` blocks, in a process that has another loop by then.
_kept: list[object] = []


def warm_up() -> None:
    """Run a small manager in a world of its own; nothing of it is left to later runs."""
    # Traced, because a run that is not disables logging.
    single_run.run_scenario(_use, Scenario(0), is_traced=True)
    _kept.append(vars(single_run)["_world"])


async def _use(world: World) -> None:
    world.run(lambda config: _make_manager(config), name="warm-up")  # noqa: PLW0108 - not imported again
    maps = world.client.resource(ConfigMap, namespace="default")
    await maps.create(ConfigMap(metadata=ObjectMeta(name="web"), data={"replicas": "1"}))
    await asyncio.sleep(20.0)
    await maps.patch("web", {"data": {"replicas": "2"}}, type="merge")
    await asyncio.sleep(20.0)
    await maps.delete("web")


def _make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config, leader_election="warm-up")

    @manager.controller(ConfigMap, owns=[Deployment])
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        found = ctx.get(ConfigMap, key)
        if found is None or not found.data or "replicas" not in found.data:
            return
        await ctx.client.apply(_deployment(key.name, int(found.data["replicas"])), owner=found)
        ctx.recorder.event(found, "Normal", "Applied", "applied %s", key.name)

    return manager


def _deployment(name: str, replicas: int) -> Deployment:
    pod = PodSpec(containers=[Container(name="web", image="web:1")])
    return Deployment(
        metadata=ObjectMeta(name=name),
        spec=DeploymentSpec(
            replicas=replicas,
            selector=LabelSelector(match_labels=_LABELS),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=_LABELS), spec=pod),
        ),
    )
