"""Takes the screenshots of the inspector for the documentation.

    python tools/screenshots.py                     into docs/pictures
    python tools/screenshots.py --into DIRECTORY

Runs two controllers on the embedded API server: websites become deployments, and deployments
become pods; some reconciles fail. Each screenshot is taken when its content is there.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from browser import FLAGS, MISSING, find
from playwright.async_api import Browser, Page, async_playwright

from kubeloop import Context, Manager, Model, ObjectKey, Resource, Result
from kubeloop.clients import APIClient
from kubeloop.errors import ApiError
from kubeloop.inspector import Inspector
from kubeloop.kit import running
from kubeloop.wire.apps.v1 import Deployment, DeploymentSpec
from kubeloop.wire.core.v1 import (
    Container,
    Namespace,
    Pod,
    PodSpec,
    PodTemplateSpec,
    Secret,
)
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta
from kubeloop_testing import APIServer, Match

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
TEAMS = ("shop", "search", "billing", "ops")
SITES = ("catalog", "cart", "checkout", "reviews", "offers", "account", "returns", "wishlist")
WIDE = {"width": 1480, "height": 960}
PHONE = {"width": 390, "height": 844}
WARMUP = 45.0  # seconds before the first screenshot, so that the charts have data


class WebsiteSpec(Model):
    image: str = "registry.example.com/site:1"
    replicas: int = 2


class WebsiteStatus(Model):
    ready: int = 0


class Website(Resource, group="example.com", version="v1", plural="websites"):
    spec: WebsiteSpec
    status: WebsiteStatus | None = None


# --- the controllers and their objects


def a_manager(server: APIServer) -> Manager:
    """A manager with two controllers."""
    manager = Manager(
        server.config,
        leader_election="website-controller",
        signals=False,
        tune_gc=False,
        logs=False,
    )
    manager.cache(Pod, index={"node": "spec.nodeName"})
    manager.cache(Secret)

    @manager.controller(Website, owns=[Deployment], workers=8, install_crd=True)
    async def website(key: ObjectKey, ctx: Context) -> Result | None:
        site = ctx.get(Website, key)
        if site is None:
            return None
        await asyncio.sleep(random.expovariate(40))
        if random.random() < 0.03:
            raise RegistryError(f"registry.example.com: no response for {site.spec.image}")
        await ctx.client.apply(deployment_for(site), owner=site)
        ctx.recorder.event(site, "Normal", "Applied", "rolled out %s", site.spec.image)
        return None

    @manager.controller(Deployment, owns=[Pod], workers=4, name="rollout")
    async def rollout(key: ObjectKey, ctx: Context) -> Result | None:
        deployment = ctx.get(Deployment, key)
        if deployment is None:
            return None
        await asyncio.sleep(random.expovariate(120))
        for number in range(deployment.spec.replicas or 0):
            await ctx.client.apply(pod_for(deployment, number), owner=deployment)
        return None

    return manager


class RegistryError(Exception):
    """A failure outside of the cluster."""


def deployment_for(site: Website) -> Deployment:
    labels = {"app": site.metadata.name}
    container = Container(name="web", image=site.spec.image)
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[container])
    )
    return Deployment(
        metadata=ObjectMeta(
            name=site.metadata.name, namespace=site.metadata.namespace, labels=labels
        ),
        spec=DeploymentSpec(
            replicas=site.spec.replicas,
            selector=LabelSelector(match_labels=labels),
            template=template,
        ),
    )


def pod_for(deployment: Deployment, number: int) -> Pod:
    name = deployment.metadata.name
    labels = {"app": name, "tier": "front" if number % 2 else "back"}
    template = deployment.spec.template.spec
    assert template is not None
    spec = PodSpec(containers=template.containers, node_name=f"node-{(number * 5) % 12}")
    return Pod(
        metadata=ObjectMeta(
            name=f"{name}-{number}", namespace=deployment.metadata.namespace, labels=labels
        ),
        spec=spec,
    )


async def create_objects(client: APIClient) -> None:
    """Create namespaces and Secrets."""
    for team in TEAMS:
        await client.apply(Namespace(metadata=ObjectMeta(name=team)))
        for name in ("database", "registry"):
            await client.apply(a_secret(name, team, "swordfish"))


def a_secret(name: str, namespace: str, password: str) -> Secret:
    data = {"username": b"admin", "password": password.encode()}
    return Secret(metadata=ObjectMeta(name=name, namespace=namespace), data=data, type="Opaque")


async def change_objects(client: APIClient) -> None:
    """Create and change sites until cancelled."""
    for turn in itertools.count(1):
        team, name = random.choice(TEAMS), random.choice(SITES)
        site = Website(
            metadata=ObjectMeta(name=name, namespace=team),
            spec=WebsiteSpec(
                image=f"registry.example.com/site:{turn // 5 + 1}", replicas=random.randint(1, 4)
            ),
        )
        try:
            await client.apply(site)
            if turn % 40 == 0:
                secret = a_secret("database", team, f"rotated-{turn}")
                await client.apply(secret, force=True)
        except ApiError as error:
            print(f"{name}: {error}", file=sys.stderr)
        await asyncio.sleep(random.expovariate(6))


@asynccontextmanager
async def run_manager() -> AsyncIterator[tuple[APIServer, Inspector]]:
    """A manager whose objects change all the time, and its inspector."""
    random.seed(7)
    async with APIServer() as server:
        client = server.client()
        await create_objects(client)
        manager = a_manager(server)
        async with running(manager), Inspector(manager, name="website-controller") as inspector:
            await manager.wait_ready()
            changes = asyncio.create_task(change_objects(client))
            try:
                yield server, inspector
            finally:
                changes.cancel()
                await asyncio.gather(changes, return_exceptions=True)


# --- the screenshots


async def take_all(into: Path) -> None:
    """Take all screenshots of one inspector."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        async with run_manager() as (server, inspector):
            await asyncio.sleep(WARMUP)
            for scheme in ("light", "dark"):
                await take(browser, inspector.url, into, scheme)
            await take_phone(browser, inspector.url, into)
            await take_failing(browser, server, inspector.url, into)
        await browser.close()


async def open_page(browser: Browser, url: str, scheme: str, size: dict[str, int]) -> Page:
    page = await browser.new_page(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": size["width"], "height": size["height"]},
        device_scale_factor=1.5,
        reduced_motion="reduce",
    )
    await page.goto(url)
    await page.wait_for_selector(".lane")
    return page


async def take(browser: Browser, url: str, into: Path, scheme: str) -> None:
    page = await open_page(browser, url, scheme, WIDE)
    await page.screenshot(path=into / f"inspector-{scheme}.png")
    await page.goto(f"{url}#/search?cache=websites.example.com")
    await page.click(".row >> nth=0")
    await page.wait_for_selector(".changes .added")
    await page.screenshot(path=into / f"inspector-object-{scheme}.png")
    await page.close()


async def take_phone(browser: Browser, url: str, into: Path) -> None:
    page = await open_page(browser, url, "light", PHONE)
    await page.screenshot(path=into / "inspector-phone.png")
    await page.close()


async def take_failing(browser: Browser, server: APIServer, url: str, into: Path) -> None:
    page = await open_page(browser, url, "dark", WIDE)
    for verb in ("watch", "list"):
        server.faults.fail(500, times=None, match=Match(verb=verb, resource="pods"))
    server.drop_connections()
    await page.wait_for_selector('.lane[data-health="failing"]', timeout=60_000)
    await page.screenshot(path=into / "inspector-broken.png")
    await page.close()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--into", type=Path, default=PICTURES, help="the directory of the screenshots"
    )
    into = parser.parse_args(arguments).into
    if find() is None:
        print(f"tools/screenshots.py: {MISSING}", file=sys.stderr)
        return 1
    into.mkdir(parents=True, exist_ok=True)
    asyncio.run(take_all(into))
    print(*sorted(path.name for path in into.glob("inspector*.png")), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
