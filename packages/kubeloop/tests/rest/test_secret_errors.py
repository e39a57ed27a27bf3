"""Errors of requests for Secrets, with the responses that kube-apiserver sent."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import traceback
from typing import Any

import pytest

from kubeloop import blocking
from kubeloop.config import ClusterConfig
from kubeloop.errors import ApiError, DecodeError, Invalid
from kubeloop.errors.hidden_values import HIDDEN, hide_values, values_in
from kubeloop.rest import path_request, resource_request
from kubeloop.runtime import Client
from kubeloop.wire import ResourceInfo
from kubeloop.wire.core.v1 import Secret
from tests.support.scripted_server import ScriptedServer, client_for, reply

from .secret_errors import CASES, FOLDER, PASSWORD, RECORDED, VALUES, Case, secret, send

STATUSES: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
WHOLE = STATUSES[0]  # quotes the whole object
SECRETS = ResourceInfo(
    group="", version="v1", plural="secrets", kind="Secret", singular="secret", namespaced=True
)


def texts_of(error: ApiError) -> str:
    """All that a program may log or show of an error."""
    causes = [f"{cause.field} {cause.message}" for cause in error.causes]
    return "\n".join(
        [
            str(error),
            repr(error),
            error.summary,
            error.message,
            *causes,
            *traceback.format_exception(error),
            str(copy.copy(error)),
            repr(pickle.loads(pickle.dumps(error))),
        ]
    )


@pytest.mark.parametrize(("case", "status"), list(zip(CASES, STATUSES, strict=True)))
async def test_no_text_of_an_error_has_a_value_of_a_secret(
    case: Case, status: dict[str, Any], server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.respond(reply(status["code"], status))
    async with client_for(server) as rest:
        error = await send(rest, case)

    assert not [value for value in VALUES if value in texts_of(error) + caplog.text]
    assert error.status.message == status["message"]
    assert error.code == status["code"]


@pytest.mark.parametrize("case", CASES)
async def test_no_server_s_error_has_a_value_of_a_secret(case: Case, kube_client: Client) -> None:
    """On the server of `--kube`."""
    secrets = kube_client.resource(Secret, namespace="default")
    await secrets.apply(Secret.from_dict(secret()), field_manager="first")
    try:
        error = await send(kube_client.rest, case)
    except AssertionError:  # the embedded server accepts more
        return
    finally:
        await secrets.delete("web")

    assert not [value for value in VALUES if value in texts_of(error)]


async def test_the_rest_of_a_message_stays(server: ScriptedServer) -> None:
    server.respond(reply(422, WHOLE))
    async with client_for(server) as rest:
        error = await send(rest, CASES[0])

    assert str(error) == (
        f'PATCH {FOLDER}/web: 422 Invalid:  "" is invalid: patch: Invalid value: {HIDDEN}: json:'
        " cannot unmarshal number into Go struct field Secret.data of type []uint8"
    )
    assert [(cause.field, cause.reason) for cause in error.causes] == [
        ("patch", "FieldValueInvalid")
    ]


async def test_typed_and_dict_clients_hide_values(server: ScriptedServer) -> None:
    server.respond(reply(422, WHOLE))
    async with client_for(server) as rest:
        client = Client(rest=rest)
        for secrets in (
            client.core_v1.secrets("default"),
            client.resource("v1", "Secret", namespace="default"),
        ):
            with pytest.raises(Invalid) as caught:
                await secrets.patch("web", {"data": {"x": 5}}, type="merge")
            assert not [value for value in VALUES if value in texts_of(caught.value)]


async def test_a_webhook_that_quotes_a_value_does_not_show_it(server: ScriptedServer) -> None:
    message = f'admission webhook "a.b.c" denied the request: "{PASSWORD}" is too short'
    status = {**WHOLE, "code": 403, "reason": "Forbidden", "message": message, "details": {}}
    server.respond(reply(403, status))
    async with client_for(server) as rest:
        error = await send(rest, Case("POST", secret("new", stringData={"password": PASSWORD})))

    assert error.message == f'admission webhook "a.b.c" denied the request: "{HIDDEN}" is too short'


async def test_a_status_in_a_successful_response_hides_values_too(server: ScriptedServer) -> None:
    server.respond(reply(200, WHOLE))
    async with client_for(server) as rest:
        response = await rest.send(
            resource_request("get", SECRETS, namespace="default", name="web")
        )
        with pytest.raises(Invalid) as caught:
            response.decode(Secret)

    assert not [value for value in VALUES if value in texts_of(caught.value)]


async def test_a_secret_in_an_unknown_format_is_not_shown(server: ScriptedServer) -> None:
    server.respond(reply(200, secret(), content_type="text/html"))
    async with client_for(server) as rest:
        response = await rest.send(path_request("GET", f"{FOLDER}/web"))
        with pytest.raises(DecodeError) as caught:
            response.decode(Secret)

    assert not [value for value in VALUES if value in str(caught.value)]


async def test_other_kinds_keep_what_the_server_quotes(server: ScriptedServer) -> None:
    server.respond(reply(422, WHOLE))
    async with client_for(server) as rest:
        with pytest.raises(Invalid) as caught:
            await rest.send(path_request("PATCH", "/api/v1/namespaces/secrets/configmaps/secrets"))

    assert caught.value.message == WHOLE["message"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            'Secret "s" is invalid: [type: Invalid value: "a": no, b: Invalid value: 5: no]',
            f'Secret "s" is invalid: [type: Invalid value: {HIDDEN}: no, b: Invalid value: {HIDDEN}: no]',
        ),
        (
            "[data[x]: Required value: no, c: Duplicate value: true]",
            f"[data[x]: Required value: no, c: Duplicate value: {HIDDEN}]",
        ),
        ('a: Invalid value: v1.A{B:"x: y"}: no', f"a: Invalid value: {HIDDEN}"),
        ('a: Invalid value: "cut off', f"a: Invalid value: {HIDDEN}"),
        (
            'a: Not found: "x\\"y", b: Too long: may not be',
            f"a: Not found: {HIDDEN}, b: Too long: may not be",
        ),
        (
            'but found ", error found in #10 byte of ...|data":"x"|..., bigger context ...|y|...',
            f'but found ", error found in #10 byte of {HIDDEN}',
        ),
        ('secrets "a" not found', 'secrets "a" not found'),
        (
            'secrets "a" is forbidden: User "b" cannot get resource "secrets" in API group ""',
            'secrets "a" is forbidden: User "b" cannot get resource "secrets" in API group ""',
        ),
    ],
)
def test_values_are_cut_and_the_rest_stays(message: str, shown: str) -> None:
    assert hide_values(message, []) == shown


def test_values_are_looked_for_as_text_escaped_and_in_base64() -> None:
    body = json.dumps(
        {"kind": "Secret", "data": {"a": "aHVudGVyMg=="}, "stringData": {"b": 'x"yz'}}
    )

    found = values_in(body.encode())

    assert {"aHVudGVyMg==", "hunter2", 'x"yz', 'x\\"yz', "eCJ5eg=="} <= set(found)
    assert "Secret" not in found
    assert found == sorted(found, key=len, reverse=True)


@pytest.mark.parametrize("body", [None, b"", b"{", b"5", b"[5]", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_object_has_no_values(body: bytes | None) -> None:
    assert values_in(body) == []


def test_the_blocking_client_hides_values(kube_config: ClusterConfig) -> None:
    with blocking.Client(kube_config) as client:
        secrets = client.core_v1.secrets("default")
        secrets.apply(Secret.from_dict(secret()))
        with pytest.raises(ApiError) as caught:
            secrets.patch("web", {"data": {"x": PASSWORD}}, type="merge")

    assert not [value for value in VALUES if value in texts_of(caught.value)]
