"""Authentication: certificates, tokens of service accounts, anonymous clients."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from tests.conformance.raw_client import RawClient, Response
from tests.conformance.samples import pod
from tests.conformance.servers import Server

Object = dict[str, Any]
TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


async def token(api: RawClient, **spec: Any) -> Response:
    """A token for the service account `robot`, which is created if missing."""
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


async def test_a_certificate_authenticates_its_user(api: RawClient, server: Server) -> None:
    jane = RawClient(await server.session("jane", ("readers",)), server.url, api.namespace)

    reply = await jane.create(WHOAMI, {})

    info = reply.body["status"]["userInfo"]
    assert (info["username"], info["groups"]) == ("jane", ["readers", "system:authenticated"])


async def test_a_client_without_credentials_is_anonymous(anonymous: RawClient) -> None:
    reply = await anonymous.get("/api/v1/nodes")

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert 'User "system:anonymous" cannot list resource "nodes"' in reply.message


@pytest.mark.parametrize(
    "path", ["/version", "/version/", "/healthz", "/livez", "/readyz", "/readyz?verbose"]
)
async def test_an_anonymous_client_may_read_health_and_version(
    anonymous: RawClient, path: str
) -> None:
    assert (await anonymous.get(path)).code == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/api", "/api/v1", "/apis", "/openapi/v2", "/openapi/v3", "/metrics", "/nothing"),
        *("/livez/ping", "/healthz/etcd", "/openid/v1/jwks", "/.well-known/openid-configuration"),
    ],
)
async def test_an_anonymous_client_may_read_nothing_else(anonymous: RawClient, path: str) -> None:
    reply = await anonymous.get(path)

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert f'User "system:anonymous" cannot get path "{path}"' in reply.message


@pytest.mark.parametrize("path", ["/version", WHOAMI])
async def test_an_anonymous_client_may_send_nothing(anonymous: RawClient, path: str) -> None:
    assert (await anonymous("POST", path, {})).code == 403


@pytest.mark.parametrize("text", ["nonsense", "a.b.c"])
async def test_an_unknown_token_is_401(anonymous: RawClient, text: str) -> None:
    reply = await anonymous("GET", "/version", headers=bearing(text))

    assert (reply.code, reply.reason, reply.message) == (401, "Unauthorized", "Unauthorized")


async def test_a_token_of_a_service_account_authenticates_it(
    api: RawClient, anonymous: RawClient
) -> None:
    text = (await token(api)).body["status"]["token"]

    reply = await anonymous("POST", WHOAMI, {}, headers=bearing(text))

    info = reply.body["status"]["userInfo"]
    assert info["username"] == f"system:serviceaccount:{api.namespace}:robot"
    assert info["groups"] == [
        "system:serviceaccounts",
        f"system:serviceaccounts:{api.namespace}",
        "system:authenticated",
    ]


async def test_a_token_request_returns_token_and_expiration(api: RawClient) -> None:
    reply = await token(api)

    assert (reply.body["kind"], reply.meta["name"]) == ("TokenRequest", "robot")
    assert reply.spec["expirationSeconds"] == 3600
    assert reply.body["status"].keys() == {"token", "expirationTimestamp"}


async def test_a_token_has_these_claims(api: RawClient) -> None:
    text = (await token(api, audiences=["shop"], expirationSeconds=900)).body["status"]["token"]

    found = claims(text)
    assert found["aud"] == ["shop"]
    assert found["exp"] - found["iat"] == 900
    assert found["sub"] == f"system:serviceaccount:{api.namespace}:robot"
    assert found["kubernetes.io"]["namespace"] == api.namespace
    assert found["kubernetes.io"]["serviceaccount"]["name"] == "robot"


async def test_a_token_for_another_audience_is_rejected(
    api: RawClient, anonymous: RawClient
) -> None:
    text = (await token(api, audiences=["shop"])).body["status"]["token"]

    assert (await anonymous("GET", "/version", headers=bearing(text))).code == 401


@pytest.mark.timeout(60)
async def test_a_token_is_invalid_after_its_service_account_is_deleted(
    api: RawClient, anonymous: RawClient
) -> None:
    text = (await token(api)).body["status"]["token"]
    await api("DELETE", api.at("serviceaccounts", "robot"))

    # kube-apiserver caches accounts with a watch, and successful authentications for 10 s.
    while (code := (await anonymous("GET", "/version", headers=bearing(text))).code) == 200:
        await asyncio.sleep(0.1)

    assert code == 401


async def test_a_token_may_be_bound_to_a_pod(api: RawClient) -> None:
    body = pod()
    body["spec"]["serviceAccountName"] = "robot"
    created = await api.create(api.at("pods"), body)

    bound = {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": created.meta["uid"]}
    reply = await token(api, boundObjectRef=bound)

    found = claims(reply.body["status"]["token"])
    assert found["kubernetes.io"]["pod"] == {"name": "web", "uid": created.meta["uid"]}


async def test_a_token_is_not_bound_to_a_pod_of_another_account(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())
    await token(api)
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "web"}

    reply = await api(
        "POST", api.at("serviceaccounts", "robot", "token"), {"spec": {"boundObjectRef": bound}}
    )

    assert (reply.code, reply.reason) == (400, "BadRequest")


async def test_a_token_is_valid_for_ten_minutes_at_least(api: RawClient) -> None:
    await token(api)

    reply = await api(
        "POST", api.at("serviceaccounts", "robot", "token"), {"spec": {"expirationSeconds": 60}}
    )

    assert (reply.code, reply.reason) == (422, "Invalid")
    assert reply.causes == [("spec.expirationSeconds", "FieldValueInvalid")]


async def test_a_token_for_a_missing_account_is_404(api: RawClient) -> None:
    reply = await api("POST", api.at("serviceaccounts", "nope", "token"), {"spec": {}})

    assert reply.code == 404
    assert reply.details["kind"] == "serviceaccounts"


async def test_a_review_of_a_valid_token_returns_its_user(api: RawClient) -> None:
    text = (await token(api)).body["status"]["token"]

    reply = await api.create(TOKEN_REVIEWS, {"spec": {"token": text}})

    status = reply.body["status"]
    assert status["authenticated"] is True
    assert status["user"]["username"] == f"system:serviceaccount:{api.namespace}:robot"
    issuer = (await api.get("/.well-known/openid-configuration")).body["issuer"]
    assert status["audiences"] == [issuer]


async def test_a_review_of_an_invalid_token_is_not_authenticated(api: RawClient) -> None:
    reply = await api.create(TOKEN_REVIEWS, {"spec": {"token": "nonsense"}})

    status = reply.body["status"]
    assert not status.get("authenticated")
    assert "error" in status


async def test_a_review_without_a_token_is_rejected(api: RawClient) -> None:
    reply = await api("POST", TOKEN_REVIEWS, {"spec": {}})

    assert (reply.code, reply.reason) == (400, "BadRequest")


async def test_a_review_may_require_an_audience(api: RawClient) -> None:
    text = (await token(api, audiences=["shop"])).body["status"]["token"]

    theirs = await api.create(TOKEN_REVIEWS, {"spec": {"token": text, "audiences": ["shop"]}})
    others = await api.create(TOKEN_REVIEWS, {"spec": {"token": text, "audiences": ["bank"]}})

    assert theirs.body["status"]["authenticated"] is True
    assert theirs.body["status"]["audiences"] == ["shop"]
    assert not others.body["status"].get("authenticated")


@pytest.mark.one_format
async def test_the_keys_of_tokens_are_published(api: RawClient) -> None:
    keys = await api.get("/openid/v1/jwks")
    about = await api.get("/.well-known/openid-configuration")

    assert {"use", "kty", "kid", "alg"} <= keys.body["keys"][0].keys()
    assert about.body["issuer"].startswith("https://kubernetes.default.svc")
    assert about.body["subject_types_supported"] == ["public"]
