"""Random histories of concurrent edits, compared with a model of the allowed results."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeloop.clients import APIClient, ResourceClient
from kubeloop.clients.object_patch import merge_rules
from kubeloop.clients.three_way_merge import merge_changes
from kubeloop.config import ClusterConfig
from kubeloop.errors import Conflict
from kubeloop_testing.server.service import Service
from tests.support.clocks import FastClock

Flat = dict[str, str | None]  # a field, and its value or that it has none

_FIELDS = ["data a", "data b", "label a", "label b", "finalizer a", "finalizer b"]
_KEEP = "example.com/keep"  # so that no map or list becomes empty, which would be a change of it


class Edit(msgspec.Struct, frozen=True):
    """What one editor does between its read and its write."""

    changes: Flat
    strict: bool


class Step(msgspec.Struct, frozen=True):
    """An editor reads, or ends its block."""

    editor: int
    ends: bool


_edits = st.builds(
    Edit,
    changes=st.dictionaries(
        st.sampled_from(_FIELDS), st.sampled_from(["1", "2", None]), max_size=3
    ),
    strict=st.booleans(),
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Edit], list[Step]]:
    edits = draw(st.lists(_edits, min_size=1, max_size=5))
    steps = [Step(number, ends) for number in range(len(edits)) for ends in (False, True)]
    order = draw(st.permutations(steps))
    # Of the two steps of an editor, the first one in the order is its read.
    seen: set[int] = set()
    history = []
    for step in order:
        history.append(Step(step.editor, step.editor in seen))
        seen.add(step.editor)
    return edits, history


class Model:
    """The state of the object: fields with values, and a version."""

    def __init__(self) -> None:
        self.fields: Flat = dict.fromkeys(_FIELDS)
        self.version = 0
        self._read: dict[int, tuple[Flat, int]] = {}

    def read(self, editor: int) -> None:
        self._read[editor] = (dict(self.fields), self.version)

    def end(self, editor: int, edit: Edit) -> bool:
        """Whether the edit has to succeed; if so, it is made."""
        read, version = self._read[editor]
        changed = {field for field, value in edit.changes.items() if read[field] != value}
        if not changed:
            return True
        if edit.strict and version != self.version:
            return False
        if any(self.fields[field] != read[field] for field in changed):
            return False
        self.fields |= {field: edit.changes[field] for field in changed}
        self.version += 1
        return True


def make(document: dict[str, Any], changes: Flat) -> None:
    """Make the changes in an object, as a block does."""
    metadata = document["metadata"]
    for field, value in changes.items():
        kind, name = field.split()
        if kind == "finalizer":
            # An existing one keeps its position: another order is a change, too.
            finalizer, there = f"example.com/{name}", metadata["finalizers"]
            if value is None and finalizer in there:
                there.remove(finalizer)
            if value is not None and finalizer not in there:
                there.append(finalizer)
            continue
        place = document["data"] if kind == "data" else metadata["labels"]
        place.pop(name, None)
        if value is not None:
            place[name] = value


def flat(document: dict[str, Any]) -> Flat:
    found: Flat = {}
    for field in _FIELDS:
        kind, name = field.split()
        if kind == "finalizer":
            there = f"example.com/{name}" in document["metadata"]["finalizers"]
            found[field] = "1" if there else None
        else:
            place = document["data"] if kind == "data" else document["metadata"]["labels"]
            found[field] = place.get(name)
    return found


def an_object() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "labels": {"keep": "x"}, "finalizers": [_KEEP]},
        "data": {"keep": "x"},
    }


def plain(edit: Edit) -> Edit:
    """A finalizer is there or not; it has no value."""
    changes = {
        field: "1" if value and field.startswith("finalizer") else value
        for field, value in edit.changes.items()
    }
    return Edit(changes, edit.strict)


@given(histories())
def test_the_overlaps_of_two_changes_are_those_of_the_model(
    history: tuple[list[Edit], list[Step]],
) -> None:
    edits, steps = history
    model, now = Model(), an_object()
    read: dict[int, dict[str, Any]] = {}
    for step in steps:
        edit = Edit(plain(edits[step.editor]).changes, strict=False)
        if not step.ends:
            model.read(step.editor)
            read[step.editor] = msgspec.json.decode(msgspec.json.encode(now))
            continue
        mine = msgspec.json.decode(msgspec.json.encode(read[step.editor]))
        make(mine, edit.changes)
        merged = merge_changes(read[step.editor], mine, now, merge_rules(now, None))
        assert (not merged.overlaps) == model.end(step.editor, edit)
        if not merged.overlaps:
            now = merged.document
    assert flat(now) == model.fields


@settings(max_examples=25, deadline=None)
@given(histories())
def test_what_is_stored_is_the_serial_application_of_the_edits_that_succeeded(
    history: tuple[list[Edit], list[Step]],
) -> None:
    asyncio.run(_play(*history))


async def _play(edits: list[Edit], steps: list[Step]) -> None:
    async with (
        Service() as server,
        APIClient(ClusterConfig(server=server.url), clock=FastClock()) as client,
    ):
        maps = client.resource("v1", "ConfigMap")
        await maps.create(an_object())
        model = Model()
        tasks: dict[int, tuple[asyncio.Event, asyncio.Task[bool]]] = {}
        for step in steps:
            edit = plain(edits[step.editor])
            if not step.ends:
                read, end = asyncio.Event(), asyncio.Event()
                task = asyncio.create_task(_edit(maps, edit, read, end))
                tasks[step.editor] = (end, task)
                await read.wait()
                model.read(step.editor)
                continue
            end, task = tasks[step.editor]
            end.set()
            assert await task == model.end(step.editor, edit)
        assert flat(await maps.get("a")) == model.fields


async def _edit(
    maps: ResourceClient[dict[str, Any]], edit: Edit, read: asyncio.Event, end: asyncio.Event
) -> bool:
    """Whether the edit was reported as done."""
    try:
        async with maps.edit("a", strict=edit.strict) as found:
            read.set()
            await end.wait()
            make(found, edit.changes)
    except Conflict:
        return False
    return True
