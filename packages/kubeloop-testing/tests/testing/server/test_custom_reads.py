"""Custom objects are read by the schemas that their definition has now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from kubeloop_testing.server import Service
from tests.testing.server.conftest import MERGE, Api
from tests.testing.server.server_objects import DEFINITIONS

THINGS = "/apis/example.com/v1/namespaces/default/things"
THING = f"{DEFINITIONS}/things.example.com"


def _version(name: str = "v1", *, storage: bool = True, **fields: Any) -> dict[str, Any]:
    spec = {"type": "object", "properties": fields}
    schema = {"type": "object", "properties": {"spec": spec}}
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
    }


def _definition(*versions: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "things", "kind": "Thing"},
            "scope": "Namespaced",
            "versions": list(versions),
        },
    }


def _thing(**spec: Any) -> dict[str, Any]:
    return {
        "kind": "Thing",
        "apiVersion": "example.com/v1",
        "metadata": {"name": "a"},
        "spec": spec,
    }


TEXT = {"type": "string"}
RED = {"type": "string", "default": "red"}


async def _change(api: Api, *versions: dict[str, Any]) -> None:
    patch = {"spec": {"versions": list(versions)}}
    reply = await api("PATCH", THING, patch, headers={"Content-Type": MERGE})
    assert reply.code == 200, reply


async def test_a_read_does_not_change_the_resource_version(api: Api) -> None:
    await api.create(DEFINITIONS, _definition(_version(size=TEXT, color=TEXT)))
    created = await api.create(THINGS, _thing(size="1", color="blue"))
    await _change(api, _version(size=TEXT, shape=RED))

    found = await api.get(f"{THINGS}/a")

    assert found.json["spec"] == {"size": "1", "shape": "red"}
    assert found.json["metadata"] == created.json["metadata"]


async def test_watch_events_of_the_past_have_the_new_schema(api: Api) -> None:
    await api.create(DEFINITIONS, _definition(_version(size=TEXT, color=TEXT)))
    created = await api.create(THINGS, _thing(size="1", color="blue"))
    await api("DELETE", f"{THINGS}/a")
    await _change(api, _version(size=TEXT))

    before = str(int(created.json["metadata"]["resourceVersion"]) - 1)
    stream = await api.get(THINGS, watch="1", timeoutSeconds="1", resourceVersion=before)

    events = [msgspec.json.decode(line) for line in stream.raw.splitlines()]
    assert [each["type"] for each in events] == ["ADDED", "DELETED"]
    assert all(each["object"]["spec"] == {"size": "1"} for each in events)


async def test_a_restart_keeps_what_is_stored_and_reads_by_the_schema(tmp_path: Path) -> None:
    data = tmp_path / "dev.db"
    async with Service(data=data) as server, aiohttp.ClientSession(server.url) as session:
        api = Api(session)
        await api.create(DEFINITIONS, _definition(_version(size=TEXT, color=TEXT)))
        await api.create(THINGS, _thing(size="1", color="blue"))
        await _change(api, _version(size=TEXT, shape=RED))

    async with Service(data=data) as server, aiohttp.ClientSession(server.url) as session:
        api = Api(session)
        pruned = await api.get(f"{THINGS}/a")
        await _change(api, _version(size=TEXT, color=TEXT))
        restored = await api.get(f"{THINGS}/a")

    assert pruned.json["spec"] == {"size": "1", "shape": "red"}
    assert restored.json["spec"] == {"size": "1", "color": "blue"}


async def test_a_version_shows_an_object_of_a_former_storage_version_directly(api: Api) -> None:
    one, two = _version(one=TEXT), _version("v2", storage=False, two=TEXT)
    await api.create(DEFINITIONS, _definition(one, two))
    await api.create(THINGS, _thing(one="1"))
    await _change(api, {**one, "storage": False}, {**two, "storage": True})

    # By way of the new storage version the field would be lost.
    found = await api.get(f"{THINGS}/a")

    assert found.json["spec"] == {"one": "1"}


async def test_a_table_has_the_converted_objects(api: Api) -> None:
    columns = [{"name": "Two", "type": "string", "jsonPath": ".spec.two"}]
    two = {**_version("v2", storage=False, two=TEXT), "additionalPrinterColumns": columns}
    await api.create(DEFINITIONS, _definition(_version(two=RED), two))
    await api.create(THINGS, _thing())

    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    found = await api("GET", THINGS.replace("v1", "v2"), headers=accept)

    assert found.json["rows"][0]["cells"] == ["a", "red"]


async def test_an_update_that_stores_the_same_keeps_the_resource_version(api: Api) -> None:
    two = _version("v2", storage=False, two=TEXT, size=TEXT)
    await api.create(DEFINITIONS, _definition(_version(one=RED, size=TEXT), two))
    things = THINGS.replace("v1", "v2")
    thing = {**_thing(size="1"), "apiVersion": "example.com/v2"}
    created = await api.create(things, thing)
    # Only the storage version adds a default, and it is not stored.
    patch = {"spec": {"size": "1"}}

    again = await api("PATCH", f"{things}/a", patch, headers={"Content-Type": MERGE})
    stored = await api("PATCH", f"{THINGS}/a", patch, headers={"Content-Type": MERGE})

    version = created.json["metadata"]["resourceVersion"]
    assert again.json["metadata"]["resourceVersion"] == version
    assert stored.json["metadata"]["resourceVersion"] != version
    assert stored.json["spec"] == {"one": "red", "size": "1"}
