"""Requests that are rejected, as rows of a table: the request, and the expected Status.

See also: the objects that the rows refer to (`sample_cluster`).
"""

from __future__ import annotations

from typing import Any, final

import msgspec
import pytest

from tests.conformance.raw_client import RawClient, Response

__all__ = ["Rejected", "check", "rows"]


@final
class Rejected(msgspec.Struct, frozen=True):
    """One request and its rejection; `{ns}` is replaced by the namespace.

    `about` is `details` of the Status without the causes. `says` is a part of its message.
    """

    title: str
    method: str
    path: str
    body: Any = None
    query: dict[str, Any] = {}
    headers: dict[str, str] = {}
    code: int = 0
    reason: str = ""
    about: dict[str, Any] = {}
    causes: list[tuple[str, str]] = []
    says: str = ""


def rows(*table: Rejected) -> pytest.MarkDecorator:
    """Parametrizes a test with a table, one case for each row."""
    cases = [pytest.param(row, id=row.title.replace(" ", "-")) for row in table]
    return pytest.mark.parametrize("row", cases)


async def send(api: RawClient, row: Rejected) -> Response:
    return await api(row.method, row.path, row.body, query=row.query, headers=row.headers)


async def check(api: RawClient, row: Rejected) -> None:
    """Send the request of a row and compare the response."""
    reply = await send(api, row)
    assert reply.code == row.code, reply
    if not row.reason:
        return  # the response need not be a Status
    about = {name: _with_namespace(value, api) for name, value in row.about.items()}
    details = {name: value for name, value in reply.details.items() if name != "causes"}
    assert reply.body["kind"] == "Status", reply
    assert reply.body["status"] == "Failure"
    assert reply.reason == row.reason, reply
    assert details == about, reply
    assert reply.causes == sorted(row.causes), reply
    assert _with_namespace(row.says, api) in reply.message, reply
    assert reply.body["code"] == row.code


def _with_namespace(value: Any, api: RawClient) -> Any:
    return value.replace("{ns}", api.namespace) if isinstance(value, str) else value
