"""Admission webhooks: when they are called, with what, and the effect of their response."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map, deployment, service
from tests.conformance.webhook import FakeWebhook, patch_of, running_webhook

Object = dict[str, Any]
MAPS = "configmaps"
PATH = "/apis/admissionregistration.k8s.io/v1"


@pytest_asyncio.fixture(loop_scope="session")
async def hook() -> AsyncIterator[FakeWebhook]:
    async with running_webhook() as hook:
        yield hook


async def register(
    api: RawClient,
    hook: FakeWebhook,
    kind: str = "validating",
    *,
    operations: tuple[str, ...] = ("CREATE", "UPDATE", "DELETE"),
    resources: tuple[str, ...] = ("configmaps",),
    groups: tuple[str, ...] = ("",),
    **more: Any,
) -> str:
    """Register the webhook for this namespace, and wait until it is called."""
    rule = {
        "operations": list(operations),
        "apiGroups": list(groups),
        "apiVersions": ["*"],
        "resources": list(resources),
    }
    webhook = {
        "name": "hook.conformance.example.com",
        "clientConfig": hook.client_config(),
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": api.namespace}},
        **more,
    }
    path = f"{PATH}/{kind}webhookconfigurations"
    created = await api.create(
        path, {"metadata": {"generateName": "conformance-"}, "webhooks": [webhook]}
    )
    await wait_until_called(api, hook, operations, resources)
    return f"{path}/{created.meta['name']}"


async def wait_until_called(
    api: RawClient, hook: FakeWebhook, operations: tuple[str, ...], resources: tuple[str, ...]
) -> None:
    """Send dry runs until the webhook is called: kube-apiserver caches registrations."""
    if "CREATE" not in operations or MAPS not in resources:
        return
    while not hook.reviews:
        await api("POST", api.at(MAPS), config_map("probe"), query={"dryRun": "All"})
    hook.reviews.clear()


def deny(**status: Any) -> Any:
    return lambda _: {"allowed": False, "status": status}


async def test_a_webhook_that_allows_the_write_lets_it_succeed(
    api: RawClient, hook: FakeWebhook
) -> None:
    await register(api, hook)

    await api.create(api.at(MAPS), config_map("a"))

    assert len(hook.reviews) == 1


async def test_a_review_describes_the_request(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)

    await api.create(api.at(MAPS), config_map("a", x="1"))

    (review,) = hook.reviews
    assert review["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert review["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert (review["operation"], review["namespace"], review["name"]) == (
        "CREATE",
        api.namespace,
        "a",
    )
    assert review["userInfo"]["username"] == "admin"
    assert review["dryRun"] is False
    assert review["object"]["data"] == {"x": "1"}
    assert review["oldObject"] is None
    assert review["options"]["kind"] == "CreateOptions"


async def test_a_review_of_an_update_has_both_objects(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)
    await api.create(api.at(MAPS), config_map("a", x="1"))
    hook.reviews.clear()

    await api.patch(api.at(MAPS, "a"), {"data": {"x": "2"}})

    (review,) = hook.reviews
    assert review["operation"] == "UPDATE"
    assert (review["oldObject"]["data"], review["object"]["data"]) == ({"x": "1"}, {"x": "2"})
    assert review["options"]["kind"] == "UpdateOptions"


async def test_a_review_of_a_deletion_has_the_old_object(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)
    await api.create(api.at(MAPS), config_map("a", x="1"))
    hook.reviews.clear()

    await api("DELETE", api.at(MAPS, "a"))

    (review,) = hook.reviews
    assert (review["operation"], review["object"]) == ("DELETE", None)
    assert review["oldObject"]["data"] == {"x": "1"}


async def test_a_webhook_can_deny_a_write(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)
    hook.response = deny(message="not today")

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.reason) == (400, "")
    assert reply.message == (
        'admission webhook "hook.conformance.example.com" denied the request: not today'
    )
    assert (await api.get(api.at(MAPS, "a"))).code == 404


async def test_a_service_that_a_webhook_denies_allocates_nothing(
    api: RawClient, hook: FakeWebhook
) -> None:
    await register(api, hook, resources=(MAPS, "services"))
    body = service("web", type="NodePort", ports=[{"port": 80, "nodePort": 32_001}])
    hook.response = deny(message="not today")
    assert (await api("POST", api.at("services"), body)).code == 400
    hook.response = lambda _: {"allowed": True}

    created = await api("POST", api.at("services"), body)

    assert created.code == 201, created
    await api("DELETE", api.at("services", "web"))


async def test_a_webhook_can_deny_without_a_message(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)
    hook.response = lambda _: {"allowed": False}

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.message) == (
        400,
        'admission webhook "hook.conformance.example.com" denied the request without explanation',
    )


async def test_a_webhook_chooses_code_and_reason(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)
    hook.response = deny(message="busy", code=429, reason="TooManyRequests")

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.reason) == (429, "TooManyRequests")


async def test_a_webhook_can_deny_a_deletion(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)
    await api.create(api.at(MAPS), config_map("a"))
    hook.response = deny(message="it is needed")

    reply = await api("DELETE", api.at(MAPS, "a"))

    assert reply.code == 400
    assert (await api.get(api.at(MAPS, "a"))).code == 200


async def test_a_webhook_warns(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)
    hook.response = lambda _: {"allowed": True, "warnings": ["mind the gap"]}

    reply = await api.create(api.at(MAPS), config_map("a"))

    assert reply.warnings == ["mind the gap"]


async def test_a_mutating_webhook_changes_what_is_stored(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook, "mutating")
    hook.response = lambda _: patch_of({"op": "add", "path": "/data", "value": {"y": "2"}})

    reply = await api.create(api.at(MAPS), config_map("a", x="1"))

    assert reply.body["data"] == {"y": "2"}
    assert (await api.get(api.at(MAPS, "a"))).body["data"] == {"y": "2"}


async def test_the_result_of_a_webhook_is_validated(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook, "mutating")
    hook.response = lambda _: patch_of({"op": "add", "path": "/data", "value": {"a/b": "2"}})

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.reason) == (422, "Invalid")


async def test_the_result_of_a_webhook_is_defaulted(api: RawClient, hook: FakeWebhook) -> None:
    await register(
        api, hook, "mutating", resources=("deployments", "configmaps"), groups=("apps", "")
    )
    hook.response = lambda _: patch_of({"op": "remove", "path": "/spec/strategy"})

    reply = await api.create(api.at("apps/v1/deployments"), deployment())

    assert reply.spec["strategy"]["type"] == "RollingUpdate"


async def test_a_change_of_the_spec_by_a_webhook_increments_the_generation(
    api: RawClient, hook: FakeWebhook
) -> None:
    await api.create(api.at("apps/v1/deployments"), deployment())
    await register(
        api, hook, "mutating", resources=("deployments", "configmaps"), groups=("apps", "")
    )
    hook.response = lambda _: patch_of({"op": "replace", "path": "/spec/replicas", "value": 7})

    patch = {"metadata": {"labels": {"touched": "yes"}}}
    reply = await api.patch(api.at("apps/v1/deployments", "web"), patch)

    assert (reply.spec["replicas"], reply.meta["generation"]) == (7, 2)


async def test_a_validating_webhook_gets_the_result_of_a_mutating_one(
    api: RawClient, hook: FakeWebhook
) -> None:
    await register(api, hook, "mutating")
    async with running_webhook() as second:
        await register(api, second)
        hook.reviews.clear()
        hook.response = lambda _: patch_of({"op": "add", "path": "/data", "value": {"y": "2"}})
        second.reviews.clear()

        await api.create(api.at(MAPS), config_map("a", x="1"))

        assert second.reviews[0]["object"]["data"] == {"y": "2"}


async def test_a_webhook_is_called_for_its_operations_only(
    api: RawClient, hook: FakeWebhook
) -> None:
    await register(api, hook, operations=("CREATE",))
    await api.create(api.at(MAPS), config_map("a"))
    hook.reviews.clear()

    await api.patch(api.at(MAPS, "a"), {"data": {"x": "2"}})
    await api("DELETE", api.at(MAPS, "a"))

    assert hook.reviews == []


async def test_a_webhook_is_called_for_its_objects_only(api: RawClient, hook: FakeWebhook) -> None:
    path = await register(api, hook)
    selector = {"webhooks": [{"objectSelector": {"matchLabels": {"watch": "me"}}}]}
    body = (await api.get(path)).body
    body["webhooks"][0] |= selector["webhooks"][0]
    await api("PUT", path, body)
    while True:  # until kube-apiserver has the selector
        hook.reviews.clear()
        await api("POST", api.at(MAPS), config_map("probe"), query={"dryRun": "All"})
        if not hook.reviews:
            break

    await api.create(api.at(MAPS), config_map("a"))
    await api.create(api.at(MAPS), config_map("b", labels={"watch": "me"}))

    assert [review["name"] for review in hook.reviews] == ["b"]


async def test_the_review_of_a_dry_run_says_so(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)

    await api.create(api.at(MAPS), config_map("a"), dryRun="All")

    assert hook.reviews[0]["dryRun"] is True


async def test_a_webhook_with_side_effects_is_not_called_in_a_dry_run(
    api: RawClient, hook: FakeWebhook
) -> None:
    path = f"{PATH}/validatingwebhookconfigurations"
    rule = {
        "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["*"], "resources": [MAPS],
    }  # fmt: skip
    webhook = {
        "name": "hook.conformance.example.com",
        "clientConfig": hook.client_config(),
        "rules": [rule],
        "sideEffects": "Some",
        "admissionReviewVersions": ["v1"],
    }

    reply = await api("POST", path, {"metadata": {"name": "x"}, "webhooks": [webhook]})

    assert (reply.code, reply.causes) == (
        422,
        [("webhooks[0].sideEffects", "FieldValueNotSupported")],
    )


async def test_a_failing_webhook_denies_by_default(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook)
    hook.response = lambda _: None

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.reason) == (500, "InternalError")
    assert 'failed calling webhook "hook.conformance.example.com"' in reply.message


async def test_a_failing_webhook_may_be_ignored(api: RawClient, hook: FakeWebhook) -> None:
    await register(api, hook, failurePolicy="Ignore")
    hook.response = lambda _: None

    assert (await api("POST", api.at(MAPS), config_map("a"))).code == 201


async def test_a_webhook_is_called_for_an_apply_as_for_a_create(
    api: RawClient, hook: FakeWebhook
) -> None:
    await register(api, hook)

    await api.apply(api.at(MAPS, "a"), config_map("a"))

    assert [(each["operation"], each["options"]["kind"]) for each in hook.reviews] == [
        ("CREATE", "CreateOptions")
    ]


async def test_a_webhook_is_called_for_each_deletion_of_a_collection(
    api: RawClient, hook: FakeWebhook
) -> None:
    await register(api, hook)
    for name in "ab":
        await api.create(api.at(MAPS), config_map(name))
    hook.reviews.clear()

    await api("DELETE", api.at(MAPS))

    assert sorted(review["oldObject"]["metadata"]["name"] for review in hook.reviews) == ["a", "b"]


async def test_a_webhook_for_subresources_is_called_for_subresources(
    api: RawClient, hook: FakeWebhook
) -> None:
    await register(api, hook, resources=("deployments/status", "configmaps"), groups=("apps", ""))
    await api.create(api.at("apps/v1/deployments"), deployment())
    hook.reviews.clear()

    await api.patch(api.at("apps/v1/deployments", "web", "status"), {"status": {"replicas": 1}})

    (review,) = hook.reviews
    assert (review["subResource"], review["operation"]) == ("status", "UPDATE")


@pytest.mark.parametrize("kind", ["mutating", "validating"])
async def test_a_registration_is_defaulted(api: RawClient, hook: FakeWebhook, kind: str) -> None:
    path = await register(api, hook, kind)

    (webhook,) = (await api.get(path)).body["webhooks"]

    assert (webhook["failurePolicy"], webhook["matchPolicy"]) == ("Fail", "Equivalent")
    assert (webhook["timeoutSeconds"], webhook["objectSelector"]) == (10, {})
    assert webhook["rules"][0]["scope"] == "*"
