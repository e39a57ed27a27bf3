"""A program as users write it; mypy and pyright read it, and the tests run none of it."""

from __future__ import annotations

from typing import Any, assert_type

from kubeloop.clients import (
    ALL_NAMESPACES,
    APIClient,
    CertificateSigningRequestClient,
    DaemonSetClient,
    DrainPlan,
    MetadataClient,
    NamespaceClient,
    NodeClient,
    ObjectList,
    PartialObjectMetadata,
    PodClient,
    ResourceClient,
    ScalableClient,
    ServiceAccountClient,
    ServiceClient,
    SubresourceClient,
    WatchEvent,
    WorkloadClient,
)
from kubeloop.meta import GroupResource, GroupVersionResource
from kubeloop.wire import Model, Quantity, Resource
from kubeloop.wire.apps.v1 import Deployment, ReplicaSet, StatefulSet
from kubeloop.wire.authentication.v1 import TokenRequest
from kubeloop.wire.autoscaling.v1 import Scale
from kubeloop.wire.certificates.v1 import CertificateSigningRequest
from kubeloop.wire.core.v1 import (
    ConfigMap,
    Container,
    ContainerStateWaiting,
    Namespace,
    Node,
    Pod,
    PodSpec,
    Service,
    ServiceAccount,
)
from kubeloop.wire.meta.v1 import ObjectMeta


class WebsiteSpec(Model):
    image: str
    replicas: int = 1


class Website(Resource, group="example.com", version="v1", plural="websites"):
    spec: WebsiteSpec


async def collections(client: APIClient) -> None:
    pods = client.resource(Pod, namespace="shop")
    assert_type(pods, PodClient)
    assert_type(pods.in_namespace("other"), PodClient)
    assert_type(client.apps_v1.deployments("shop"), WorkloadClient[Deployment])
    assert_type(client.resource(StatefulSet), WorkloadClient[StatefulSet])
    assert_type(client.resource(ReplicaSet), ScalableClient[ReplicaSet])
    assert_type(client.apps_v1.daemon_sets("shop"), DaemonSetClient)
    assert_type(client.core_v1.nodes(), NodeClient)
    assert_type(client.resource(Node), NodeClient)
    assert_type(client.core_v1.pods(ALL_NAMESPACES), PodClient)
    assert_type(client.resource(Service), ServiceClient)
    assert_type(client.resource(ServiceAccount), ServiceAccountClient)
    assert_type(client.resource(Namespace), NamespaceClient)
    assert_type(client.resource(CertificateSigningRequest), CertificateSigningRequestClient)
    assert_type(client.core_v1.config_maps("shop"), ResourceClient[ConfigMap])
    assert_type(client.resource(Website), ResourceClient[Website])
    assert_type(client.resource("example.com/v1", "Website"), ResourceClient[dict[str, Any]])
    assert_type(
        client.resource(GroupVersionResource("example.com", "v1", "websites")),
        ResourceClient[dict[str, Any]],
    )
    assert_type(client.dynamic.resource(Pod), ResourceClient[dict[str, Any]])
    assert_type(client.metadata(Pod), MetadataClient)
    assert_type(await client.metadata(Pod).get("web"), PartialObjectMetadata)


async def reading(client: APIClient) -> None:
    pods = client.core_v1.pods("shop")
    pod = await pods.get("web")
    assert_type(pod, Pod)
    assert_type(pod.metadata.labels, dict[str, str])
    assert_type(pod.spec.containers[0].image, str | None)
    assert_type(await pods.get_or_none("web"), Pod | None)
    assert_type(await pods.exists("web"), bool)
    page = await pods.list(selector="app=web", field_selector={"spec.nodeName": "n1"}, limit=500)
    assert_type(page, ObjectList[Pod])
    assert_type([each.metadata.name for each in page], list[str])
    async for each in pods.each(selector={"app": "web"}):
        assert_type(each, Pod)
    async for event in pods.watch(resource_version=page.version):
        assert_type(event, WatchEvent[Pod])
        assert_type(event.object.metadata.name, str)
    async for line in pods.logs("web", follow=True, tail_lines=10):
        assert_type(line, str)


async def writing(client: APIClient) -> None:
    pods = client.core_v1.pods("shop")
    wanted = Pod(
        metadata=ObjectMeta(name="web"), spec=PodSpec(containers=[Container(name="c", image="i")])
    )
    assert_type(await pods.create(wanted, dry_run=True, field_validation="Strict"), Pod)
    assert_type(await pods.patch("web", {"spec": {}}, type="merge"), Pod)
    assert_type(await pods.apply(wanted, field_manager="me", force=True), Pod)
    assert_type(await client.apply(wanted), Pod)
    assert_type(await client.apply({"kind": "Pod"}), dict[str, Any])
    async with pods.edit("web") as pod:
        assert_type(pod, Pod)
        pod.metadata.labels["tier"] = "front"

    def relabel(found: Pod) -> None:
        found.metadata.labels["tier"] = "front"

    assert_type(await pods.modify("web", relabel), Pod)
    assert_type(await pods.wait_for("web", condition="Ready", timeout=30), Pod)
    assert_type(pods.status, SubresourceClient[Pod])
    assert_type(await pods.status.update(pod), Pod)
    await pods.delete("web", propagation="Foreground", grace_period=0)


async def actions(client: APIClient) -> None:
    pods = client.core_v1.pods("shop")
    await pods.evict("web")
    await pods.bind("web", node="n1")
    assert_type(pods.ephemeral_containers, SubresourceClient[Pod])
    assert_type(await pods.proxy("web", port=8080).get("/metrics"), bytes)
    deployments = client.apps_v1.deployments("shop")
    assert_type(await deployments.scale.get("web"), Scale)
    assert_type(await deployments.scale.set("web", 3), Scale)
    accounts = client.resource(ServiceAccount, namespace="shop")
    assert_type(await accounts.token("builder", audiences=["vault"]), TokenRequest)
    namespaces = client.resource(Namespace)
    assert_type(namespaces.finalize, SubresourceClient[Namespace])
    assert_type(await client.resource(Node).drain("node-7"), DrainPlan)
    assert_type(await client.resource(Website).subresource("scale").set("web", 3), Scale)
    assert_type(await client.resource("v1", "Pod").subresource("scale").get("web"), Scale)
    assert_type(await client.scales.get(GroupResource("apps", "deployments"), "shop", "web"), Scale)


async def mistakes(client: APIClient) -> None:
    """Each line is wrong, and a type checker reports it, as the ignores prove."""
    deployments = client.apps_v1.deployments("shop")
    await deployments.evict("web")  # type: ignore[attr-defined] # only pods are evicted
    await client.core_v1.config_maps("shop").drain_plan("n")  # type: ignore[attr-defined] # nodes
    client.resource("v1", "Pod").exec("web", ["ls"])  # type: ignore[attr-defined] # by the class
    await client.apps_v1.daemon_sets().scale.set("a", 1)  # type: ignore[attr-defined] # no scale
    await deployments.create(Pod())  # type: ignore[arg-type] # another kind
    await deployments.patch("web", {}, type="merg")  # type: ignore[arg-type] # no such type
    await deployments.patch("web", {})  # type: ignore[call-arg] # the type is required
    client.core_v1.nodes("shop")  # type: ignore[call-arg] # nodes are in no namespace
    await deployments.delete("web", propagation="Later")  # type: ignore[arg-type] # no such policy


def parts_that_kubernetes_fills(pod: Pod, deployment: Deployment, node: Node) -> None:
    """What Go holds by value is read without asking whether it is there."""
    container = pod.spec.containers[0]
    assert_type(container.resources.limits["cpu"], Quantity)
    assert_type(container.resources.requests.get("memory"), Quantity | None)
    assert_type(pod.status.container_statuses[0].state.waiting, ContainerStateWaiting | None)
    assert_type(deployment.spec.template.metadata.labels, dict[str, str])
    assert_type(deployment.spec.strategy.type, str | None)
    assert_type(node.status.node_info.kubelet_version, str)
    for condition in deployment.status.conditions:
        assert_type(condition.status, str | None)


def quantities(pods: list[Pod]) -> None:
    limits = [each.resources.limits["cpu"] for pod in pods for each in pod.spec.containers]
    assert_type(sum(limits, Quantity("0")), Quantity)
    assert_type(int(sum(limits)), int)
    assert_type(float(limits[0]), float)


async def many_kinds(client: APIClient, workload: Deployment | StatefulSet) -> None:
    assert_type(client.resource(type(workload)), ResourceClient[Deployment | StatefulSet])
    kinds = [Deployment, ConfigMap]
    for kind in kinds:
        await client.resource(kind).delete("old")
    for obj in (Deployment(), ConfigMap()):
        await client.resource(type(obj)).create(obj)
