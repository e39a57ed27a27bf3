"""Concurrent writers of one object: a write that is reported as successful is stored."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubeloop.clients import APIClient, ResourceClient
from kubeloop.errors import Conflict, InvalidArgument
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from tests.conformance.samples import deployment
from tests.conformance.widgets import GROUP, CustomKind

WRITERS, ROUNDS = 20, 4


async def a_map(client: APIClient, **data: str) -> ResourceClient[ConfigMap]:
    maps = client.resource(ConfigMap)
    await maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data=data))
    return maps


async def data_of(maps: ResourceClient[ConfigMap]) -> dict[str, str]:
    return dict((await maps.get("a")).data)


def increase(found: ConfigMap) -> None:
    found.data["next"] = str(int(found.data["next"]) + 1)


@pytest.mark.timeout(60)
async def test_every_increment_by_edit_is_stored_or_a_conflict(client: APIClient) -> None:
    maps = await a_map(client, next="0")
    stored = 0
    refused: set[str | None] = set()

    async def writer() -> None:
        nonlocal stored
        for _ in range(ROUNDS):
            try:
                async with maps.edit("a") as found:
                    increase(found)
            except Conflict as error:
                refused.add(error.causes[0].field)
            else:
                stored += 1

    await asyncio.gather(*(writer() for _ in range(WRITERS)))

    assert 0 < stored <= WRITERS * ROUNDS
    assert refused <= {"data.next"}
    assert await data_of(maps) == {"next": str(stored)}


@pytest.mark.timeout(60)
async def test_modify_stores_every_increment(client: APIClient) -> None:
    maps = await a_map(client, next="0")

    async def writer() -> None:
        for _ in range(ROUNDS):
            await maps.modify("a", increase)

    await asyncio.gather(*(writer() for _ in range(WRITERS)))

    assert await data_of(maps) == {"next": str(WRITERS * ROUNDS)}


@pytest.mark.timeout(60)
async def test_edits_of_other_fields_are_all_stored(client: APIClient) -> None:
    maps = await a_map(client)

    async def writer(number: int) -> None:
        for turn in range(ROUNDS):
            async with maps.edit("a") as found:
                found.data[f"w{number}-{turn}"] = "x"

    await asyncio.gather(*(writer(number) for number in range(WRITERS)))

    assert len(await data_of(maps)) == WRITERS * ROUNDS


async def leave(maps: ResourceClient[ConfigMap], doctor: str, *, strict: bool) -> None:
    """Go off duty if another doctor stays."""
    async with maps.edit("a", strict=strict) as duty:
        if any(duty.data[each] == "on" for each in duty.data if each != doctor):
            duty.data[doctor] = "off"


async def test_of_two_doctors_only_one_leaves_with_a_strict_edit(client: APIClient) -> None:
    maps = await a_map(client, ann="on", bob="on")

    with pytest.raises(Conflict, match="modified"):  # noqa: PT012 - raised at the end
        async with maps.edit("a", strict=True) as duty:
            assert duty.data["bob"] == "on"
            duty.data["ann"] = "off"
            await leave(maps, "bob", strict=True)
    await leave(maps, "ann", strict=True)

    assert await data_of(maps) == {"ann": "on", "bob": "off"}


async def test_a_strict_edit_that_changes_nothing_sends_nothing(client: APIClient) -> None:
    maps = await a_map(client, k="1")

    async with maps.edit("a", strict=True):
        await maps.patch("a", {"data": {"k": "2"}}, type="merge")

    assert await data_of(maps) == {"k": "2"}


async def test_the_same_value_written_by_two_is_a_conflict(client: APIClient) -> None:
    maps = await a_map(client, next="5")

    with pytest.raises(Conflict, match=r"changed data\.next since it was read") as caught:  # noqa: PT012
        async with maps.edit("a") as mine:
            increase(mine)
            async with maps.edit("a") as theirs:
                increase(theirs)

    assert [cause.field for cause in caught.value.causes] == ["data.next"]
    assert await data_of(maps) == {"next": "6"}


async def test_another_container_is_merged_and_the_same_one_is_a_conflict(
    client: APIClient,
) -> None:
    deployments = client.resource(Deployment)
    made = deployment("web")
    containers = made["spec"]["template"]["spec"]["containers"]
    containers[:] = [{"name": name, "image": "nginx:1"} for name in ("web", "log")]
    await client.resource("apps/v1", "Deployment").create(made)

    async with deployments.edit("web") as mine:
        mine.spec.template.spec.containers[0].image = "nginx:2"
        async with deployments.edit("web") as theirs:
            theirs.spec.template.spec.containers[1].image = "nginx:3"
            theirs.spec.replicas = 2
    with pytest.raises(  # noqa: PT012 - raised at the end
        Conflict, match=r"changed spec\.template\.spec\.containers\[name=web\]\.image since"
    ):
        async with deployments.edit("web") as mine:
            mine.spec.template.spec.containers[0].image = "nginx:4"
            async with client.resource("apps/v1", "Deployment").edit("web") as plain:
                plain["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:5"

    found = await deployments.get("web")
    assert [each.image for each in found.spec.template.spec.containers] == ["nginx:5", "nginx:3"]
    assert found.spec.replicas == 2


async def test_a_custom_kind_is_edited_with_its_subresources(
    client: APIClient, widgets: CustomKind
) -> None:
    things = client.resource(f"{GROUP}/v1", widgets.kind)
    await things.create(
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": widgets.kind,
            "metadata": {"name": "w", "finalizers": ["example.com/a"]},
            "spec": {"size": 1},
        }
    )

    async with things.edit("w") as mine:
        mine["metadata"]["finalizers"].append("example.com/b")
        async with things.edit("w") as theirs:
            theirs["metadata"]["finalizers"] = ["example.com/c"]
            theirs["spec"]["size"] = 2
    found = await things.get("w")
    assert found["metadata"]["finalizers"] == ["example.com/c", "example.com/b"]
    assert found["spec"]["size"] == 2

    async with things.status.edit("w") as mine:
        mine["status"] = {"note": "seen"}
        async with things.subresource("scale").edit("w") as scale:
            scale.spec.replicas = 3
    async with things.edit("w") as mine:
        mine["metadata"]["finalizers"] = []
    assert (mine["spec"]["size"], mine["status"]["note"]) == (3, "seen")


async def test_a_recreated_object_is_a_conflict_that_names_the_reason(
    client: APIClient,
) -> None:
    maps = await a_map(client, k="1")

    with pytest.raises(Conflict, match="deleted and created again since it was read"):  # noqa: PT012
        async with maps.edit("a") as mine:
            mine.data["mine"] = "x"
            await maps.delete("a")
            await a_map(client, k="1")

    assert await data_of(maps) == {"k": "1"}


async def test_a_patch_with_the_version_and_uid_of_an_earlier_object_is_a_conflict(
    client: APIClient,
) -> None:
    maps = await a_map(client, k="1")
    old = await maps.get("a")
    await maps.delete("a")
    await a_map(client, k="1")

    for kind in ("merge", "strategic"):
        precondition = {"resourceVersion": old.metadata.resource_version, "uid": old.metadata.uid}
        patch: dict[str, Any] = {"metadata": precondition, "data": {"k": "2"}}
        with pytest.raises(Conflict):
            await maps.patch("a", patch, type=kind)


async def test_a_stale_object_is_rejected_as_an_update_and_as_a_patch(client: APIClient) -> None:
    maps = await a_map(client, k="1")
    stale = await maps.get("a")
    await maps.patch("a", {"data": {"theirs": "x"}}, type="merge")

    stale.data["k"] = "2"
    with pytest.raises(Conflict):
        await maps.update(stale)
    for kind in ("merge", "strategic"):
        with pytest.raises(Conflict):
            await maps.patch("a", stale, type=kind)

    assert await data_of(maps) == {"k": "1", "theirs": "x"}


async def test_an_object_without_a_version_replaces_another_only_on_demand(
    client: APIClient,
) -> None:
    maps = await a_map(client, k="1")
    mine = ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "2"})

    with pytest.raises(InvalidArgument, match="no resourceVersion"):
        await maps.update(mine)
    assert await data_of(maps) == {"k": "1"}

    await maps.update(mine, unconditional=True)
    assert await data_of(maps) == {"k": "2"}

    stale = await maps.get("a")
    await maps.patch("a", {"data": {"k": "3"}}, type="merge")
    await maps.update(stale, unconditional=True)
    assert await data_of(maps) == {"k": "2"}


async def test_a_change_that_the_server_would_ignore_is_rejected(client: APIClient) -> None:
    deployments = client.resource(Deployment)
    await client.resource("apps/v1", "Deployment").create(deployment("web"))

    with pytest.raises(InvalidArgument, match=r"ignores changes of status .*\.status"):
        async with deployments.edit("web") as web:
            web.status.replicas = 7
    with pytest.raises(InvalidArgument, match="ignores changes of spec here"):
        async with deployments.status.edit("web") as web:
            web.spec.replicas = 7

    async with deployments.status.edit("web") as web:
        web.status.replicas = 7
    async with deployments.scale.edit("web") as scale:
        scale.spec.replicas = 3
    found = await deployments.get("web")
    assert (found.status.replicas, found.spec.replicas) == (7, 3)
