"""Logs: simulated containers, and what a request selects of a log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest

from kubeloop.kit import ManualClock
from kubeloop_testing.server import Service
from kubeloop_testing.server.verbs.log_lines import LogLine, append_text
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import PODS, pod

LOG = f"{PODS}/web/log"
START = "2030-01-01T00:00:00Z"
NOW = datetime(2030, 1, 1, tzinfo=UTC)


async def _put_state(api: Api, phase: str, **status: Any) -> None:
    """Write the status of the pod `web`, as a kubelet does."""
    container = {"name": "main", "image": "nginx", "imageID": "", "restartCount": 0, **status}
    patch = {"status": {"phase": phase, "containerStatuses": [{"ready": True, **container}]}}
    headers = {"Content-Type": "application/merge-patch+json"}
    found = await api("PATCH", f"{PODS}/web/status", patch, headers=headers)
    assert found.code == 200, found.json


RUNNING = {"state": {"running": {"startedAt": START}}}
CRASHED = {
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"exitCode": 1, "startedAt": START, "finishedAt": START}},
}


async def test_a_running_container_has_a_log(api: Api) -> None:
    await api.create(PODS, pod("web"))
    await _put_state(api, "Running", **RUNNING)

    log = (await api.get(LOG)).raw.decode().splitlines()
    timed = (await api.get(LOG, timestamps="true", tailLines=1)).raw.decode()

    assert log[0].startswith("main started, image ")
    assert timed == f"2030-01-01T00:00:00.000000000Z {log[-1]}\n"


async def test_a_crashed_container_has_the_log_of_its_last_run(api: Api) -> None:
    await api.create(PODS, pod("web"))
    await _put_state(api, "Running", **CRASHED)

    log, previous = await api.get(LOG), await api.get(LOG, previous="true")

    assert log.raw == previous.raw
    assert log.raw.endswith(b"exited with code 1\n")


@pytest.mark.parametrize(
    ("state", "query", "message"),
    [
        ("ContainerCreating", {}, "waiting to start: ContainerCreating"),
        ("ImagePullBackOff", {}, "waiting to start: trying and failing to pull image"),
        ("ErrImagePull", {}, "waiting to start: image can't be pulled"),
        ("", {"previous": "true"}, 'previous terminated container "main" in pod "web" not found'),
    ],
)
async def test_a_log_that_a_kubelet_does_not_have_is_refused(
    api: Api, state: str, query: dict[str, str], message: str
) -> None:
    await api.create(PODS, pod("web"))
    found = {"state": {"waiting": {"reason": state}}} if state else RUNNING
    await _put_state(api, "Pending" if state else "Running", **found)

    response = await api.get(LOG, **query)

    assert response.code == 400
    assert message in response.json["message"]


async def test_following_a_simulated_container_ends_with_it(api: Api) -> None:
    await api.create(PODS, pod("web"))
    await _put_state(api, "Running", **RUNNING)
    ended = {"exitCode": 0, "startedAt": START, "finishedAt": "2030-01-01T00:00:05Z"}

    async with api.session.get(f"{LOG}?follow=true&tailLines=0") as log:
        await _put_state(api, "Running", state={"running": None, "terminated": ended})
        text = await log.text()

    assert text == "exited with code 0\n"


@pytest.fixture
async def timed() -> AsyncIterator[tuple[Service, Api, ManualClock]]:
    clock = ManualClock()
    async with Service(clock=clock) as server, aiohttp.ClientSession(server.url) as session:
        api = Api(session)
        await api.create(PODS, pod("web"))
        yield server, api, clock


async def test_a_log_is_selected_by_the_time_of_its_lines(
    timed: tuple[Service, Api, ManualClock],
) -> None:
    server, api, clock = timed
    server.set_log("default", "web", "one\n")
    await clock.advance(60)
    middle = clock.time().strftime("%Y-%m-%dT%H:%M:%SZ")
    server.set_log("default", "web", "one\ntwo\n")
    await clock.advance(60)
    server.set_log("default", "web", "one\ntwo\nthree\n")

    since_time = (await api.get(LOG, sinceTime=middle)).raw
    since_seconds = (await api.get(LOG, sinceSeconds=30)).raw
    both = (await api.get(LOG, sinceTime=middle, tailLines=1)).raw
    limited = (await api.get(LOG, limitBytes=5)).raw

    assert (since_time, since_seconds) == (b"two\nthree\n", b"three\n")
    assert (both, limited) == (b"three\n", b"one\nt")


def test_a_line_without_a_newline_goes_on() -> None:
    lines = append_text([], "one\ntw", NOW)
    longer = append_text(lines, "o\r\nthree", NOW)

    assert [line.text for line in lines] == ["one\n", "tw"]
    assert longer == [LogLine(NOW, "one\n"), LogLine(NOW, "two\r\n"), LogLine(NOW, "three")]
