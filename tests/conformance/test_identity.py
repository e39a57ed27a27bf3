"""Who comes in: certificates, tokens of service accounts, strangers."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from tests.conformance.caller import Caller, Reply
from tests.conformance.samples import pod
from tests.conformance.servers import Server

Object = dict[str, Any]
TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


async def token(api: Caller, **spec: Any) -> Reply:
    """A token for the service account `robot`, which is made when it is not there."""
    await api("POST", api.at("serviceaccounts"), {"metadata": {"name": "robot"}})
    path = api.at("serviceaccounts", "robot", "token")
    reply = await api("POST", path, {"spec": spec})
    assert reply.code == 201, reply
    return reply


def claims(text: str) -> Object:
    part = text.split(".")[1]
    found: Object = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def bearing(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


async def test_a_certificate_says_who_one_is(api: Caller, server: Server) -> None:
    jane = Caller(await server.session("jane", ("readers",)), server.url, api.namespace)

    reply = await jane.create(WHOAMI, {})

    info = reply.body["status"]["userInfo"]
    assert (info["username"], info["groups"]) == ("jane", ["readers", "system:authenticated"])


async def test_a_stranger_is_anonymous(stranger: Caller) -> None:
    reply = await stranger.get("/api/v1/nodes")

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert 'User "system:anonymous" cannot list resource "nodes"' in reply.message


@pytest.mark.parametrize("path", ["/version", "/healthz", "/livez", "/readyz"])
async def test_a_stranger_may_ask_for_health_and_version(stranger: Caller, path: str) -> None:
    assert (await stranger.get(path)).code == 200


async def test_a_stranger_may_not_read_discovery(stranger: Caller) -> None:
    assert (await stranger.get("/apis")).code == 403


@pytest.mark.parametrize("text", ["nonsense", "a.b.c"])
async def test_a_token_that_nobody_gave_is_401(stranger: Caller, text: str) -> None:
    reply = await stranger("GET", "/version", headers=bearing(text))

    assert (reply.code, reply.reason, reply.message) == (401, "Unauthorized", "Unauthorized")


async def test_a_token_of_a_service_account_is_its_way_in(api: Caller, stranger: Caller) -> None:
    text = (await token(api)).body["status"]["token"]

    reply = await stranger("POST", WHOAMI, {}, headers=bearing(text))

    info = reply.body["status"]["userInfo"]
    assert info["username"] == f"system:serviceaccount:{api.namespace}:robot"
    assert info["groups"] == [
        "system:serviceaccounts",
        f"system:serviceaccounts:{api.namespace}",
        "system:authenticated",
    ]


async def test_a_token_request_is_answered_with_token_and_end(api: Caller) -> None:
    reply = await token(api)

    assert (reply.body["kind"], reply.meta["name"]) == ("TokenRequest", "robot")
    assert reply.spec["expirationSeconds"] == 3600
    assert reply.body["status"].keys() == {"token", "expirationTimestamp"}


async def test_a_token_carries_these_claims(api: Caller) -> None:
    text = (await token(api, audiences=["shop"], expirationSeconds=900)).body["status"]["token"]

    found = claims(text)
    assert found["aud"] == ["shop"]
    assert found["exp"] - found["iat"] == 900
    assert found["sub"] == f"system:serviceaccount:{api.namespace}:robot"
    assert found["kubernetes.io"]["namespace"] == api.namespace
    assert found["kubernetes.io"]["serviceaccount"]["name"] == "robot"


async def test_a_token_for_somebody_else_is_no_way_in(api: Caller, stranger: Caller) -> None:
    text = (await token(api, audiences=["shop"])).body["status"]["token"]

    assert (await stranger("GET", "/version", headers=bearing(text))).code == 401


@pytest.mark.timeout(60)
async def test_a_token_dies_with_its_service_account(api: Caller, stranger: Caller) -> None:
    text = (await token(api)).body["status"]["token"]
    await api("DELETE", api.at("serviceaccounts", "robot"))

    # kube-apiserver learns of it by a watch; who asks before that is believed for 10 s more.
    while (code := (await stranger("GET", "/version", headers=bearing(text))).code) == 200:
        await asyncio.sleep(0.1)

    assert code == 401


async def test_a_token_may_be_bound_to_a_pod(api: Caller) -> None:
    body = pod()
    body["spec"]["serviceAccountName"] = "robot"
    created = await api.create(api.at("pods"), body)

    bound = {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": created.meta["uid"]}
    reply = await token(api, boundObjectRef=bound)

    found = claims(reply.body["status"]["token"])
    assert found["kubernetes.io"]["pod"] == {"name": "web", "uid": created.meta["uid"]}


async def test_a_token_is_not_bound_to_a_pod_of_another_account(api: Caller) -> None:
    await api.create(api.at("pods"), pod())
    await token(api)
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "web"}

    reply = await api(
        "POST", api.at("serviceaccounts", "robot", "token"), {"spec": {"boundObjectRef": bound}}
    )

    assert (reply.code, reply.reason) == (400, "BadRequest")


async def test_a_token_lives_ten_minutes_at_least(api: Caller) -> None:
    await token(api)

    reply = await api(
        "POST", api.at("serviceaccounts", "robot", "token"), {"spec": {"expirationSeconds": 60}}
    )

    assert (reply.code, reply.reason) == (422, "Invalid")
    assert reply.causes == [("spec.expirationSeconds", "FieldValueInvalid")]


async def test_a_token_for_an_account_that_is_not_there_is_404(api: Caller) -> None:
    reply = await api("POST", api.at("serviceaccounts", "nope", "token"), {"spec": {}})

    assert reply.code == 404
    assert reply.details["kind"] == "serviceaccounts"


async def test_a_review_of_a_good_token_says_whose_it_is(api: Caller) -> None:
    text = (await token(api)).body["status"]["token"]

    reply = await api.create(TOKEN_REVIEWS, {"spec": {"token": text}})

    status = reply.body["status"]
    assert status["authenticated"] is True
    assert status["user"]["username"] == f"system:serviceaccount:{api.namespace}:robot"
    issuer = (await api.get("/.well-known/openid-configuration")).body["issuer"]
    assert status["audiences"] == [issuer]


async def test_a_review_of_a_bad_token_says_no(api: Caller) -> None:
    reply = await api.create(TOKEN_REVIEWS, {"spec": {"token": "nonsense"}})

    status = reply.body["status"]
    assert not status.get("authenticated")
    assert "error" in status


async def test_a_review_of_no_token_is_refused(api: Caller) -> None:
    reply = await api("POST", TOKEN_REVIEWS, {"spec": {}})

    assert (reply.code, reply.reason) == (400, "BadRequest")


async def test_a_review_may_ask_for_an_audience(api: Caller) -> None:
    text = (await token(api, audiences=["shop"])).body["status"]["token"]

    theirs = await api.create(TOKEN_REVIEWS, {"spec": {"token": text, "audiences": ["shop"]}})
    others = await api.create(TOKEN_REVIEWS, {"spec": {"token": text, "audiences": ["bank"]}})

    assert theirs.body["status"]["authenticated"] is True
    assert theirs.body["status"]["audiences"] == ["shop"]
    assert not others.body["status"].get("authenticated")


async def test_the_keys_of_tokens_are_published(api: Caller) -> None:
    keys = await api.get("/openid/v1/jwks")
    about = await api.get("/.well-known/openid-configuration")

    assert {"use", "kty", "kid", "alg"} <= keys.body["keys"][0].keys()
    assert about.body["issuer"].startswith("https://kubernetes.default.svc")
    assert about.body["subject_types_supported"] == ["public"]
