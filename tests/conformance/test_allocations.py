"""Cluster addresses and node ports: what is in use, and what a write that stores nothing frees."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import pytest_asyncio

from tests.conformance.raw_client import MERGE, RawClient
from tests.conformance.samples import service

_numbers = itertools.count(100)


class _Free:
    """An address and a node port that no other test uses."""

    def __init__(self, network: str) -> None:
        number = next(_numbers)
        self.address = f"{network}.{number}"
        self.port = 30_000 + number


@pytest_asyncio.fixture(loop_scope="session")
async def free(api: RawClient) -> _Free:
    found = await api.get("/api/v1/namespaces/default/services/kubernetes")
    return _Free(found.spec["clusterIP"].rpartition(".")[0])


def _service(free: _Free, name: str = "web", **spec: Any) -> dict[str, Any]:
    ports = [{"port": 80, "nodePort": free.port}]
    return service(name, type="NodePort", clusterIP=free.address, ports=ports, **spec)


_HEALTH = {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}


async def test_a_dry_run_of_a_create_allocates_nothing(api: RawClient, free: _Free) -> None:
    path = api.at("services")
    checked = {**_HEALTH, "healthCheckNodePort": free.port + 1000}
    assert (await api("POST", path, _service(free), query={"dryRun": "All"})).code == 201
    with_check = _service(free)
    with_check["spec"] |= checked
    assert (await api("POST", path, with_check, query={"dryRun": "All"})).code == 201

    created = await api("POST", path, with_check)

    assert created.code == 201, created


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"sessionAffinity": "Sometimes"}},
        {"metadata": {"name": "Web_1"}},
        {"spec": {**_HEALTH, "healthCheckNodePort": 1}},
    ],
)
async def test_a_rejected_create_allocates_nothing(
    api: RawClient, free: _Free, change: dict[str, Any]
) -> None:
    body = _service(free)
    wrong = {**body, **{key: {**body[key], **value} for key, value in change.items()}}
    assert (await api("POST", api.at("services"), wrong)).code in {422, 500}

    created = await api("POST", api.at("services"), body)

    assert created.code == 201, created


async def test_a_create_of_a_name_that_exists_allocates_nothing(
    api: RawClient, free: _Free
) -> None:
    await api.create(api.at("services"), service("web"))
    assert (await api("POST", api.at("services"), _service(free))).code == 409

    created = await api("POST", api.at("services"), _service(free, "other"))

    assert created.code == 201, created


async def test_a_dry_run_of_an_apply_allocates_nothing(api: RawClient, free: _Free) -> None:
    path = api.at("services", "web")
    assert (await api.apply(path, _service(free), dryRun="All")).code == 201

    assert (await api.apply(path, _service(free))).code == 201


@pytest.mark.parametrize(
    ("change", "query", "code"),
    [
        ({}, {"dryRun": "All"}, 200),
        ({"spec": {"sessionAffinity": "Sometimes"}}, {}, 422),
        ({"metadata": {"resourceVersion": "1"}}, {}, 409),
    ],
)
async def test_an_update_that_stores_nothing_changes_no_allocation(
    api: RawClient, free: _Free, change: dict[str, Any], query: dict[str, str], code: int
) -> None:
    await api.create(api.at("services"), _service(free))
    other = free.port + 1000
    ports = [{"port": 80, "nodePort": other}]
    body = {**change, "spec": {"ports": ports, **change.get("spec", {})}}
    reply = await api.patch(api.at("services", "web"), body, MERGE, **query)
    assert reply.code == code, reply

    old_port = service("old", type="NodePort", ports=[{"port": 80, "nodePort": free.port}])
    new_port = service("new", type="NodePort", ports=[{"port": 80, "nodePort": other}])

    assert (await api("POST", api.at("services"), old_port)).code == 422
    assert (await api("POST", api.at("services"), new_port)).code == 201


async def test_an_update_frees_what_the_service_no_longer_uses(api: RawClient, free: _Free) -> None:
    await api.create(api.at("services"), _service(free))
    external = {"type": "ExternalName", "externalName": "a.example.com", "ports": None}
    external |= {"clusterIP": None, "clusterIPs": None}
    path = api.at("services", "web")
    assert (await api.patch(path, {"spec": external}, dryRun="All")).code == 200
    assert (await api("POST", api.at("services"), _service(free, "other"))).code == 422

    assert (await api.patch(path, {"spec": external})).code == 200

    assert (await api("POST", api.at("services"), _service(free, "other"))).code == 201


async def test_the_address_of_the_service_kubernetes_is_in_use(api: RawClient) -> None:
    taken = (await api.get("/api/v1/namespaces/default/services/kubernetes")).spec["clusterIP"]

    reply = await api("POST", api.at("services"), service("web", clusterIP=taken))

    assert (reply.code, reply.causes) == (422, [("spec.clusterIPs", "FieldValueInvalid")])


async def test_two_ports_of_a_service_cannot_share_a_node_port(api: RawClient, free: _Free) -> None:
    ports = [{"name": str(n), "port": n, "nodePort": free.port} for n in (80, 81)]

    reply = await api("POST", api.at("services"), service("web", type="NodePort", ports=ports))

    assert (reply.code, reply.causes) == (422, [("spec.ports[1].nodePort", "FieldValueInvalid")])
    assert (await api("POST", api.at("services"), _service(free))).code == 201
