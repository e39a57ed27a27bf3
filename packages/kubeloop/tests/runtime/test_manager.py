"""A whole controller process with the embedded server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest

from kubeloop import clients
from kubeloop.crd import crd_of
from kubeloop.election import ElectionTimes, LeadershipLost
from kubeloop.errors import ConfigError, Invalid, InvalidArgument
from kubeloop.kit import running
from kubeloop.meta import GroupVersionKind, ObjectKey, controller_of
from kubeloop.runtime import (
    Client,
    Context,
    LeaderElection,
    Manager,
    Result,
    WatchSource,
)
from kubeloop.wire import Resource
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.coordination.v1 import Lease
from kubeloop.wire.core.v1 import ConfigMap, Event
from kubeloop_testing import APIServer
from tests.support.clocks import FastClock

from .websites import (
    SHOP,
    Website,
    WebsiteSpec,
    WebsiteStatus,
    a_config,
    a_site,
    deployment_for,
    until,
)

Managed = Callable[..., Manager]


def a_website_controller(manager: Manager, **options: Any) -> None:
    @manager.controller(Website, owns=[Deployment], install_crd=True, **options)
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        site = ctx.get(Website, key)
        if site is None:
            return None
        await ctx.client.apply(deployment_for(site), owner=site)
        ctx.recorder.event(site, "Normal", "Applied", "applied %s", site.spec.image)
        site.status = WebsiteStatus(ready=True)
        await ctx.update_status(site)
        return None


async def test_a_class_is_installed_and_its_objects_are_reconciled(
    managed: Managed, client: Client
) -> None:
    manager = managed()
    a_website_controller(manager)

    async with running(manager):
        await manager.wait_ready(timeout=4)
        sites = client.resource(Website)
        await sites.create(a_site("shop", replicas=3))
        site = await sites.wait_for("shop", jsonpath="{.status.ready}=true", timeout=4)
        deployment = await client.resource(Deployment).get("shop")
        manager.stop()
        await until(lambda: manager.stats().state == "ended")

    assert deployment.spec.replicas == 3
    owner = controller_of(deployment)
    assert owner is not None
    assert owner.uid == site.metadata.uid
    assert [event.reason for event in await client.resource(Event).list()] == ["Applied"]


async def test_a_deleted_owned_object_is_created_again(managed: Managed, client: Client) -> None:
    manager = managed()
    a_website_controller(manager)

    async with running(manager):
        await manager.wait_ready(timeout=4)
        await client.resource(Website).create(a_site("shop"))
        deployments = client.resource(Deployment)
        first = await deployments.wait_for("shop", jsonpath="{.metadata.uid}", timeout=4)
        await deployments.delete("shop")
        again = await deployments.wait_for(
            "shop", function=lambda found: found.metadata.uid != first.metadata.uid, timeout=4
        )

    assert again.metadata.name == "shop"


async def test_a_controller_for_a_kind_known_only_by_name(
    managed: Managed, with_sites: Client
) -> None:
    kind = GroupVersionKind("example.com", "v1", "Website")
    manager = managed()
    seen: list[dict[str, Any]] = []

    @manager.controller(kind, owns=[Deployment])
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        site = ctx.get(kind, key)
        if site is not None:
            seen.append(site)

    async with running(manager):
        await with_sites.resource(Website).create(a_site("shop", replicas=2))
        await until(lambda: seen)

    assert seen[0]["kind"] == "Website"
    assert seen[0]["spec"]["replicas"] == 2


async def test_functions_that_map_read_the_managers_caches(
    managed: Managed, with_sites: Client
) -> None:
    manager = managed(namespace="default")
    manager.cache(Website, index={"image": "spec.image"})
    calls: list[ObjectKey] = []

    def sites_with(config: ConfigMap) -> list[ObjectKey]:
        return manager.lister(Website).keys_by_index("image", config.data["image"])

    @manager.controller(Website, watches=[WatchSource(ConfigMap, to=sites_with)])
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        calls.append(key)

    await with_sites.resource(Website).create(a_site("shop"))
    async with running(manager):
        await until(lambda: len(calls) == 1)
        await with_sites.resource(ConfigMap).create(a_config("one", image="other"))
        await with_sites.resource(ConfigMap).create(a_config("two", image="nginx"))
        await until(lambda: len(calls) == 2)

    assert calls == [SHOP, SHOP]


async def test_a_kind_that_is_not_served_yet_delays_no_other_controller(
    server: APIServer, client: Client
) -> None:
    manager = Manager(
        server.config, clock=FastClock(), health="127.0.0.1:0", signals=False, logs=False
    )
    calls: list[str] = []

    @manager.controller(Website)
    async def sites(key: ObjectKey, ctx: Context) -> None:
        calls.append(f"site {key.name}")

    @manager.controller(ConfigMap)
    async def maps(key: ObjectKey, ctx: Context) -> None:
        calls.append(f"map {key.name}")

    async with running(manager):
        await client.resource(ConfigMap).create(a_config("one"))
        await until(lambda: "map one" in calls)
        assert (await page(manager, "/readyz"))[0] == 503
        assert (await page(manager, "/healthz"))[0] == 200
        assert "websites.example.com" in (await page(manager, "/readyz"))[1]

        await client.apply(crd_of(Website))
        await client.resource(Website).create(a_site("shop"))
        await until(lambda: "site shop" in calls)

        assert (await page(manager, "/readyz"))[0] == 200


async def page(manager: Manager, path: str) -> tuple[int, str]:
    address = manager.stats().addresses["metrics" if path == "/metrics" else "health"]
    async with aiohttp.ClientSession() as session, session.get(f"http://{address}{path}") as found:
        return found.status, await found.text()


# --- election

# A lease changes hands quickly, and none runs out because this process had to wait.
QUICK = ElectionTimes(lease_duration=60.0, renew_deadline=40.0, retry_period=0.05)


async def test_of_two_managers_one_works_and_the_other_takes_over(
    managed: Managed, client: Client
) -> None:
    """X-5: no key is reconciled by both, and the lease is released at the end."""
    worked: list[tuple[str, str]] = []

    def candidate(identity: str) -> Manager:
        election = LeaderElection("maps", identity=identity, times=QUICK)
        manager = managed(leader_election=election)

        @manager.controller(ConfigMap)
        async def reconcile(key: ObjectKey, ctx: Context) -> None:
            worked.append((identity, key.name))

        return manager

    first, second = candidate("first"), candidate("second")
    async with running(second_started := _After(first, second)):
        await first.wait_ready(timeout=3)
        second_started.go.set()
        await client.resource(ConfigMap).create(a_config("one"))
        await until(lambda: worked)
        await until(lambda: second.stats().informers and second.stats().informers[0].has_synced)
        assert (first.is_leader, second.is_leader) == (True, False)
        assert worked == [("first", "one")]

        first.stop()
        await second.wait_ready(timeout=3)
        await until(lambda: ("second", "one") in worked)

    assert worked == [("first", "one"), ("second", "one")]


class _After:
    """Two managers, of which the test starts the second."""

    def __init__(self, first: Manager, second: Manager) -> None:
        self.go = asyncio.Event()
        self._first, self._second = first, second

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._first.run())
            await self.go.wait()
            group.create_task(self._second.run())


async def test_a_manager_that_loses_the_lease_ends(managed: Managed, client: Client) -> None:
    manager = managed(leader_election=LeaderElection("maps", identity="us", times=QUICK))
    ended = asyncio.create_task(manager.run())
    leases = client.resource(Lease)
    await until(lambda: manager.is_leader)

    # No precondition: it is renewed all the while.
    await leases.patch("maps", {"spec": {"holderIdentity": "them"}}, type="merge")

    with pytest.raises(LeadershipLost, match="the holder of the lease is them"):
        await ended


def test_times_that_contradict_each_other_are_rejected() -> None:
    with pytest.raises(InvalidArgument, match="lease_duration must be longer"):
        LeaderElection("maps", times=ElectionTimes(lease_duration=5, renew_deadline=10))


def test_a_lease_needs_a_name_that_it_can_have(managed: Managed) -> None:
    with pytest.raises(InvalidArgument, match="leader election 'Not A Name'"):
        managed(leader_election="Not A Name")


# --- endpoints


async def test_the_endpoints_report_health_and_metrics(managed: Managed, client: Client) -> None:
    manager = managed(health="127.0.0.1:0", metrics="127.0.0.1:0", leader_election="maps")
    manager.add_health_check("disk", lambda: True)

    @manager.controller(ConfigMap, name="maps")
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        """Nothing."""

    async with running(manager):
        await manager.wait_ready(timeout=4)
        await client.resource(ConfigMap).create(a_config("one"))
        await until(lambda: manager.stats().controllers[0].succeeded)

        assert await page(manager, "/healthz") == (
            200,
            "[+]disk ok\n[+]streams ok\n[+]leadership ok\npassed\n",
        )
        status, text = await page(manager, "/metrics")

    assert status == 200
    for line in (
        'controller_runtime_reconcile_total{controller="maps",result="success"} 1.0',
        'controller_runtime_reconcile_total{controller="maps",result="error"} 0.0',
        'workqueue_adds_total{name="maps"} 1.0',
        'leader_election_master_status{name="maps"} 1.0',
        "rest_client_requests_total",
        "reflector_",
        "process_resident_memory_bytes",
    ):
        assert line in text


async def test_an_address_in_use_is_an_error_at_the_start(managed: Managed) -> None:
    first = managed(health="127.0.0.1:0")
    async with running(first):
        await until(lambda: first.stats().addresses)
        taken = first.stats().addresses["health"]

        with pytest.raises(ConfigError, match=f"listen at {taken}"):
            await managed(health=taken).run()


@pytest.mark.parametrize("address", ["here", "host:", "1:2:port", 70000, ":99999"])
def test_an_invalid_address_is_rejected(managed: Managed, address: Any) -> None:
    with pytest.raises(InvalidArgument, match="no port"):
        managed(health=address)


async def test_a_manager_runs_once_and_accepts_declarations_only_before(managed: Managed) -> None:
    manager = managed()
    with pytest.raises(InvalidArgument, match="does not run yet"):
        _ = manager.client
    async with running(manager):
        await until(lambda: manager.stats().state == "running")

        with pytest.raises(InvalidArgument, match="run: the manager is running"):
            await manager.run()
        with pytest.raises(InvalidArgument, match="declare a cache: the manager is running"):
            manager.cache(ConfigMap)


def test_two_controllers_need_two_names(managed: Managed) -> None:
    manager = managed()

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        """Nothing."""

    assert manager.controller(ConfigMap)(reconcile) is reconcile

    with pytest.raises(InvalidArgument, match="'configmap': the name is in use"):
        manager.controller(ConfigMap)(reconcile)
    with pytest.raises(InvalidArgument, match="declared already"):
        manager.cache(ConfigMap, selector="app=web")


async def test_a_client_of_the_users_own_is_used_and_left_open(server: APIServer) -> None:
    own: clients.APIClient = clients.APIClient(server.config)
    manager = Manager(own, signals=False, logs=False, tune_gc=False)
    async with running(manager):
        await until(lambda: manager.stats().state == "running")

    assert (await own.version()).minor
    await own.aclose()


async def test_a_manager_applies_as_its_field_manager_with_any_client(
    client: Client,
) -> None:
    manager = Manager(
        client, field_manager="site-controller", signals=False, logs=False, tune_gc=False
    )
    async with running(manager):
        await until(lambda: manager.stats().state == "running")
        applied = await manager.client.apply(a_config("one", a="b"))

    assert [each.manager for each in applied.metadata.managed_fields] == ["site-controller"]


async def test_keys_can_be_enqueued_by_hand(managed: Managed) -> None:
    manager = managed()
    calls: list[ObjectKey] = []

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        calls.append(key)

    async with running(manager):
        await manager.wait_ready(timeout=4)
        manager.enqueue("configmap", SHOP)
        await until(lambda: calls)
        with pytest.raises(InvalidArgument, match="no controller 'other'; available: configmap"):
            manager.enqueue("other", SHOP)
        with pytest.raises(InvalidArgument, match="'shop': not a key"):
            manager.enqueue("configmap", cast("ObjectKey", "shop"))

    assert calls == [SHOP]


class GatedSite(Resource, group="gates.k8s.io", version="v1", plural="gates"):
    spec: WebsiteSpec


@pytest.mark.parametrize("first", ["install_crd", "controller"])
async def test_a_definition_is_installed_with_its_labels_and_annotations(
    managed: Managed, client: Client, first: str
) -> None:
    """A protected group is rejected without an annotation."""
    manager = managed()

    async def reconcile(key: ObjectKey, ctx: Context) -> None: ...

    if first == "controller":
        manager.controller(GatedSite, install_crd=True)(reconcile)
    approved = {"api-approved.kubernetes.io": "unapproved, for a test"}
    manager.install_crd(GatedSite, labels={"app": "gates"}, annotations=approved)
    if first == "install_crd":
        manager.controller(GatedSite, install_crd=True)(reconcile)
    async with running(manager):
        await manager.wait_ready(timeout=4)
        crd = await client.resource(CustomResourceDefinition).get("gates.gates.k8s.io")

    assert crd.metadata.labels == {"app": "gates"}
    assert approved.items() <= crd.metadata.annotations.items()


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"no key!": "x"}},
        {"labels": {"a": "no value!"}},
        {"annotations": {"no key!": ""}},
    ],
)
def test_invalid_labels_and_annotations_are_rejected(
    metadata: dict[str, Any],
) -> None:
    with pytest.raises(InvalidArgument, match=r"no key!|no value!"):
        Manager().install_crd(Website, **metadata)


def test_nothing_is_read_or_opened_before_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing kubeconfig and an address in use do not matter until then."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        manager = Manager(health=address, metrics=address, leader_election="maps")
        manager.cache(ConfigMap)

    assert manager.stats().state == "new"


async def test_a_protected_group_needs_its_annotation(managed: Managed) -> None:
    manager = managed()
    manager.install_crd(GatedSite)

    with pytest.raises(Invalid, match=r"api-approved\.kubernetes\.io"):
        await manager.run()
