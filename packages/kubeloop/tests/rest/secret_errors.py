"""Requests that make a Secret invalid, and what kube-apiserver responds to them.

`python -m tests.rest.secret_errors` starts kube-apiserver, sends the requests and records its
responses into `secret_errors.json`.
"""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any, NamedTuple

from kubeloop.errors import ApiError
from kubeloop.rest import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    RequestSender,
    path_request,
)

RECORDED = Path(__file__).with_suffix(".json")

PASSWORD = "hunter2 s3cret}])"  # with what ends a map, a struct and a parenthesis
STORED = base64.b64encode(b"hunter2 stored").decode()  # is in no request but the first
SENT = base64.b64encode(PASSWORD.encode()).decode()
VALUES = (PASSWORD, STORED, SENT, "hunter2", SENT[:8], STORED[:8])

FOLDER = "/api/v1/namespaces/default/secrets"
OBJECT = f"{FOLDER}/web"


class Case(NamedTuple):
    method: str
    body: Any
    content_type: str = "application/json"
    field_validation: str = ""

    @property
    def path(self) -> str:
        return FOLDER if self.method == "POST" else OBJECT


def secret(name: str = "web", **fields: Any) -> dict[str, Any]:
    whole = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
    return {**whole, "data": {"password": STORED}, **fields}


def patches(*bodies: Any, content_type: str) -> list[Case]:
    return [Case("PATCH", body, content_type) for body in bodies]


CASES = [
    *patches(
        {"data": {"x": 5}},
        {"data": {"x": PASSWORD}},
        {"data": PASSWORD},
        {"stringData": {"x": [PASSWORD]}},
        {"immutable": PASSWORD},
        {"metadata": {"labels": {"a": 5}}},
        {"metadata": {"annotations": {"a": [PASSWORD]}}},
        {"type": 5},
        [PASSWORD],
        content_type=MERGE_PATCH,
    ),
    *patches(
        {"data": {"x": 5}},
        {"data": {"x": PASSWORD}},
        {"data": PASSWORD},
        {"stringData": {"x": [PASSWORD]}},
        {"$patch": PASSWORD},
        {"data": {"$patch": PASSWORD}},
        content_type=STRATEGIC_MERGE_PATCH,
    ),
    *patches(
        [{"op": "replace", "path": "/data", "value": PASSWORD}],
        [{"op": "replace", "path": "/data/password", "value": PASSWORD}],
        [{"op": "add", "path": "/data/x", "value": 5}],
        [{"op": "test", "path": "/data/password", "value": PASSWORD}],
        content_type=JSON_PATCH,
    ),
    *patches(
        secret(data={"x": 5}),
        secret(data={"x": PASSWORD}),
        secret(data=PASSWORD),
        secret(stringData=[PASSWORD]),
        secret(stringData={"x": {"y": PASSWORD}}),
        content_type=APPLY_PATCH,
    ),
    Case("POST", secret("new", data={"x": PASSWORD})),
    Case("POST", secret("new", stringData={"x": [PASSWORD]})),
    Case("POST", secret("new", unknown=PASSWORD), field_validation="Strict"),
    Case(
        "POST",
        secret("new", type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": SENT}),
    ),
    Case("POST", b'{"data":{"x":"' + SENT.encode() + b'"}'),
    Case("POST", b"k8s\0" + PASSWORD.encode(), "application/vnd.kubernetes.protobuf"),
    Case("PUT", secret(data={"x": PASSWORD})),
    Case("PUT", secret(type="another")),
]


async def send(rest: RequestSender, case: Case) -> ApiError:
    """The error for a case."""
    params = {"fieldManager": "test"} if case.method == "PATCH" else {}
    if case.field_validation:
        params["fieldValidation"] = case.field_validation
    body = case.body if isinstance(case.body, bytes) else json.dumps(case.body).encode()
    request = path_request(
        case.method, case.path, params=params, body=body, content_type=case.content_type
    )
    try:
        await rest.send(request)
    except ApiError as error:
        return error
    raise AssertionError(f"the server accepted {case}")


async def record() -> None:
    from kubeloop_testing import ControlPlane

    async with ControlPlane() as plane, plane.client() as client:
        created = path_request("POST", FOLDER, body=json.dumps(secret()).encode())
        await client.rest.send(created)
        found = [(await send(client.rest, case)).status.to_dict() for case in CASES]
    lines = ",\n".join(json.dumps(status, sort_keys=True) for status in found)
    RECORDED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(record())
