"""Informers that read protobuf, with the embedded server."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
import pytest

from kubeloop.cache import SharedInformerFactory
from kubeloop.clients import PartialObjectMetadata
from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupVersionKind, ObjectKey
from kubeloop.runtime import Client
from kubeloop.runtime.client import MODELS_MINOR
from kubeloop.wire import UnknownFields, protobuf_descriptors
from kubeloop.wire.core.v1 import ConfigMap, Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.protobuf_messages import PROTOBUF
from kubeloop.wire.protobuf_writing import envelope, message_bytes, watch_frame
from kubeloop_testing import APIServer
from kubeloop_testing.server.faults import Reply, SeenRequest

from .websites import Website, a_config, a_pod, until

FUTURE = b"\xba\x3e\x03new"  # field 999: no model has it
MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "default", "uid": "1", "resourceVersion": "5"},
    "data": {"k": "v"},
    "future": {"kept": True},
}
END = {"metadata": {"resourceVersion": "5", "annotations": {"k8s.io/initial-events-end": "true"}}}


class FutureServer:
    """Responds as a server with a field in ConfigMaps that our models do not have."""

    def __init__(self, *, minor: str) -> None:
        self._minor = minor
        self.formats: list[str] = []

    def __call__(self, seen: SeenRequest) -> Reply | None:
        if seen.path == "/version":
            return Reply(body={"major": "1", "minor": self._minor, "gitVersion": "v1"})
        if seen.resource != "configmaps":
            return None
        self.formats.append(seen.headers["Accept"].partition(",")[0])
        if seen.verb == "list":
            head = {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": END["metadata"]}
            return Reply(body={**head, "items": [MAP]})
        if self.formats[-1] != PROTOBUF:
            end = {"type": "BOOKMARK", "object": {**END, "kind": "ConfigMap", "apiVersion": "v1"}}
            events = [{"type": "ADDED", "object": MAP}, end]
            return Reply(body=b"".join(msgspec.json.encode(each) + b"\n" for each in events))
        message = message_bytes("core_v1.ConfigMap", MAP) + FUTURE
        frames = watch_frame("ADDED", envelope("v1", "ConfigMap", message))
        end_message = message_bytes("core_v1.ConfigMap", END)
        frames += watch_frame("BOOKMARK", envelope("v1", "ConfigMap", end_message))
        return Reply(body=frames, content_type=f"{PROTOBUF};stream=watch")


def accepted(server: APIServer, verb: str) -> list[str]:
    """The first format that each request of a verb accepts."""
    return [
        seen.headers["Accept"].partition(",")[0].partition(";")[0]
        for seen in server.faults.requests
        if seen.verb == verb
    ]


async def test_an_informer_by_protobuf_has_what_one_by_json_has(
    client: Client, server: APIServer
) -> None:
    pods = client.core_v1.pods()
    await pods.create(a_pod("a", node="node-1", app="web"))
    index = {"node": "spec.nodeName"}
    async with (
        client.informer(Pod, format="protobuf", index=index) as found,
        client.informer(Pod, index=index) as expected,
    ):
        assert found.stats().reflector.format == "protobuf"
        assert accepted(server, "watch")[0] == PROTOBUF
        await pods.create(a_pod("b", node="node-2"))
        await pods.patch("a", {"metadata": {"labels": {"tier": "x"}}}, type="merge")
        last = await pods.patch("b", {"metadata": {"labels": {"tier": "y"}}}, type="merge")
        for informer in (found, expected):
            await informer.wait_for_version(last.metadata.resource_version or "")

        assert found.lister.list() == expected.lister.list()
        assert found.lister.by_index("node", "node-1") == expected.lister.by_index("node", "node-1")
        assert found.lister.keys("tier=x") == [ObjectKey("default", "a")]
        assert found.stats().codec.messages == 4
        assert expected.stats().codec.messages == 0

        await pods.delete("a", grace_period=0)
        await until(lambda: found.lister.count() == 1)


async def test_a_list_is_read_as_protobuf_too(client: Client) -> None:
    for name in "abc":
        await client.core_v1.pods().create(a_pod(name))
    source = client.list_watch(Pod, format="protobuf")

    page = await source.list(resource_version="", resource_version_match="", limit=2, page="")

    assert source.messages is not None
    assert source.messages.message == "core_v1.Pod"
    assert not source.messages.checks_fields  # the server is not newer than the models
    assert [item[:1] for item in [*(await page.batch()), *(await page.batch())]] == [b"\n"] * 2
    assert page.rest().next_page
    assert page.rest().kind == "PodList"


async def test_metadata_of_any_kind_can_be_protobuf(with_sites: Client) -> None:
    await with_sites.resource(Website).create(
        Website.from_dict({"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"image": "i"}})
    )

    async with with_sites.informer(Website, metadata_only=True, format="protobuf") as sites:
        (found,) = sites.lister.list()

    assert isinstance(found, PartialObjectMetadata)
    assert found.metadata.labels == {"x": "y"}
    assert sites.stats().codec.messages == 1


async def test_dicts_of_a_built_in_kind_can_be_protobuf(client: Client) -> None:
    await client.core_v1.config_maps().create(a_config("a"))
    kind = GroupVersionKind("", "v1", "ConfigMap")

    async with (
        client.informer(kind, format="protobuf", namespace=None) as found,
        client.informer(kind, namespace=None) as expected,
    ):
        assert found.lister.list() == expected.lister.list()
        assert found.stats().codec.messages == 1


async def test_kinds_without_protobuf_are_json(with_sites: Client) -> None:
    async with with_sites.informer(Website, format="protobuf") as sites:
        assert sites.stats().reflector.format == "json"


async def test_without_upb_everything_is_json(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protobuf_descriptors, "is_available", lambda: False)

    async with client.informer(Pod, format="protobuf") as pods:
        assert pods.stats().reflector.format == "json"


async def test_the_format_of_a_client_is_that_of_its_informers(server: APIServer) -> None:
    async with (
        Client(server.config, format="protobuf") as client,
        client.informer(ConfigMap) as maps,
        client.informer(Pod, format="json") as pods,
        SharedInformerFactory(client) as factory,
    ):
        shared = factory.informer(ConfigMap)
        assert maps.stats().reflector.format == shared.stats().reflector.format == "protobuf"
        assert pods.stats().reflector.format == "json"


async def test_a_factory_shares_informers_of_the_same_format(server: APIServer) -> None:
    factory = SharedInformerFactory(Client(server.config))

    one = factory.informer(ConfigMap, format="protobuf")
    other = factory.informer(ConfigMap)
    metadata = factory.metadata_informer(ConfigMap, format="json")

    assert factory.informer(ConfigMap, format="protobuf") is one
    formats = [each.stats().reflector.format for each in (one, other, metadata)]
    assert formats == ["protobuf", "json", "json"]


def test_a_format_must_exist(server: APIServer) -> None:
    with pytest.raises(InvalidArgument, match="expected 'json' or 'protobuf'"):
        Client(server.config).informer(Pod, format="yaml")  # type: ignore[call-overload]


# --- fields of the future


@pytest.mark.parametrize("minor", [f"{MODELS_MINOR + 1}+", "unknown"])
async def test_a_field_of_a_newer_server_switches_the_informer_to_json(
    hasty: Client, server: APIServer, caplog: pytest.LogCaptureFixture, minor: str
) -> None:
    """Before the cache has synced: no reader ever sees the object without the field."""
    future = FutureServer(minor=minor)
    server.faults.reactors.append(future)

    with caplog.at_level(logging.WARNING):
        async with hasty.informer(ConfigMap, format="protobuf", namespace=None) as maps:
            found = maps.lister.get("a", namespace="default")
            assert maps.stats().reflector.format == "json"

    assert hasty.stats().json_only == ("configmaps",)
    assert found is not None
    assert found.to_dict()["future"] == {"kept": True}
    assert future.formats[0] == PROTOBUF
    assert PROTOBUF not in future.formats[1:]
    assert "read as JSON from now on, not as protobuf" in caplog.text


async def test_a_field_that_no_version_explains_is_found_when_the_object_is_read(
    hasty: Client, server: APIServer
) -> None:
    future = FutureServer(minor=str(MODELS_MINOR))
    server.faults.reactors.append(future)
    async with hasty.informer(ConfigMap, format="protobuf", namespace=None) as maps:
        assert maps.stats().codec.messages == 1

        with pytest.raises(UnknownFields, match="default/a"):
            maps.lister.get("a", namespace="default")
        await until(lambda: maps.stats().reflector.format == "json" and _is_json(maps))

        found = maps.lister.get("a", namespace="default")

    assert hasty.stats().json_only == ("configmaps",)
    assert found is not None
    assert found.to_dict()["future"] == {"kept": True}


def _is_json(informer: Any) -> bool:
    return all(entry.content.startswith(b"{") for entry in informer.indexer.entries())


def test_the_models_are_of_the_version_that_servers_are_compared_with() -> None:
    import kubeloop.wire._generated.core_v1 as generated

    with open(generated.__file__, encoding="utf-8") as file:  # noqa: PTH123
        assert f"Kubernetes 1.{MODELS_MINOR} " in file.readline()


async def test_metadata_is_protobuf_by_default_and_whole_objects_are_json(
    client: Client, server: APIServer
) -> None:
    await client.core_v1.config_maps().create(ConfigMap(metadata=ObjectMeta(name="a")))

    async with (
        client.informer(ConfigMap, metadata_only=True) as metadata,
        client.informer(ConfigMap, metadata_only=True, format="json") as as_json,
        client.informer(ConfigMap) as whole,
    ):
        formats = [each.stats().reflector.format for each in (metadata, as_json, whole)]
        assert metadata.lister.list() == as_json.lister.list() != []

    assert formats == ["protobuf", "json", "json"]
    assert all(seen.path != "/version" for seen in server.faults.requests)
