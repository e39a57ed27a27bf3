"""Informers of a client, with the embedded server."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubeloop.cache import Change, SharedInformer, SharedInformerFactory
from kubeloop.clients import PartialObjectMetadata
from kubeloop.crd import crd_of
from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.meta import GroupVersionKind, GroupVersionResource, ObjectKey
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import ConfigMap, Namespace, Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer
from tests.support.clocks import FastClock

from .websites import Website, a_config, a_pod, a_site, own_tasks, until

SITES = GroupVersionKind("example.com", "v1", "Website")


def names(informer: SharedInformer[Any]) -> list[str]:
    keys = informer.lister.keys()
    return sorted(key.name for key in keys)


async def in_another_namespace(client: Client, pod: Pod) -> None:
    await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name="other")))
    await client.core_v1.pods("other").create(pod)


async def test_an_informer_caches_all_namespaces_unless_one_is_named(client: Client) -> None:
    await client.core_v1.pods().create(a_pod("here"))
    await in_another_namespace(client, a_pod("there"))

    async with (
        client.informer(Pod) as everywhere,
        client.informer(Pod, namespace="other") as elsewhere,
        client.informer(Pod, namespace=None) as at_home,
    ):
        assert names(everywhere) == ["here", "there"]
        assert names(elsewhere) == ["there"]
        assert names(at_home) == ["here"]


async def test_an_informer_follows_changes(client: Client) -> None:
    pods = client.core_v1.pods()
    async with client.informer(Pod, index={"node": "spec.nodeName"}) as informer:
        made = await pods.create(a_pod("web", node="node-7", app="web"))

        found = await informer.get(
            ObjectKey("default", "web"), resource_version=made.metadata.resource_version
        )

        assert found is not None
        assert found.spec.node_name == "node-7"
        assert [pod.metadata.name for pod in informer.lister.by_index("node", "node-7")] == ["web"]
        assert informer.lister.list("app=web") == [found]


async def test_selectors_go_to_the_server(client: Client) -> None:
    for pod in (a_pod("one", app="web"), a_pod("two", node="node-1"), a_pod("three")):
        await client.core_v1.pods().create(pod)

    async with (
        client.informer(Pod, selector={"app": "web"}) as labelled,
        client.informer(Pod, field_selector="spec.nodeName=node-1") as placed,
    ):
        assert names(labelled) == ["one"]
        assert names(placed) == ["two"]


class Placement(msgspec.Struct, rename="camel"):
    node_name: str | None = None


class PlacedPod(msgspec.Struct):
    spec: Placement


async def test_a_view_is_decoded_instead_of_the_kind(client: Client) -> None:
    await client.core_v1.pods().create(a_pod("web", node="node-7"))

    async with client.informer(Pod, model=PlacedPod) as pods:
        assert pods.lister.list() == [PlacedPod(Placement("node-7"))]


async def test_metadata_only_requests_metadata(client: Client, server: APIServer) -> None:
    await client.core_v1.pods().create(a_pod("web", app="web"))

    async with client.informer(Pod, metadata_only=True) as pods:
        (found,) = pods.lister.list("app=web")

    assert isinstance(found, PartialObjectMetadata)
    assert found.metadata.name == "web"
    assert pods.stats().codec.encoded == 1


def test_metadata_only_has_no_model(client: Client) -> None:
    with pytest.raises(InvalidArgument, match="give one of them"):
        client.informer(Pod, metadata_only=True, model=PlacedPod)  # type: ignore[call-overload] # on purpose


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(GroupVersionKind("", "v1", "ConfigMap"), id="kind"),
        pytest.param(GroupVersionResource("", "v1", "configmaps"), id="resource"),
    ],
)
async def test_objects_of_a_kind_without_a_class_are_dicts_with_kind_and_api_version(
    client: Client, kind: Any
) -> None:
    await client.core_v1.config_maps().create(a_config("colors", sky="blue"))

    async with client.informer(kind, namespace="default") as informer:
        (found,) = informer.lister.list()

    assert (found["apiVersion"], found["kind"]) == ("v1", "ConfigMap")
    assert found["data"] == {"sky": "blue"}


async def test_a_kind_that_is_served_later_is_found_when_it_is(hasty: Client) -> None:
    informer = hasty.informer(SITES)
    running = asyncio.create_task(informer.run())
    await until(lambda: informer.stats().reflector.errors)

    await hasty.apply(crd_of(Website))
    await hasty.resource(Website).create(a_site("shop"))
    await until(lambda: len(informer.lister))

    assert [site["metadata"]["name"] for site in informer.lister.list()] == ["shop"]
    running.cancel()
    await asyncio.wait([running])


async def test_a_client_serves_a_factory(client: Client) -> None:
    await client.core_v1.pods().create(a_pod("web"))

    async with SharedInformerFactory(client) as factory:
        pods, namespaces = factory.informer(Pod), factory.informer(Namespace)
        again = factory.informer(Pod)
        factory.start()
        (await factory.wait_synced(timeout=4)).check()

        assert pods is again
        assert len(pods.lister) == 1
        assert namespaces.lister.get("default") is not None


async def test_an_informer_catches_up_after_an_outage(hasty: Client, server: APIServer) -> None:
    """X-1: what changed meanwhile is known, and notified as what it was."""
    maps = hasty.core_v1.config_maps()
    for name in ("stays", "changes", "goes"):
        await maps.create(a_config(name, state="old"))
    changes: list[tuple[str, str]] = []

    def note(change: Change[ConfigMap]) -> None:
        if not change.is_resync:  # a new list reports everything again
            changes.append((change.type, change.key.name))

    async with hasty.informer(ConfigMap, namespace="default") as informer:
        informer.add_handler(on_change=note)
        await until(lambda: len(changes) == 3)
        changes.clear()

        await server.refuse_connections()
        await _change_behind_the_back(server)
        await server.accept_connections()
        await until(lambda: {name for _, name in changes} >= {"changes", "goes", "comes"})

        assert set(changes) == {("Updated", "changes"), ("Deleted", "goes"), ("Added", "comes")}
        listed = await maps.list()
        assert sorted(informer.lister.keys()) == sorted(ObjectKey.of(each) for each in listed)


async def _change_behind_the_back(server: APIServer) -> None:
    # The server accepts connections for a moment, and only the other client is in time.
    await server.accept_connections()
    async with Client(server.config) as other:
        maps = other.core_v1.config_maps()
        await maps.patch("changes", {"data": {"state": "new"}}, type="merge")
        await maps.delete("goes")
        await maps.create(a_config("comes"))
    await server.refuse_connections()


async def test_a_version_that_expired_costs_one_list_and_no_change(
    hasty: Client, server: APIServer
) -> None:
    """X-2: no add is notified twice, and the informer stays synced."""
    await hasty.core_v1.config_maps().create(a_config("one"))
    changes: list[str] = []
    async with hasty.informer(ConfigMap, namespace="default") as informer:
        informer.add_handler(on_add=lambda added: changes.append(added.metadata.name))
        await until(lambda: changes)

        server.expire_history()
        server.drop_connections()
        made = await hasty.core_v1.config_maps().create(a_config("two"))
        await informer.wait_for_version(made.metadata.resource_version, timeout=4)
        await until(lambda: len(changes) == 2)

        assert informer.has_synced
        assert changes == ["one", "two"]
        assert informer.stats().reflector.rounds == 2


@pytest.mark.parametrize("what", ["token", "certificate", "ca"])
async def test_a_rotation_loses_no_event(tmp_path: Path, what: str) -> None:
    """X-3: a watch that is open meanwhile, or interrupted by it, misses nothing."""
    async with APIServer(rbac=True) as server:
        token, ca, clock = tmp_path / "token", tmp_path / "ca.crt", FastClock()

        def write() -> None:
            token.write_text(server.config.token)
            ca.write_bytes(server.config.ca)

        write()
        config = server.config.replace(token="", token_file=str(token), ca=b"", ca_file=str(ca))
        async with (
            Client(config, clock=clock) as client,
            client.informer(ConfigMap, namespace="default") as informer,
        ):
            rotate = {
                "token": server.rotate_token,
                "certificate": server.rotate_certificate,
                "ca": server.rotate_ca,
            }
            rotate[what]()
            write()
            clock.skip(400)  # CA files are looked at every five minutes
            server.drop_connections()
            async with Client(server.config) as other:
                made = await other.core_v1.config_maps().create(a_config("one"))
            await informer.wait_for_version(made.metadata.resource_version, timeout=4)

            assert informer.lister.get(ObjectKey("default", "one")) is not None


async def test_an_informer_ends_at_once_and_leaves_nothing(server: APIServer) -> None:
    """X-6, X-7: its block ends while no time passes, and its handlers are forgotten."""
    async with Client(server.config, clock=ManualClock()) as client:
        before = own_tasks()
        handler = Handler()
        gone = weakref.ref(handler)
        async with client.informer(ConfigMap) as informer:
            registration = informer.add_handler(on_add=handler.on_add)
            await registration.wait_synced(timeout=2)
            await registration.aclose()
            del handler, registration
            await until(lambda: gc.collect() >= 0 and gone() is None)

        assert own_tasks() == before


class Handler:
    def on_add(self, obj: object) -> None:
        """Nothing."""


async def test_waiting_for_the_first_list_can_time_out(client: Client) -> None:
    """X-7: cancelled in the middle, nothing is left running."""
    before = own_tasks()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1), client.informer(SITES):
            pass

    assert own_tasks() == before


async def test_an_informer_drops_managed_fields_by_default(client: Client) -> None:
    await client.core_v1.pods().create(a_pod("web"))

    async with (
        client.informer(Pod) as pods,
        client.informer(Pod, metadata_only=True) as metadata,
        client.informer(Pod, drop=()) as whole,
    ):
        assert [pod.metadata.managed_fields for pod in pods.lister.list()] == [[]]
        assert [pod.metadata.managed_fields for pod in metadata.lister.list()] == [[]]
        assert all(pod.metadata.managed_fields for pod in whole.lister.list())
