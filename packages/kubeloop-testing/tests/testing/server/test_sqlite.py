"""Data in a file: acknowledged writes survive, and versions never go back."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp
import pytest

from kubeloop_testing.server import Service
from kubeloop_testing.server.sqlite import BadFile
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import CONFIG_MAPS, DEFINITIONS, config_map, definition


async def test_everything_is_there_after_a_new_start(tmp_path: Path) -> None:
    data = tmp_path / "dev.db"
    async with Service(data=data) as server, aiohttp.ClientSession(server.url) as session:
        api = Api(session)
        await api.create(DEFINITIONS, definition())
        await api.create(CONFIG_MAPS, config_map("b"))
        await api("DELETE", f"{CONFIG_MAPS}/b")
        created = await api.create(CONFIG_MAPS, config_map("a", x="1"))
        version = server.core.store.version

    async with Service(data=data) as server, aiohttp.ClientSession(server.url) as session:
        api = Api(session)
        found = await api.get(f"{CONFIG_MAPS}/a")
        gone = await api.get(f"{CONFIG_MAPS}/b")
        custom = await api.get("/apis/example.com/v1/namespaces/default/widgets")
        old = await api.get(CONFIG_MAPS, watch="1", resourceVersion="1")
        later = await api.create(CONFIG_MAPS, config_map("c"))

    assert found.json == created.json
    assert gone.code == 404
    assert custom.code == 200
    assert old.json["object"]["code"] == 410
    assert int(later.json["metadata"]["resourceVersion"]) > version


@pytest.mark.skipif(sys.platform == "win32", reason="no such modes there")
async def test_a_new_file_and_those_beside_it_are_for_its_owner_alone(tmp_path: Path) -> None:
    async with Service(data=tmp_path / "dev.db"):
        modes = _modes(tmp_path)

    assert "dev.db" in modes
    assert set(modes.values()) == {0o600}


def _modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


async def test_a_file_has_one_server_at_a_time(tmp_path: Path) -> None:
    data = tmp_path / "dev.db"
    async with Service(data=data):
        with pytest.raises(BadFile, match="another server uses it"):
            async with Service(data=data):
                pass

    async with Service(data=data) as server:
        assert server.url


_WRITER = """
import asyncio, sys
from kubeloop_testing.server import Service

async def main():
    async with Service(data=sys.argv[1]) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.timeout(60)  # it starts another interpreter
async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    data = tmp_path / "dev.db"
    names = [f"n{number}" for number in range(40)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _WRITER, str(data), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        async with aiohttp.ClientSession(url) as session:
            create = Api(session).create
            response = await asyncio.gather(
                *(create(CONFIG_MAPS, config_map(name)) for name in names)
            )
    finally:
        process.kill()
        await process.wait()
    newest = max(int(each.json["metadata"]["resourceVersion"]) for each in response)

    async with Service(data=data) as server:
        kept = {entry.name for entry in server.core.store.collection(("", "configmaps")).select("")}
        version = server.core.store.version

    assert kept == set(names)
    assert version > newest


async def test_a_restart_without_data_starts_empty(tmp_path: Path) -> None:
    async with (
        Service(data=tmp_path / "dev.db") as server,
        aiohttp.ClientSession(server.url) as session,
    ):
        api = Api(session)
        await api.create(CONFIG_MAPS, config_map("a"))
        await server.restart()
        kept = await api.get(f"{CONFIG_MAPS}/a")
        await server.restart(keep_data=False)

        assert kept.code == 200
        assert (await api.get(f"{CONFIG_MAPS}/a")).code == 404


async def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "notes.txt"
    data.write_text("this is no database, whatever it is called " * 100)

    with pytest.raises(BadFile, match=r"notes\.txt"):
        async with Service(data=data):
            pass
