"""Simulated tests for the benchmark: the sample controller, and one that is idle.

See also: `bench_simulation`, and `test_determinism` of the simulation, which compares
the bytes of two runs.
"""

from __future__ import annotations

import asyncio

from examples.sample_controller import Foo, FooSpec, reconcile
from kubeloop import ClusterConfig, Manager
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import World, simulate

__all__ = ["HOUR", "idle_run", "make_manager", "sample_run"]

HOUR = 3600.0


def make_manager(config: ClusterConfig) -> Manager:
    """The manager of examples/sample_controller.py, for any server."""
    manager = Manager(config, leader_election="sample-controller")
    manager.controller(Foo, owns=[Deployment], workers=2, install_crd=True)(reconcile)
    return manager


@simulate(seconds=600.0)
async def sample_run(world: World) -> None:
    """A Foo is created and scaled; its Deployment follows, and its status counts the pods."""
    world.run(make_manager)
    foos = world.client.resource(Foo, namespace="default")
    await foos.create(
        Foo(metadata=ObjectMeta(name="web"), spec=FooSpec(deployment_name="web", replicas=2))
    )
    await world.settle()
    await foos.patch("web", {"spec": {"replicas": 3}}, type="merge")
    await world.settle()
    status = (await foos.get("web")).status
    assert status is not None
    assert status.available_replicas == 3


@simulate()
async def idle_run(world: World) -> None:
    """The manager for an hour: three watches, and a lease that is renewed every two seconds."""
    world.run(make_manager)
    await asyncio.sleep(HOUR)
