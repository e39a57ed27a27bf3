"""The embedded server behind the interface that tests use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubeloop import Forbidden, NotFound, TransportError, Unauthorized
from kubeloop.clients import APIClient
from kubeloop.config import ClusterConfig
from kubeloop.errors import TooManyRequests
from kubeloop.meta import GroupResource, GroupVersionResource, ObjectKey
from kubeloop.wire.core.v1 import ConfigMap, Namespace
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import (
    APIServer,
    Match,
    Reply,
    SeenRequest,
    StatusError,
    StoredChange,
    User,
    running_in_thread,
)
from kubeloop_testing.server.statuses import bad_request

MANIFESTS = """
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: nightly, namespace: jobs}
spec: {schedule: "0 3 * * *"}
---
apiVersion: v1
kind: Namespace
metadata: {name: jobs}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {schedule: {type: string}}}}
"""


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name))


async def test_a_client_is_closed_with_its_server() -> None:
    async with APIServer() as server:
        client = server.client()
        await client.core_v1.config_maps("default").create(config_map("web"))

    with pytest.raises((TransportError, RuntimeError)):
        await client.core_v1.config_maps("default").get("web")


async def test_manifests_are_applied_before_the_block_in_any_order(
    tmp_path: Path,
) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(MANIFESTS)

    async with APIServer(manifests=[path]) as server:
        tabs = server.client().resource("stable.example.com/v1", "CronTab", namespace="jobs")

        assert (await tabs.get("nightly"))["spec"] == {"schedule": "0 3 * * *"}


async def test_an_invalid_manifest_is_reported_and_stops_the_server(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: nowhere}")
    server = APIServer(manifests=[path])

    with pytest.raises(NotFound, match="nowhere"):
        async with server:
            pass

    async with APIClient(ClusterConfig(server=server.url)) as client:
        with pytest.raises(TransportError):
            await client.core_v1.namespaces().list()


@pytest.mark.parametrize(
    "options", [{}, {"tls": True}, {"rbac": True}, {"tls": True, "rbac": True}]
)
async def test_the_kubeconfig_has_the_content_of_the_config(options: dict[str, Any]) -> None:
    async with APIServer(**options) as server:
        config = ClusterConfig.from_kubeconfig(server.kubeconfig())
        async with APIClient(config) as client:
            await client.core_v1.namespaces().get("default")

        ours = server.config
        assert (config.server, config.ca, config.token) == (ours.server, ours.ca, ours.token)


async def test_a_token_authenticates_its_user_and_no_token_is_rejected() -> None:
    async with APIServer(tokens={"secret": User("jane")}) as server:
        jane = server.client(server.config.replace(token="secret"))
        anonymous = server.client(server.config.without_credentials())

        await jane.core_v1.namespaces().get("default")
        with pytest.raises(Unauthorized):
            await anonymous.core_v1.namespaces().get("default")
        assert [seen.user for seen in server.requests] == ["jane", ""]


async def test_with_roles_a_request_without_credentials_is_anonymous() -> None:
    async with APIServer(rbac=True) as server:
        anonymous = server.client(server.config.without_credentials())
        invalid = server.client(server.config.replace(token="wrong"))

        assert (await anonymous.discovery.version()).git_version
        with pytest.raises(Forbidden, match='User "system:anonymous" cannot get resource'):
            await anonymous.core_v1.namespaces().get("default")
        with pytest.raises(Unauthorized):
            await invalid.discovery.version()


@pytest.mark.parametrize("options", [{}, {"rbac": True}, {"tokens": {"secret": User("jane")}}])
async def test_without_anonymous_auth_every_request_needs_credentials(
    options: dict[str, Any],
) -> None:
    async with APIServer(**options, anonymous_auth=False) as server:
        anonymous = server.client(server.config.without_credentials())

        assert (await server.client().discovery.version()).git_version
        with pytest.raises(Unauthorized):
            await anonymous.discovery.version()


async def test_data_in_a_file_survives(tmp_path: Path) -> None:
    path = tmp_path / "dev.db"
    async with APIServer(data=path) as server:
        await server.client().core_v1.config_maps("default").create(config_map("web"))

    async with APIServer(data=path) as server:
        await server.client().core_v1.config_maps("default").get("web")


async def test_requests_are_recorded() -> None:
    async with APIServer() as server:
        await server.client().core_v1.config_maps("default").create(config_map("web"))

    (seen,) = server.requests
    assert (seen.verb, seen.resource, seen.namespace) == ("create", "configmaps", "default")
    assert seen.json()["metadata"] == {"name": "web"}


async def test_a_reactor_can_reply_reject_or_pass_a_request_on() -> None:
    def react(seen: SeenRequest) -> Reply | None:
        if seen.name == "refused":
            raise bad_request("not today")
        return Reply(body={"kind": "ConfigMap", "data": {"a": "b"}}) if seen.name == "web" else None

    async with APIServer() as server:
        server.faults.reactors.append(react)
        maps = server.client().core_v1.config_maps("default")

        assert (await maps.get("web")).data == {"a": "b"}
        with pytest.raises(Exception, match="not today"):
            await maps.get("refused")
        with pytest.raises(NotFound):
            await maps.get("other")
    assert issubclass(StatusError, Exception)


async def test_a_fault_is_injected_as_often_as_requested() -> None:
    async with APIServer() as server:
        server.faults.fail(429, times=2, match=Match(resource="configmaps"))
        maps = server.client().core_v1.config_maps("default")

        for _ in range(2):
            with pytest.raises(TooManyRequests):
                await maps.list()
        assert (await maps.list()).items == []


async def test_ca_and_token_can_be_rotated_while_the_server_runs() -> None:
    async with APIServer(tls=True, rbac=True) as server:
        before = server.config
        server.rotate_ca()
        server.rotate_token()
        server.drop_connections()

        assert before.ca != server.config.ca
        assert before.token != server.config.token
        await server.client().core_v1.namespaces().get("default")


async def test_a_test_can_set_the_log_of_a_container() -> None:
    async with APIServer() as server:
        server.set_log("default", "web", "hello\n")

        assert server.stats().url == server.url


async def test_a_server_that_was_restarted_while_it_refused_connections_accepts_them() -> None:
    async with APIServer() as server:
        await server.refuse_connections()
        await server.restart()  # listens again
        await server.accept_connections()

        found = await server.client().resource(ConfigMap, namespace="default").list()

    assert found.version


# --- what is stored


async def test_stored_objects_are_read_without_a_request() -> None:
    async with APIServer() as server:
        maps = server.client().core_v1.config_maps("default")
        created = await maps.create(config_map("web"))
        requests = len(server.requests)

        found = server.find(ConfigMap, "web", namespace="default")

        assert found == created
        assert server.objects(ConfigMap, namespace="default") == [created]
        assert server.objects(ConfigMap, namespace="other") == []
        assert server.find(ConfigMap, "other", namespace="default") is None
        assert server.version == int(created.metadata.resource_version)
        assert GroupResource("", "configmaps") in server.resources()
        assert len(server.requests) == requests


async def test_stored_objects_are_the_readers_own() -> None:
    async with APIServer() as server:
        maps = server.client().core_v1.config_maps("default")
        await maps.create(ConfigMap(metadata=ObjectMeta(name="web"), data={"color": "blue"}))
        resource = GroupResource("", "configmaps")

        server.objects(resource, namespace="default")[0]["data"]["color"] = "red"

        found = server.find(resource, "web", namespace="default")
        assert found is not None
        assert found["data"] == {"color": "blue"}


async def test_a_resource_is_served_when_its_crd_is(tmp_path: Path) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(MANIFESTS)
    resource = GroupVersionResource("stable.example.com", "v1", "crontabs")
    async with APIServer() as server:
        assert not server.serves(resource)
        await server.load(path)
        assert server.serves(resource)


async def test_a_listener_is_called_with_each_write_also_after_a_restart() -> None:
    changes: list[StoredChange] = []
    async with APIServer() as server:
        server.subscribe(changes.append)
        maps = server.client().core_v1.config_maps("default")
        await maps.create(config_map("web"))
        await server.restart()
        await maps.delete("web")
        version = server.version

    created, deleted = changes
    assert created.resource == deleted.resource == GroupResource("", "configmaps")
    assert created.key == deleted.key == ObjectKey("default", "web")
    assert created.old is None
    assert deleted.old == created.new
    assert deleted.new is None
    assert deleted.version == version


def test_stored_objects_are_read_from_other_threads() -> None:
    with running_in_thread(APIServer()) as server:
        assert server.find(Namespace, "default") is not None
        assert server.version > 0
