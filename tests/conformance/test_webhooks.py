"""Admission webhooks: when they are asked, with what, and what their word is worth."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.conformance.caller import Caller
from tests.conformance.samples import config_map, deployment
from tests.conformance.webhook import Hook, hooked, patch_of

Object = dict[str, Any]
MAPS = "configmaps"
PATH = "/apis/admissionregistration.k8s.io/v1"


@pytest_asyncio.fixture(loop_scope="session")
async def hook() -> AsyncIterator[Hook]:
    async with hooked() as hook:
        yield hook


async def register(
    api: Caller,
    hook: Hook,
    sort: str = "validating",
    *,
    operations: tuple[str, ...] = ("CREATE", "UPDATE", "DELETE"),
    resources: tuple[str, ...] = ("configmaps",),
    groups: tuple[str, ...] = ("",),
    **more: Any,
) -> str:
    """Register the webhook for this namespace, and wait until it is asked."""
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
    path = f"{PATH}/{sort}webhookconfigurations"
    created = await api.create(
        path, {"metadata": {"generateName": "conformance-"}, "webhooks": [webhook]}
    )
    await until_asked(api, hook, operations, resources)
    return f"{path}/{created.meta['name']}"


async def until_asked(
    api: Caller, hook: Hook, operations: tuple[str, ...], resources: tuple[str, ...]
) -> None:
    """kube-apiserver learns of a registration by a watch; a dry run finds out."""
    if "CREATE" not in operations or MAPS not in resources:
        return
    while not hook.asked:
        await api("POST", api.at(MAPS), config_map("probe"), query={"dryRun": "All"})
    hook.asked.clear()


def refuse(**status: Any) -> Any:
    return lambda _: {"allowed": False, "status": status}


async def test_a_webhook_that_agrees_lets_the_write_through(api: Caller, hook: Hook) -> None:
    await register(api, hook)

    await api.create(api.at(MAPS), config_map("a"))

    assert len(hook.asked) == 1


async def test_a_review_says_what_is_asked_for(api: Caller, hook: Hook) -> None:
    await register(api, hook)

    await api.create(api.at(MAPS), config_map("a", x="1"))

    (asked,) = hook.asked
    assert asked["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert asked["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert (asked["operation"], asked["namespace"], asked["name"]) == (
        "CREATE",
        api.namespace,
        "a",
    )
    assert asked["userInfo"]["username"] == "admin"
    assert asked["dryRun"] is False
    assert asked["object"]["data"] == {"x": "1"}
    assert asked["oldObject"] is None
    assert asked["options"]["kind"] == "CreateOptions"


async def test_a_review_of_an_update_shows_both_objects(api: Caller, hook: Hook) -> None:
    await register(api, hook)
    await api.create(api.at(MAPS), config_map("a", x="1"))
    hook.asked.clear()

    await api.patch(api.at(MAPS, "a"), {"data": {"x": "2"}})

    (asked,) = hook.asked
    assert asked["operation"] == "UPDATE"
    assert (asked["oldObject"]["data"], asked["object"]["data"]) == ({"x": "1"}, {"x": "2"})
    assert asked["options"]["kind"] == "UpdateOptions"


async def test_a_review_of_a_deletion_shows_the_old_object(api: Caller, hook: Hook) -> None:
    await register(api, hook)
    await api.create(api.at(MAPS), config_map("a", x="1"))
    hook.asked.clear()

    await api("DELETE", api.at(MAPS, "a"))

    (asked,) = hook.asked
    assert (asked["operation"], asked["object"]) == ("DELETE", None)
    assert asked["oldObject"]["data"] == {"x": "1"}


async def test_a_webhook_that_refuses_is_the_end_of_it(api: Caller, hook: Hook) -> None:
    await register(api, hook)
    hook.answer = refuse(message="not today")

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.reason) == (400, "")
    assert reply.message == (
        'admission webhook "hook.conformance.example.com" denied the request: not today'
    )
    assert (await api.get(api.at(MAPS, "a"))).code == 404


async def test_a_webhook_that_refuses_without_a_word(api: Caller, hook: Hook) -> None:
    await register(api, hook)
    hook.answer = lambda _: {"allowed": False}

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.message) == (
        400,
        'admission webhook "hook.conformance.example.com" denied the request without explanation',
    )


async def test_a_webhook_chooses_code_and_reason(api: Caller, hook: Hook) -> None:
    await register(api, hook)
    hook.answer = refuse(message="busy", code=429, reason="TooManyRequests")

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.reason) == (429, "TooManyRequests")


async def test_a_webhook_may_refuse_a_deletion(api: Caller, hook: Hook) -> None:
    await register(api, hook)
    await api.create(api.at(MAPS), config_map("a"))
    hook.answer = refuse(message="it is needed")

    reply = await api("DELETE", api.at(MAPS, "a"))

    assert reply.code == 400
    assert (await api.get(api.at(MAPS, "a"))).code == 200


async def test_a_webhook_warns(api: Caller, hook: Hook) -> None:
    await register(api, hook)
    hook.answer = lambda _: {"allowed": True, "warnings": ["mind the gap"]}

    reply = await api.create(api.at(MAPS), config_map("a"))

    assert reply.warnings == ["mind the gap"]


async def test_a_mutating_webhook_changes_what_is_stored(api: Caller, hook: Hook) -> None:
    await register(api, hook, "mutating")
    hook.answer = lambda _: patch_of({"op": "add", "path": "/data", "value": {"y": "2"}})

    reply = await api.create(api.at(MAPS), config_map("a", x="1"))

    assert reply.body["data"] == {"y": "2"}
    assert (await api.get(api.at(MAPS, "a"))).body["data"] == {"y": "2"}


async def test_what_a_webhook_made_is_validated(api: Caller, hook: Hook) -> None:
    await register(api, hook, "mutating")
    hook.answer = lambda _: patch_of({"op": "add", "path": "/data", "value": {"a/b": "2"}})

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.reason) == (422, "Invalid")


async def test_what_a_webhook_made_is_defaulted(api: Caller, hook: Hook) -> None:
    await register(
        api, hook, "mutating", resources=("deployments", "configmaps"), groups=("apps", "")
    )
    hook.answer = lambda _: patch_of({"op": "remove", "path": "/spec/strategy"})

    reply = await api.create(api.at("apps/v1/deployments"), deployment())

    assert reply.spec["strategy"]["type"] == "RollingUpdate"


async def test_what_a_webhook_changes_in_a_spec_makes_a_new_generation(
    api: Caller, hook: Hook
) -> None:
    await api.create(api.at("apps/v1/deployments"), deployment())
    await register(
        api, hook, "mutating", resources=("deployments", "configmaps"), groups=("apps", "")
    )
    hook.answer = lambda _: patch_of({"op": "replace", "path": "/spec/replicas", "value": 7})

    patch = {"metadata": {"labels": {"touched": "yes"}}}
    reply = await api.patch(api.at("apps/v1/deployments", "web"), patch)

    assert (reply.spec["replicas"], reply.meta["generation"]) == (7, 2)


async def test_a_validating_webhook_sees_what_a_mutating_one_made(api: Caller, hook: Hook) -> None:
    await register(api, hook, "mutating")
    async with hooked() as second:
        await register(api, second)
        hook.asked.clear()
        hook.answer = lambda _: patch_of({"op": "add", "path": "/data", "value": {"y": "2"}})
        second.asked.clear()

        await api.create(api.at(MAPS), config_map("a", x="1"))

        assert second.asked[0]["object"]["data"] == {"y": "2"}


async def test_a_webhook_is_asked_for_its_operations_only(api: Caller, hook: Hook) -> None:
    await register(api, hook, operations=("CREATE",))
    await api.create(api.at(MAPS), config_map("a"))
    hook.asked.clear()

    await api.patch(api.at(MAPS, "a"), {"data": {"x": "2"}})
    await api("DELETE", api.at(MAPS, "a"))

    assert hook.asked == []


async def test_a_webhook_is_asked_for_its_objects_only(api: Caller, hook: Hook) -> None:
    path = await register(api, hook)
    selector = {"webhooks": [{"objectSelector": {"matchLabels": {"watch": "me"}}}]}
    body = (await api.get(path)).body
    body["webhooks"][0] |= selector["webhooks"][0]
    await api("PUT", path, body)
    while True:  # until the selector is seen
        hook.asked.clear()
        await api("POST", api.at(MAPS), config_map("probe"), query={"dryRun": "All"})
        if not hook.asked:
            break

    await api.create(api.at(MAPS), config_map("a"))
    await api.create(api.at(MAPS), config_map("b", labels={"watch": "me"}))

    assert [asked["name"] for asked in hook.asked] == ["b"]


async def test_a_webhook_is_told_of_a_dry_run(api: Caller, hook: Hook) -> None:
    await register(api, hook)

    await api.create(api.at(MAPS), config_map("a"), dryRun="All")

    assert hook.asked[0]["dryRun"] is True


async def test_a_webhook_with_side_effects_is_not_asked_in_a_dry_run(
    api: Caller, hook: Hook
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


async def test_a_webhook_that_fails_refuses_by_default(api: Caller, hook: Hook) -> None:
    await register(api, hook)
    hook.answer = lambda _: None

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.reason) == (500, "InternalError")
    assert 'failed calling webhook "hook.conformance.example.com"' in reply.message


async def test_a_webhook_that_fails_may_be_ignored(api: Caller, hook: Hook) -> None:
    await register(api, hook, failurePolicy="Ignore")
    hook.answer = lambda _: None

    assert (await api("POST", api.at(MAPS), config_map("a"))).code == 201


async def test_an_apply_is_asked_about_like_a_create(api: Caller, hook: Hook) -> None:
    await register(api, hook)

    await api.apply(api.at(MAPS, "a"), config_map("a"))

    assert [(each["operation"], each["options"]["kind"]) for each in hook.asked] == [
        ("CREATE", "CreateOptions")
    ]


async def test_each_deletion_of_a_collection_is_asked_about(api: Caller, hook: Hook) -> None:
    await register(api, hook)
    for name in "ab":
        await api.create(api.at(MAPS), config_map(name))
    hook.asked.clear()

    await api("DELETE", api.at(MAPS))

    assert sorted(asked["oldObject"]["metadata"]["name"] for asked in hook.asked) == ["a", "b"]


async def test_a_webhook_for_parts_is_asked_for_parts(api: Caller, hook: Hook) -> None:
    await register(api, hook, resources=("deployments/status", "configmaps"), groups=("apps", ""))
    await api.create(api.at("apps/v1/deployments"), deployment())
    hook.asked.clear()

    await api.patch(api.at("apps/v1/deployments", "web", "status"), {"status": {"replicas": 1}})

    (asked,) = hook.asked
    assert (asked["subResource"], asked["operation"]) == ("status", "UPDATE")


@pytest.mark.parametrize("sort", ["mutating", "validating"])
async def test_a_registration_is_filled_in(api: Caller, hook: Hook, sort: str) -> None:
    path = await register(api, hook, sort)

    (webhook,) = (await api.get(path)).body["webhooks"]

    assert (webhook["failurePolicy"], webhook["matchPolicy"]) == ("Fail", "Equivalent")
    assert (webhook["timeoutSeconds"], webhook["objectSelector"]) == (10, {})
    assert webhook["rules"][0]["scope"] == "*"
