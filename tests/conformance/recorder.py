"""Cases of requests whose responses are recorded from kube-apiserver.

A case is a list of requests in a new namespace. `python -m tests.conformance` sends the cases to
kube-apiserver and writes the responses to `recordings/`; `test_recorded.py` sends them to the
server of the run, and compares field by field.
Guarantees: what differs from run to run (uids, times, versions, allocated addresses) is masked;
sentences of messages are not recorded, only their fixed parts.
See also: the cases (`cases/`), sending requests (`raw_client`).
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from tests.conformance.raw_client import JSON, RawClient, Response

__all__ = [
    "AREAS",
    "Cases",
    "Step",
    "as_in_protobuf",
    "cases_of",
    "read_recordings",
    "respond",
    "write_recordings",
]

# Method, path, body and, optionally, headers. `{ns}` stands for the namespace of the case. The
# method WAIT repeats a GET until it returns 200 and, with a body, until every dotted path in it
# has its value; nothing is recorded.
Step: TypeAlias = tuple[Any, ...]
Cases: TypeAlias = dict[str, list[Step]]

HERE: Final = Path(__file__).parent
AREAS: Final = sorted(
    path.stem for path in (HERE / "cases").glob("*.py") if not path.stem.startswith("_")
)

_WAIT_TIMEOUT = 15.0  # seconds
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Values that a server chooses freely, by the names of their fields.
_CHOSEN: Final = frozenset({"clusterIP", "nodePort", "healthCheckNodePort"})
# The messages of these reasons contain sentences of kube-apiserver.
_WORDED: Final = frozenset({"BadRequest", "Invalid", "NotAcceptable", "UnsupportedMediaType", ""})
# The fixed beginning of the message of a cause; its sentence follows. Objects and lists are
# not recorded, because kube-apiserver writes them with the names of Go fields.
_CAUSE = re.compile(
    r"Required value|Forbidden|Internal error|Too long"
    r"|(?:Invalid|Duplicate|Unsupported) value(?:: (?!null)(?:\"(?:[^\"\\]|\\.)*\"|[^:\"{\[ ]+(?=:|$)))?"
    r"|Not found(?:: (?:\"(?:[^\"\\]|\\.)*\"|[^:\"{\[ ]+(?=:|$)))?|Too many: [^:]+"
)


def cases_of(area: str) -> Cases:
    """The cases of one module in `cases/`."""
    found: Cases = importlib.import_module(f"tests.conformance.cases.{area}").CASES
    return found


async def respond(client: RawClient, steps: Iterable[Step]) -> list[Any]:
    """Send the requests of a case in a new namespace, and return the masked responses."""
    namespace = f"t-{uuid.uuid4().hex[:8]}"
    client = client.in_namespace(namespace)
    await client.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    found = []
    for method, path, body, *headers in steps:
        if isinstance(body, str):
            raw: bytes | None = body.encode()
        else:
            raw = None if body is None else json.dumps(body).encode()
        raw = raw and raw.replace(b"{ns}", namespace.encode())
        if method == "WAIT":
            await _wait(client, path, json.loads(raw) if raw else {})
            continue
        reply = await client(method, path, raw, headers=dict(*headers))
        found.append(_recorded(reply, namespace))
    await client("DELETE", "/api/v1/namespaces/{ns}")
    return found


async def _wait(client: RawClient, path: str, expected: Mapping[str, Any]) -> None:
    async with asyncio.timeout(_WAIT_TIMEOUT):
        while True:
            reply = await client.get(path)
            if reply.code == 200 and all(
                _value_at(reply.body, at) == value for at, value in expected.items()
            ):
                return
            await asyncio.sleep(0.05)


def _value_at(value: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(value, list):
            value = value[int(name)] if int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value


def _recorded(reply: Response, namespace: str) -> dict[str, Any]:
    media = JSON if reply.is_protobuf else reply.headers.get("Content-Type", "")
    found: dict[str, Any] = {"code": reply.code, "type": media}
    if reply.warnings:
        found["warnings"] = len(reply.warnings)
    try:
        body = reply.body
    except msgspec.DecodeError:
        return {**found, "text": _masked_text(reply.raw.decode(errors="replace"), namespace)}
    if isinstance(body, dict) and body.get("kind") == "Status":
        body = _without_sentences(body)
    return {**found, "body": _masked(body, namespace)}


def as_in_protobuf(value: Any, name: str = "") -> Any:
    """A value as it is in protobuf.

    It has no empty lists, objects and nulls, and no types of objects within others.
    """
    if name == "fieldsV1":
        return value  # JSON in both formats
    if isinstance(value, dict):
        found = {key: as_in_protobuf(each, key) for key, each in value.items()}
        absent = {"kind", "apiVersion"} if name == "volumeClaimTemplates" else ()
        return {k: v for k, v in found.items() if v not in (None, [], {}) and k not in absent}
    return [as_in_protobuf(each, name) for each in value] if isinstance(value, list) else value


def _without_sentences(status: dict[str, Any]) -> dict[str, Any]:
    """A Status with the fixed parts of its messages; the causes are sorted."""
    if status.get("reason", "") in _WORDED and status.get("status") == "Failure":
        head, found, _ = status.get("message", "").partition(" is invalid: ")
        status = {**status, "message": head + found if found else ""}
    elif status.get("reason") == "Forbidden":
        # What an admission plugin says is a sentence; what RBAC says is fixed.
        head, found, why = status.get("message", "").partition(" is forbidden: ")
        if found and not why.startswith("User "):
            status = {**status, "message": head + found}
    details = status.get("details") or {}
    if not details.get("causes"):
        return status
    # Causes that differ only in their sentences are one.
    causes = {
        json.dumps([cause.get("field"), {**cause, "message": fixed}], sort_keys=True)
        for cause in details["causes"]
        for fixed in [_fixed_part(cause.get("message", ""))]
    }
    found = [json.loads(each)[1] for each in sorted(causes)]
    return {**status, "details": {**details, "causes": found}}


def _fixed_part(message: str) -> str:
    match = _CAUSE.match(message)
    return match[0] if match else ""


def _masked(value: Any, namespace: str, name: str = "") -> Any:
    if isinstance(value, dict):
        if value.keys() >= {"type", "status", "message"}:
            value = {**value, "message": "{text}"}  # of a condition
        return {
            _masked_text(key, namespace): _masked(each, namespace, key)
            for key, each in value.items()
        }
    if isinstance(value, list):
        inner = name.removesuffix("s") if name == "clusterIPs" else ""
        found = [_masked(each, namespace, inner) for each in value]
        # Owners are ordered by the second of their write, which may or may not be the same.
        return sorted(found, key=_as_text) if name == "managedFields" else found
    if name == "resourceVersion" and value:
        return "{version}"
    if name == "description" and isinstance(value, str):
        return "{text}"
    if name in _CHOSEN and value not in ("", "None", 0):
        return "{chosen}"
    return _masked_text(value, namespace) if isinstance(value, str) else value


def _masked_text(text: str, namespace: str) -> str:
    return _UID.sub("{uid}", _TIME.sub("{time}", text.replace(namespace, "{ns}")))


# --- files


def read_recordings(area: str) -> dict[str, Any]:
    """The recorded responses by the names of the cases; empty if nothing was recorded."""
    path = HERE / "recordings" / f"{area}.json"
    found: dict[str, Any] = msgspec.json.decode(path.read_bytes()) if path.exists() else {}
    return {name: _with_sorted_owners(responses) for name, responses in found.items()}


def _with_sorted_owners(value: Any, name: str = "") -> Any:
    """Recordings of before the owners were sorted."""
    if isinstance(value, dict):
        return {key: _with_sorted_owners(each, key) for key, each in value.items()}
    if isinstance(value, list):
        found = [_with_sorted_owners(each) for each in value]
        return sorted(found, key=_as_text) if name == "managedFields" else found
    return value


def _as_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def write_recordings(area: str, responses: Mapping[str, Any]) -> None:
    """Write the responses of an area, one line for each response."""
    lines = []
    for name, found in sorted(responses.items()):
        each = ",\n  ".join(json.dumps(one, sort_keys=True, ensure_ascii=False) for one in found)
        lines.append(f"{json.dumps(name, ensure_ascii=False)}: [\n  {each}\n]")
    path = HERE / "recordings" / f"{area}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
