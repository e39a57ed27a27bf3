"""A misspelt keyword or member is an error of the type checker, from a verb to a request."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

# Each call is right except for one letter.
MISSPELT = """
    await pods.get("web", versoin="0")
    await pods.list(selectr="app=web")
    await pods.list_all(selectr="app=web")
    pods.each(selectr="app=web")
    pods.watch(fileds="metadata.name=web")
    await pods.table(selectr="app=web")
    await pods.create(pod, dryrun=True)
    await pods.create_or_update(pod, field_manger="me")
    await pods.update(pod, field_validaton="Strict")
    await pods.patch("web", {}, type="merge", dryrun=True)
    await pods.apply(pod, froce=True)
    pods.edit("web", dryrun=True)
    await pods.modify("web", change, dryrun=True)
    await pods.delete("web", propagaton="Foreground")
    await pods.delete_collection(selectr="app=web")
    await pods.evict("web", grace_perod=0)
    await pods.status.update(pod, dryrun=True)
    pods.status.edit("web", dryrun=True)
    await client.scales.get(RESOURCE, "shop", nmae="web")
    await client.resource(Deployment).scale.patch("web", {}, type="merge", dryrun=True)
    await client.metadata(Pod).list(selectr="app=web")
    await client.metadata(Pod).delete("web", propagaton="Foreground")
    await client.apply(pod, field_manger="me")
    await client.apply("pods.yaml", kind=[Pod])
    client.informer(Pod, selectr="app=web")
    client.informer(Pod, metadata_only=True, selectr="app=web")
    waiting.resource(Pod).create(pod, dryrun=True)
    waiting.resource(Pod).status.patch("web", {}, type="merge", dryrun=True)
    waiting.apply(pod, field_manger="me")
    waiting.informer(Pod, selectr="app=web")
    ListOptions.of(selectr="app=web")
    WatchOptions.of(selectr="app=web")
    await collection.send("get", name="web", subresorce="status")
    await collection.send("get", name="web", acept="*/*")
    await collection.request("get", name="web", max_retrys=0)
    Manager(on_outcme=print)
    SharedInformer(PumpsMisspelt(), Pod)
    SharedInformer(ClosesMisspelt(), Pod)
    SharedInformer(FormatMisspelt(), Pod)
"""

SAMPLE = f"""
from collections.abc import AsyncIterator

from kubeloop import Client, Manager, blocking
from kubeloop.cache import RawEvent, RawPage, Scope, SharedInformer
from kubeloop.cache.list_watch import ApplyEvents, SplitEvent
from kubeloop.clients import ListOptions, ResourceClient, WatchOptions
from kubeloop.clients.collection import Collection
from kubeloop.meta import GroupResource
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Pod

RESOURCE = GroupResource("apps", "deployments")


def change(pod: Pod) -> None: ...


class Source:
    scope = Scope("pods")
    streams_lists = False
    watch_list_support = None

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage:
        raise NotImplementedError


class PumppStream:
    async def open(self) -> bool:
        return True
    async def pumpp(self, apply: ApplyEvents, split: SplitEvent) -> None: ...
    async def aclose(self) -> None: ...


class ACloseeStream:
    async def open(self) -> bool:
        return True
    async def pump(self, apply: ApplyEvents, split: SplitEvent) -> None: ...
    async def aclosee(self) -> None: ...


class PumpsMisspelt(Source):
    messages = None

    def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> PumppStream:
        return PumppStream()


class ClosesMisspelt(Source):
    messages = None

    def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> ACloseeStream:
        return ACloseeStream()


class FormatMisspelt(Source):
    messagess = None

    def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent]:
        raise NotImplementedError


async def calls(
    client: Client,
    waiting: blocking.Client,
    pods: ResourceClient[Pod],
    pod: Pod,
    collection: Collection,
) -> None:
{MISSPELT}
"""


@pytest.mark.timeout(300)
def test_a_misspelt_keyword_fails_mypy_at_every_step(tmp_path: Path) -> None:
    """TYP-1: options are typed end to end."""
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE)
    lines = dict(enumerate(SAMPLE.splitlines(), 1))
    wrong = {number for number, text in lines.items() if text and text in MISSPELT.splitlines()}

    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(sample)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    found = {int(line.split(":")[1]) for line in ran.stdout.splitlines() if ": error: " in line}
    assert [lines[number] for number in sorted(wrong - found)] == [], ran.stdout + ran.stderr
    assert [lines[number] for number in sorted(found - wrong)] == [], ran.stdout
