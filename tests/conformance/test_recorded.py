"""The server's responses are those recorded from kube-apiserver, field by field."""

from __future__ import annotations

import pytest

from tests.conformance.differences import RECORDED_DIFFERENCES
from tests.conformance.raw_client import RawClient
from tests.conformance.recorder import (
    AREAS,
    as_in_protobuf,
    cases_of,
    like,
    read_recordings,
    respond,
)

_CASES = [(area, name) for area in AREAS for name in cases_of(area)]


@pytest.mark.parametrize(("area", "name"), _CASES, ids=[f"{area}: {name}" for area, name in _CASES])
async def test_the_responses_are_those_of_kube_apiserver(
    api: RawClient, format_: str, area: str, name: str
) -> None:
    recorded = read_recordings(area)
    assert name in recorded, f"not recorded yet: run `make record ARGS={area}`"

    responses = await respond(api, cases_of(area)[name])
    responses = [like(*pair) for pair in zip(responses, recorded[name], strict=True)]

    if format_ == "json":
        assert responses == recorded[name]
    else:
        assert as_in_protobuf(responses) == as_in_protobuf(recorded[name])


async def test_nothing_is_recorded_without_its_case() -> None:
    for area in AREAS:
        assert read_recordings(area).keys() <= cases_of(area).keys(), area


async def test_every_recorded_difference_is_a_case() -> None:
    names = {f"{area}: {name}" for area, name in _CASES}

    assert RECORDED_DIFFERENCES.keys() <= names
