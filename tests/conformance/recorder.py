"""Cases of requests whose responses are recorded from kube-apiserver.

A case is a list of requests in a new namespace. `python -m tests.conformance` sends the cases to
kube-apiserver and writes the responses to `recordings/`; `test_recorded.py` sends them to the
server of the run, and compares field by field.
Guarantees: what differs from run to run (uids, times, versions, allocated addresses) is masked,
and nothing else: sentences, causes and warnings are compared word by word. Where kube-apiserver
iterates over a Go map, the order of causes and warnings is random; then `order` is "any". A
response that varies otherwise is recorded as null, and not compared.
See also: the cases (`cases/`), sending requests (`raw_client`).
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
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
    "in_any_order",
    "like",
    "read_recordings",
    "respond",
    "write_recordings",
]

# Method, path, body and, optionally, headers. `{ns}` stands for the namespace of the case. The
# method WAIT repeats a GET until it returns 200 and, with a body, until every dotted path in it
# has its value; nothing is recorded.
Step: TypeAlias = tuple[Any, ...]
Cases: TypeAlias = dict[str, list[Step]]
Mask: TypeAlias = Callable[[str], str]

HERE: Final = Path(__file__).parent
AREAS: Final = sorted(
    path.stem for path in (HERE / "cases").glob("*.py") if not path.stem.startswith("_")
)

_SUFFIX: Final = "bcdfghjklmnpqrstvwxz2456789"  # of a generated name
_WAIT_TIMEOUT = 15.0  # seconds
# Values that a server chooses freely, by the names of their fields.
_CHOSEN: Final = frozenset({"clusterIP", "nodePort", "healthCheckNodePort"})
# What a text may contain that differs from run to run, and what is recorded instead.
_RANDOM: Final = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z(?!07:00)"), "{time}"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "{uid}"),
    (re.compile(r"0xc[0-9a-f]{7,}"), "{address}"),  # of a value in a Go process
    (re.compile(r"(?<=current: )\d+"), "{version}"),
    (re.compile(r"(?<=resourceVersion\\\":\\\")\d+"), "{version}"),  # in a quoted object
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
        found.append(_recorded(reply, _mask(namespace, body)))
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


def _recorded(reply: Response, mask: Mask) -> dict[str, Any]:
    media = JSON if reply.is_protobuf else reply.headers.get("Content-Type", "")
    found: dict[str, Any] = {"code": reply.code, "type": media}
    if reply.warnings:
        found["warnings"] = [mask(text) for text in reply.warnings]
    try:
        body = reply.body
    except msgspec.DecodeError:
        return {**found, "text": mask(reply.raw.decode(errors="replace"))}
    return {**found, "body": _masked(body, mask)}


def like(response: Any, expected: Any) -> Any:
    """A response with only what is compared with the recorded one."""
    if expected is None:
        return None
    return in_any_order(response) if expected.get("order") else response


def in_any_order(response: Any) -> Any:
    """A response whose causes and warnings are sorted, with those in its message."""
    if response.get("order"):
        return response
    found = {**response, "order": "any"}
    if "warnings" in found:
        found["warnings"] = sorted(found["warnings"])
    body = found.get("body")
    if isinstance(body, dict) and body.get("kind") == "Status":
        body = {**body, "message": sorted(re.split(r", |: \[|\]$", body.get("message", "")))}
        details = body.get("details") or {}
        if "causes" in details:
            causes = sorted(details["causes"], key=_as_text)
            body["details"] = {**details, "causes": causes}
        found["body"] = body
    return found


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


def _masked(value: Any, mask: Mask, name: str = "") -> Any:
    if isinstance(value, dict):
        return {mask(key): _masked(each, mask, key) for key, each in value.items()}
    if isinstance(value, list):
        inner = name.removesuffix("s") if name == "clusterIPs" else ""
        found = [_masked(each, mask, inner) for each in value]
        # Owners are ordered by the second of their write, which may or may not be the same.
        return sorted(found, key=_as_text) if name == "managedFields" else found
    if name == "resourceVersion" and value:
        return "{version}"
    if name == "description" and isinstance(value, str):
        return "{text}"
    if name in _CHOSEN and value not in ("", "None", 0):
        return "{chosen}"
    return mask(value) if isinstance(value, str) else value


def _mask(namespace: str, body: Any) -> Mask:
    """Masks what differs from run to run in the texts of the response to a request."""
    meta = body.get("metadata") if isinstance(body, dict) else None
    prefix = meta.get("generateName") if isinstance(meta, dict) else None
    generated = [
        re.compile(re.escape(start) + f"[{_SUFFIX}]{{5}}")
        for start in ((prefix[:58], json.dumps(prefix[:58])[1:-1]) if prefix else ())
    ]

    def mask(text: str) -> str:
        text = text.replace(namespace, "{ns}")
        for pattern, placeholder in _RANDOM:
            text = pattern.sub(placeholder, text)
        # After the uids, which may contain what looks like a generated name.
        for pattern in generated:
            text = pattern.sub("{generated}", text)
        return text

    return mask


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
