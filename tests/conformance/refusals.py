"""Requests that are refused, as rows of a table: what is sent, and what the Status says.

Elsewhere: what the rows speak about (`scene`).
"""

from __future__ import annotations

from typing import Any, final

import msgspec
import pytest

from tests.conformance.caller import Caller, Reply

__all__ = ["Refused", "check", "rows"]


@final
class Refused(msgspec.Struct, frozen=True):
    """One request and its refusal; `{ns}` stands for the namespace wherever it may appear.

    `about` is the Status' details without the causes. `says` is a part of the message.
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


def rows(*table: Refused) -> pytest.MarkDecorator:
    """Parametrizes a test with a table, one case for each row."""
    cases = [pytest.param(row, id=row.title.replace(" ", "-")) for row in table]
    return pytest.mark.parametrize("row", cases)


async def send(api: Caller, row: Refused) -> Reply:
    return await api(row.method, row.path, row.body, query=row.query, headers=row.headers)


async def check(api: Caller, row: Refused) -> None:
    """Send the request of a row and compare the answer."""
    reply = await send(api, row)
    assert reply.code == row.code, reply
    if not row.reason:
        return  # no Status is promised here
    about = {name: _filled(value, api) for name, value in row.about.items()}
    details = {name: value for name, value in reply.details.items() if name != "causes"}
    assert reply.body["kind"] == "Status", reply
    assert reply.body["status"] == "Failure"
    assert reply.reason == row.reason, reply
    assert details == about, reply
    assert reply.causes == sorted(row.causes), reply
    assert _filled(row.says, api) in reply.message, reply
    assert reply.body["code"] == row.code


def _filled(value: Any, api: Caller) -> Any:
    return value.replace("{ns}", api.namespace) if isinstance(value, str) else value
