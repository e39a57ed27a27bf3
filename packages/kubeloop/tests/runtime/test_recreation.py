"""Objects deleted and created again during a watch gap, as informers and controllers see it."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.cache import Change, SharedInformer, SharedInformerFactory
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, WatchSource
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop_testing import APIServer
from kubeloop_testing.server.faults import Match
from tests.support.clocks import FastClock

from .harness import ControllerHarness
from .websites import a_config, a_site, deployment_for, until


async def recreate_in_a_gap(server: APIServer, *, value: str) -> tuple[str, str]:
    """Delete the map and create it again while watches hang; returns both uids."""
    release = server.faults.hold(Match(verb="watch"))
    server.drop_connections()
    async with Client(server.config) as other:
        maps = other.core_v1.config_maps()
        old = await maps.get("settings")
        await maps.delete("settings")
        new = await maps.create(a_config("settings", value=value))
    server.expire_history()
    release()
    assert old.metadata.uid
    assert new.metadata.uid
    return old.metadata.uid, new.metadata.uid


def summary(change: Change[Any]) -> tuple[str, str, bool]:
    entry = change.new_entry or change.old_entry
    assert entry is not None
    return str(change.type), entry.uid, change.is_recreation


@pytest.mark.parametrize("form", ["typed", "dict", "metadata", "factory", "factory metadata"])
async def test_every_informer_reports_a_re_creation_as_a_delete_and_an_add(
    server: APIServer, form: str
) -> None:
    async with Client(server.config, clock=FastClock()) as client:
        await client.core_v1.config_maps().create(a_config("settings", value="old"))
        async with SharedInformerFactory(client, clock=FastClock()) as factory:
            made: dict[str, SharedInformer[Any]] = {
                "typed": client.informer(ConfigMap, namespace="default"),
                "dict": client.informer(ConfigMap, model=dict, namespace="default"),
                "metadata": client.informer(ConfigMap, metadata_only=True, namespace="default"),
                "factory": factory.informer(ConfigMap, namespace="default"),
                "factory metadata": factory.metadata_informer(ConfigMap, namespace="default"),
            }
            maps = made[form]
            changes: list[tuple[str, str, bool]] = []
            deleted: list[Any] = []
            maps.add_handler(on_change=lambda change: changes.append(summary(change)))
            maps.add_handler(on_delete=deleted.append)
            async with maps:
                old, new = await recreate_in_a_gap(server, value="new")
                await until(lambda: len(changes) == 3)

                assert changes == [
                    ("Added", old, False),
                    ("Deleted", old, True),
                    ("Added", new, True),
                ]
                assert len(deleted) == 1


OWNER = {"apiVersion": "example.com/v1", "kind": "Website", "uid": "1", "controller": True}


async def test_owners_of_the_old_and_of_the_new_object_are_reconciled(
    harness: ControllerHarness,
) -> None:
    owned = harness.informer_client.source(Deployment)
    seen: list[tuple[str, bool]] = []

    def note(change: Change[Any]) -> bool:
        seen.append((str(change.type), change.is_recreation))
        return True

    async with harness.running(owns=(WatchSource(Deployment, predicates=[note]),)):
        web = deployment_for(a_site("web"))
        owned.put(web, uid="1", ownerReferences=[{**OWNER, "name": "first"}])
        await harness.clock.settle()
        owned.put(web, uid="2", ownerReferences=[{**OWNER, "name": "second"}])
        await harness.clock.settle()

    assert harness.names() == ["first", "first", "second"]
    assert seen == [("Added", False), ("Deleted", True), ("Added", True)]


async def test_mapped_keys_of_the_old_and_of_the_new_object_are_reconciled(
    harness: ControllerHarness,
) -> None:
    configs = harness.informer_client.source(ConfigMap)

    def site_of(config: ConfigMap) -> list[ObjectKey]:
        return [ObjectKey("default", config.data["site"])]

    async with harness.running(watches=(WatchSource(ConfigMap, site_of),)):
        configs.put(a_config("settings", site="one"), uid="1")
        await harness.clock.settle()
        configs.put(a_config("settings", site="two"), uid="2")
        await harness.clock.settle()

    assert harness.names() == ["one", "one", "two"]


async def test_an_owner_is_reconciled_though_the_final_state_does_not_name_it_any_more(
    harness: ControllerHarness,
) -> None:
    """The final state may be newer than the last one that the handler was notified of."""
    owned = harness.informer_client.source(Deployment)
    configs = harness.informer_client.source(ConfigMap)

    def site_of(config: ConfigMap) -> list[ObjectKey]:
        return [ObjectKey("default", config.data["site"])]

    async with harness.running(
        owns=(WatchSource(Deployment),), watches=(WatchSource(ConfigMap, site_of),)
    ):
        web = owned.put(deployment_for(a_site("web")), ownerReferences=[{**OWNER, "name": "shop"}])
        settings = configs.put(a_config("settings", site="one"))
        await harness.clock.settle()
        owned._objects[web]["metadata"]["ownerReferences"] = []
        configs._objects[settings]["data"] = {"site": "two"}
        owned.drop(web)
        configs.drop(settings)
        await harness.clock.settle()

    assert harness.names()[:2] == ["shop", "one"]
    assert sorted(harness.names()[2:]) == ["one", "shop", "two"]
