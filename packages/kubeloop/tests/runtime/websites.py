"""Objects of the tests: websites, their deployments, pods and config maps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from kubeloop.meta import ObjectKey
from kubeloop.wire import Model, Resource
from kubeloop.wire.apps.v1 import Deployment, DeploymentSpec
from kubeloop.wire.core.v1 import ConfigMap, Container, Pod, PodSpec, PodTemplateSpec
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta


class WebsiteSpec(Model):
    image: str = "nginx"
    replicas: int = 1


class WebsiteStatus(Model):
    ready: bool = False


class Website(Resource, group="example.com", version="v1", plural="websites"):
    spec: WebsiteSpec
    status: WebsiteStatus | None = None


SHOP = ObjectKey("default", "shop")


def a_site(name: str = "shop", *, replicas: int = 1, **labels: str) -> Website:
    return Website(
        metadata=ObjectMeta(name=name, labels=labels), spec=WebsiteSpec(replicas=replicas)
    )


def deployment_for(site: Website) -> Deployment:
    labels = {"site": site.metadata.name}
    container = Container(name="web", image=site.spec.image)
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[container])
    )
    return Deployment(
        metadata=ObjectMeta(name=site.metadata.name),
        spec=DeploymentSpec(
            replicas=site.spec.replicas,
            selector=LabelSelector(match_labels=labels),
            template=template,
        ),
    )


def a_pod(name: str = "web", *, node: str = "", **labels: str) -> Pod:
    spec = PodSpec(containers=[Container(name="main", image="app:1")], node_name=node or None)
    return Pod(metadata=ObjectMeta(name=name, labels=labels), spec=spec)


def a_config(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data=data)


def own_tasks() -> set[asyncio.Task[Any]]:
    """All tasks except those of the server's connections."""
    of_the_server = ("kubeloop/kit/listen", "RequestHandler")  # where their coroutines run
    tasks = asyncio.all_tasks()
    return {task for task in tasks if not any(name in repr(task) for name in of_the_server)}


async def until(condition: Callable[[], object]) -> None:
    """Run the event loop until a condition holds; the timeout of the test ends it otherwise."""
    while not condition():
        await asyncio.sleep(0.001)
