"""Recordings: what is written, and what a replay shows of it."""

from __future__ import annotations

import asyncio
import gzip
import os
import time
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from kubeloop.cache import SharedInformer
from kubeloop.errors import InvalidArgument
from kubeloop.inspector import Inspector, Replay, record_url
from kubeloop.inspector.model import Object, Snapshot
from kubeloop.inspector.recording import _lines_of
from kubeloop.inspector.search import Query, SearchResult
from kubeloop.kit import ManualClock
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import ConfigMap, Secret

from .pages import PASSWORD, a_config, a_secret, until, wait_for_version

CONFIGS = "configmaps"


@pytest.fixture
async def configs(client: Client) -> AsyncIterator[SharedInformer[ConfigMap]]:
    await client.apply(a_config("web-1", colour="blue"))
    async with client.informer(ConfigMap) as informer:
        yield informer


def decompressed(path: Path) -> bytes:
    """The content of a file that may end in the middle."""
    text = b""
    with gzip.open(path) as file:
        try:
            while chunk := file.read(1):
                text += chunk
        except EOFError:
            pass
    return text


async def record(
    path: Path, client: Client, configs: SharedInformer[ConfigMap], clock: ManualClock
) -> None:
    """A recording with a step before, between and after two changes."""
    async with client.informer(Secret) as secrets, Inspector(configs, secrets, clock=clock) as page:
        task = asyncio.create_task(record_url(page.url, path))
        await until(lambda: path.exists() and path.stat().st_size)
        changed = await client.apply(a_config("web-1", colour="red"))
        await wait_for_version(configs, changed.metadata.resource_version)
        created = await client.apply(a_secret())
        await wait_for_version(secrets, created.metadata.resource_version)
        await clock.advance(1)
        await client.core_v1.config_maps("default").delete("web-1")
        await until(lambda: len(configs.lister) == 0)
        await clock.advance(1)
    await task  # ends with the inspector


async def snapshot_of(replay: Replay, step: int) -> Snapshot:
    return msgspec.json.decode(replay.snapshot(step), type=Snapshot)


async def names_at(replay: Replay, step: int, **query: Any) -> list[str]:
    found = await replay.search(Query(step=step, **query))
    return [row.name for row in msgspec.json.decode(found, type=SearchResult).rows]


async def test_a_recording_has_the_page_and_the_objects_of_each_step(
    tmp_path: Path, client: Client, configs: SharedInformer[ConfigMap]
) -> None:
    path = tmp_path / "run.kubeloop"
    await record(path, client, configs, ManualClock())

    replay = Replay(path)

    assert replay.steps >= 3
    assert await names_at(replay, 0) == ["web-1"]
    assert sum(each.objects for each in (await snapshot_of(replay, 0)).informers) == 1
    assert await names_at(replay, 1) == ["database", "web-1"]
    assert await names_at(replay, 1, name="web") == ["web-1"]
    assert await names_at(replay, 1, labels="app=web") == ["web-1"]
    assert await names_at(replay, 1, cache="secrets") == ["database"]
    assert await names_at(replay, 2) == ["database"]
    page = await snapshot_of(replay, 1)
    assert page.recording is not None
    assert (page.recording.step, page.recording.steps) == (1, replay.steps)
    assert sum(each.objects for each in page.informers) == 2
    found = await replay.object(CONFIGS, ObjectKey("default", "web-1"), 1)
    assert found is not None
    obj = msgspec.json.decode(found, type=Object)
    assert "colour: red" in (obj.yaml or "")
    assert ("-", "  colour: blue") in obj.changes[0].lines
    later = await replay.object(CONFIGS, ObjectKey("default", "web-1"), 2)
    assert later is not None
    assert msgspec.json.decode(later, type=Object).yaml is None
    assert await replay.object(CONFIGS, ObjectKey("default", "missing"), 1) is None


async def test_a_recording_contains_no_secret(
    tmp_path: Path, client: Client, configs: SharedInformer[ConfigMap]
) -> None:
    path = tmp_path / "run.kubeloop"
    await record(path, client, configs, ManualClock())

    text = decompressed(path)

    assert b"database" in text
    assert not any(word in text for word in (PASSWORD.encode(), b"c3dvcmRmaXNo"))


async def test_a_recording_that_was_cut_can_be_opened(
    tmp_path: Path, client: Client, configs: SharedInformer[ConfigMap]
) -> None:
    path = tmp_path / "run.kubeloop"
    await record(path, client, configs, ManualClock())
    path.write_bytes(path.read_bytes()[:-20])

    assert Replay(path).steps >= 2


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"no gzip", "not a recording"),
        (gzip.compress(b"no json\n"), "not a recording"),
        (gzip.compress(b'{"line":"step","snapshot":{}}\n'), "not a recording"),
        (gzip.compress(b'{"line":"recording","version":9}\n'), "version 9, expected 1"),
        (gzip.compress(b'{"line":"recording","version":1}\n'), "no complete step"),
        (b"", "no complete step"),
    ],
)
def test_a_file_that_is_no_recording_is_an_error(
    tmp_path: Path, content: bytes, error: str
) -> None:
    path = tmp_path / "run.kubeloop"
    path.write_bytes(content)

    with pytest.raises(InvalidArgument, match=error):
        Replay(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="No such file"):
        Replay(tmp_path / "missing")


def test_a_file_that_decompresses_to_too_much_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubeloop.inspector.recording.MAX_SIZE", 1000)
    path = tmp_path / "run.kubeloop"
    path.write_bytes(gzip.compress(b" " * 2000))

    with pytest.raises(InvalidArgument, match="more than 1000 bytes"):
        Replay(path)


def test_a_file_with_an_endless_line_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "run.kubeloop"
    gzipped = zlib.compressobj(1, wbits=31)
    piece = b" " * (1 << 20)
    with path.open("wb") as file:
        file.write(gzipped.compress(b'{"line":"recording","version":1}\n'))
        for _ in range(80):
            file.write(gzipped.compress(piece))
        file.write(gzipped.flush())

    began = time.process_time()
    with pytest.raises(InvalidArgument, match=r"run.kubeloop: line 2 is longer than \d+ bytes"):
        Replay(path)
    assert time.process_time() - began < 2


def test_lines_of_any_length_are_read_in_linear_time(tmp_path: Path) -> None:
    """The file is read in pieces: a line must not be copied with each of them."""
    path = tmp_path / "run.kubeloop"
    lines = [b"x" * 50_000_000, b"", b"y" * 3]
    path.write_bytes(gzip.compress(b"\n".join([*lines, b"incomplete"]), 1))

    began = time.process_time()
    assert list(_lines_of(path)) == lines
    assert time.process_time() - began < 2


def test_a_line_that_is_nested_too_deeply_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "run.kubeloop"
    deep = b'{"line":"step","snapshot":{"x":' + b"[" * 100_000
    path.write_bytes(gzip.compress(b'{"line":"recording","version":1}\n' + deep + b"\n"))

    with pytest.raises(InvalidArgument, match="line 2: not a recording"):
        Replay(path)


@pytest.mark.skipif(os.name == "nt", reason="there are no modes of files here")
@pytest.mark.parametrize("exists", [True, False])
async def test_other_users_cannot_read_a_recording(
    tmp_path: Path, configs: SharedInformer[ConfigMap], exists: bool
) -> None:
    path = tmp_path / "run.kubeloop"
    if exists:
        path.write_bytes(b"old")
        path.chmod(0o644)
    async with Inspector(configs) as page:
        task = asyncio.create_task(record_url(page.url, path))
        await until(lambda: path.exists() and path.stat().st_size > 3)
    await task

    assert path.stat().st_mode & 0o777 == 0o600


async def test_an_inspector_with_a_token_is_recorded_by_its_url(
    tmp_path: Path, configs: SharedInformer[ConfigMap]
) -> None:
    path = tmp_path / "run.kubeloop"
    async with Inspector(configs, token="t0ken") as page:
        with pytest.raises(
            InvalidArgument, match=r"record http://127.0.0.1:.*Unauthorized"
        ) as error:
            await record_url(page.stats().address, path)
        task = asyncio.create_task(record_url(page.url, path))
        await until(lambda: path.exists() and path.stat().st_size)
    await task

    assert "t0ken" not in str(error.value)
    assert Replay(path).steps >= 1
    assert b"t0ken" not in decompressed(path)


async def test_a_replay_is_served_as_the_live_page_and_not_recorded_again(
    tmp_path: Path, client: Client, configs: SharedInformer[ConfigMap]
) -> None:
    path = tmp_path / "run.kubeloop"
    await record(path, client, configs, ManualClock())
    async with Replay(path) as page, aiohttp.ClientSession(page.url) as session:
        async with session.get("/search", params={"step": "0"}) as response:
            rows = (await response.json())["rows"]
        async with session.get("/recording") as response:
            status = response.status

    assert [row["name"] for row in rows] == ["web-1"]
    assert status == 404
