"""Objects of the simulation's tests, and how to wait for their rollout."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from kubeloop.runtime import Client
from kubeloop.wire.apps.v1 import Deployment

DELAY = 10.0  # seconds of a step; long, so that a step which comes too early is found
# Advances the clock until a condition holds.
WaitUntil: TypeAlias = Callable[[Callable[[], Awaitable[object]]], Awaitable[None]]


def a_template(**annotations: str) -> dict[str, Any]:
    container = {"name": "main", "image": "app:1", "ports": [{"name": "http", "containerPort": 80}]}
    metadata = {"labels": {"app": "web"}, "annotations": annotations}
    return {"metadata": metadata, "spec": {"containers": [container]}}


def a_deployment(replicas: int, *, strategy: Any = None, **more: Any) -> Deployment:
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, **more}
    if strategy is not None:
        spec["strategy"] = strategy
    spec.setdefault("template", a_template())
    return Deployment.from_dict({"metadata": {"name": "web"}, "spec": spec})


def is_rolled_out(deployment: Deployment) -> bool:
    """As `kubectl rollout status` sees it."""
    status, desired = deployment.status, deployment.spec.replicas
    return (
        (status.observed_generation or 0) >= deployment.metadata.generation
        and (status.updated_replicas or 0) == desired
        and (status.replicas or 0) == desired
        and (status.available_replicas or 0) == desired
    )


async def roll_out(client: Client, wait_until: WaitUntil, deployment: Deployment) -> Deployment:
    at = client.resource(Deployment)
    await at.apply(deployment, force=True)

    async def is_there() -> bool:
        return is_rolled_out(await at.get("web"))

    await wait_until(is_there)
    return await at.get("web")
