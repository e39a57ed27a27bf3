"""Helpers that write: finalizers and statuses."""

from __future__ import annotations

import pytest

from kubeloop.errors import Conflict, InvalidArgument
from kubeloop.runtime import Client, ensure_finalizer, update_status
from kubeloop_testing import APIServer

from .websites import Website, WebsiteStatus, a_site

NAME = "example.com/cleanup"


class Cleaning:
    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.cleaned: list[str] = []

    async def __call__(self, site: Website) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.cleaned.append(site.metadata.name)


async def test_a_finalizer_is_added_once_and_the_object_is_returned(with_sites: Client) -> None:
    site = await with_sites.resource(Website).create(a_site())

    first = await ensure_finalizer(with_sites, site, NAME, Cleaning())
    assert first is not None
    again = await ensure_finalizer(with_sites, first, NAME, Cleaning())

    assert first.metadata.finalizers == [NAME]
    assert again is first


async def test_cleanup_runs_before_the_object_is_removed(with_sites: Client) -> None:
    sites, cleaning = with_sites.resource(Website), Cleaning()
    await ensure_finalizer(with_sites, await sites.create(a_site()), NAME, cleaning)
    await sites.delete("shop")

    left = await ensure_finalizer(with_sites, await sites.get("shop"), NAME, cleaning)

    assert left is None
    assert cleaning.cleaned == ["shop"]
    assert not await sites.exists("shop")


async def test_a_cleanup_that_fails_keeps_the_object_until_it_succeeds(with_sites: Client) -> None:
    """The finalizer is never left behind, and never gone too early."""
    sites, cleaning = with_sites.resource(Website), Cleaning(RuntimeError("not yet"))
    await ensure_finalizer(with_sites, await sites.create(a_site()), NAME, cleaning)
    await sites.delete("shop")

    with pytest.raises(RuntimeError, match="not yet"):
        await ensure_finalizer(with_sites, await sites.get("shop"), NAME, cleaning)
    assert (await sites.get("shop")).metadata.finalizers == [NAME]
    await ensure_finalizer(with_sites, await sites.get("shop"), NAME, cleaning)

    assert not await sites.exists("shop")


async def test_the_finalizers_of_others_stay(with_sites: Client) -> None:
    sites, site = with_sites.resource(Website), a_site()
    site.metadata.finalizers = ["example.com/others"]
    made = await ensure_finalizer(with_sites, await sites.create(site), NAME, Cleaning())
    assert made is not None
    stale = made
    async with sites.edit("shop") as edited:  # what we hold is old by now
        edited.metadata.labels["a"] = "b"
    await sites.delete("shop")
    stale.metadata.deletion_timestamp = (await sites.get("shop")).metadata.deletion_timestamp

    await ensure_finalizer(with_sites, stale, NAME, Cleaning())

    assert (await sites.get("shop")).metadata.finalizers == ["example.com/others"]


async def test_an_object_that_is_being_deleted_gets_no_finalizer(with_sites: Client) -> None:
    sites, site, cleaning = with_sites.resource(Website), a_site(), Cleaning()
    site.metadata.finalizers = ["example.com/others"]
    old = await sites.create(site)
    await sites.delete("shop")

    assert await ensure_finalizer(with_sites, old, NAME, cleaning) is None
    assert await ensure_finalizer(with_sites, await sites.get("shop"), NAME, cleaning) is None
    assert (await sites.get("shop")).metadata.finalizers == ["example.com/others"]
    assert cleaning.cleaned == []


async def test_a_deleted_or_re_created_object_is_not_changed(with_sites: Client) -> None:
    sites, cleaning = with_sites.resource(Website), Cleaning()
    old = await ensure_finalizer(with_sites, await sites.create(a_site()), NAME, cleaning)
    assert old is not None
    async with sites.edit("shop") as edited:
        edited.metadata.finalizers = []
    await sites.delete("shop")

    fresh = a_site()
    assert (
        await ensure_finalizer(with_sites, old, NAME, cleaning) is old
    )  # it has it, as far as we know
    old.metadata.finalizers = []
    assert await ensure_finalizer(with_sites, old, NAME, cleaning) is None
    await sites.create(fresh)
    assert await ensure_finalizer(with_sites, old, NAME, cleaning) is None

    assert (await sites.get("shop")).metadata.finalizers == []


async def test_dicts_have_finalizers_too(with_sites: Client) -> None:
    site = await with_sites.dynamic.resource(Website).create(
        {
            "apiVersion": "example.com/v1",
            "kind": "Website",
            "metadata": {"name": "shop"},
            "spec": {},
        }
    )

    made = await ensure_finalizer(with_sites, site, NAME, lambda gone: None)

    assert made is not None
    assert made["metadata"]["finalizers"] == [NAME]


# --- status


async def test_an_equal_status_costs_no_request(with_sites: Client, server: APIServer) -> None:
    site = await with_sites.resource(Website).create(a_site())
    site.status = WebsiteStatus(ready=True)
    site = await update_status(with_sites, site)
    before = len(server.requests)

    again = await update_status(with_sites, site, before=site)

    assert again is site
    assert len(server.requests) == before


async def test_only_the_difference_of_a_status_is_sent(
    with_sites: Client, server: APIServer
) -> None:
    site = await with_sites.resource(Website).create(a_site())
    before = Website.from_dict(site.to_dict())
    site.status = WebsiteStatus(ready=True)
    site.spec.replicas = 99  # not a matter of the status

    written = await update_status(with_sites, site, before=before)

    assert server.requests[-1].json() == {
        "status": {"ready": True},
        "metadata": {"resourceVersion": before.metadata.resource_version},
    }
    assert written.status == WebsiteStatus(ready=True)
    assert written.spec.replicas == 1
    assert written.metadata.generation == before.metadata.generation


async def test_a_status_of_an_object_that_changed_meanwhile_is_a_conflict(
    with_sites: Client,
) -> None:
    sites = with_sites.resource(Website)
    site = await sites.create(a_site())
    async with sites.edit("shop") as edited:
        edited.spec.replicas = 2
    site.status = WebsiteStatus(ready=True)

    with pytest.raises(Conflict):
        await update_status(with_sites, site)


async def test_something_without_a_status_is_rejected(client: Client) -> None:
    with pytest.raises(InvalidArgument, match="it has no metadata"):
        await update_status(client, object())
