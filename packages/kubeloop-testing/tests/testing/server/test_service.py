"""The whole server: start, restart, credentials, statistics."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from kubeloop_testing import APIServer
from kubeloop_testing.server import Service
from kubeloop_testing.server.identity import User
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import CONFIG_MAPS, PODS, config_map


async def test_it_is_ready_in_a_blink() -> None:
    best = 1.0
    for _ in range(3):
        begun = time.perf_counter()
        async with Service():
            best = min(best, time.perf_counter() - begun)

    assert best < 0.15


@pytest.mark.parametrize("turns", range(4))
async def test_a_connection_at_the_last_moment_is_closed(turns: int) -> None:
    async with Service() as server:
        host, port = server.url.removeprefix("http://").split(":")
        client = socket.create_connection((host, int(port)))
        for _ in range(turns):
            await asyncio.sleep(0)

    with client, contextlib.suppress(ConnectionResetError):  # the listener was closed already
        client.setblocking(False)
        assert await asyncio.get_running_loop().sock_recv(client, 1) == b""


def test_an_unknown_option_names_the_class_in_its_error() -> None:
    with pytest.raises(TypeError, match="APIServer"):
        APIServer(prot=1)  # type: ignore[call-arg]  # a typo of `port`


async def test_two_servers_know_nothing_of_each_other(api: Api) -> None:
    async with Service() as other, aiohttp.ClientSession(other.url) as session:
        await api.create(CONFIG_MAPS, config_map("a"))

        assert (await Api(session).get(f"{CONFIG_MAPS}/a")).code == 404


async def test_documents_about_the_api_are_there(api: Api) -> None:
    for path in ("/healthz", "/livez", "/readyz/ping"):
        assert (await api.get(path)).raw == b"ok"
    assert (await api.get("/version")).json["major"] == "1"
    assert (await api.get("/api")).json["kind"] == "APIVersions"
    assert (await api.get("/apis")).json["kind"] == "APIGroupList"
    assert (await api.get("/apis/apps")).json["kind"] == "APIGroup"
    assert (await api.get("/apis/apps/v1")).json["kind"] == "APIResourceList"


async def test_a_document_that_the_client_has_is_not_sent_again(api: Api) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    first = await api.get("/apis", headers={"Accept": accept})

    again = await api.get(
        "/apis", headers={"Accept": accept, "If-None-Match": first.headers["ETag"]}
    )

    assert first.json["kind"] == "APIGroupDiscoveryList"
    assert (again.code, again.raw) == (304, b"")


async def test_credentials_are_asked_for_where_tokens_are_configured() -> None:
    async with (
        Service(tokens={"secret": User("jane")}) as server,
        aiohttp.ClientSession(server.url) as session,
    ):
        api = Api(session)
        stranger = await api.get(PODS)
        jane = await api.get(PODS, headers={"Authorization": "Bearer secret"})
        old = {"Authorization": f"Bearer {server.token}"}
        admin = await api.get(PODS, headers=old)
        server.rotate_token()
        late = await api.get(PODS, headers=old)
        new = await api.get(PODS, headers={"Authorization": f"Bearer {server.token}"})

    codes = [each.code for each in (stranger, jane, admin, late, new)]
    assert codes == [401, 200, 200, 401, 200]
    assert stranger.json["message"] == "Unauthorized"


async def test_roles_decide_where_rbac_is_enabled() -> None:
    async with (
        Service(rbac=True, tokens={"secret": User("jane")}) as server,
        aiohttp.ClientSession(server.url) as session,
    ):
        api = Api(session)
        jane = {"Authorization": "Bearer secret"}
        admin = {"Authorization": f"Bearer {server.token}"}
        before = await api.get(PODS, headers=jane)
        roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
        rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
        await api.create(
            f"{roles}/roles", {"metadata": {"name": "see"}, "rules": [rule]}, headers=admin
        )
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "see"}
        subject = {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
        body = {"metadata": {"name": "see"}, "roleRef": reference, "subjects": [subject]}
        await api.create(f"{roles}/rolebindings", body, headers=admin)
        after = await api.get(PODS, headers=jane)
        acting = await api.get(PODS, headers={**admin, "Impersonate-User": "john"})

    assert before.code == 403
    assert before.json["message"] == (
        'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the '
        'namespace "default"'
    )
    assert after.code == 200
    assert acting.code == 403


def _trusting(ca: bytes | None, pair: Any = None, directory: Path | None = None) -> Any:
    assert ca is not None
    context = ssl.create_default_context(cadata=ca.decode())
    if pair is not None:
        assert directory is not None
        certificate, key = pair.write(directory)
        context.load_cert_chain(certificate, key)
    return aiohttp.TCPConnector(ssl=context)


async def test_tls_and_client_certificates(tmp_path: Path) -> None:
    async with Service(tls=True) as server:
        pair = server.client_certificate("jane", ("devs",))
        async with aiohttp.ClientSession(
            server.url, connector=_trusting(server.ca, pair, tmp_path)
        ) as session:
            response = await Api(session)(
                "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}
            )

    assert response.json["status"]["userInfo"]["username"] == "jane"
    assert "devs" in response.json["status"]["userInfo"]["groups"]


async def test_certificates_and_authorities_are_rotated_while_it_runs() -> None:
    """X-3: rotation."""
    async with Service(tls=True) as server:
        old = server.ca
        server.rotate_certificate()
        async with aiohttp.ClientSession(server.url, connector=_trusting(old)) as session:
            same = await Api(session).get("/version")
        server.rotate_ca()
        async with aiohttp.ClientSession(server.url, connector=_trusting(old)) as session:
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await Api(session).get("/version")
        async with aiohttp.ClientSession(server.url, connector=_trusting(server.ca)) as session:
            new = await Api(session).get("/version")

    assert (same.code, new.code) == (200, 200)
    assert server.ca != old


async def test_stats_show_what_is_stored_and_who_watches(api: Api, server: Service) -> None:
    await api.create(CONFIG_MAPS, config_map("a"))
    async with api.watch(CONFIG_MAPS) as response:
        await response.content.readline()
        stats = server.stats()

    assert stats.store.objects["configmaps"] == 1
    assert stats.watches.watchers == 1
    assert stats.requests == 2


async def test_a_server_that_does_not_run_says_so() -> None:
    with pytest.raises(RuntimeError, match="not running"):
        Service().stats()


async def test_an_access_review_is_answered_and_not_stored(api: Api) -> None:
    body = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}

    response = await api("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)

    assert response.code == 201
    assert response.json["status"]["allowed"] is True
