"""Invariants of server-side apply, for histories of several managers."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.apply.fieldsets import EMPTY, FieldSet
from kubeloop_testing.server.apply.managers import read_managers
from kubeloop_testing.server.apply.object_fields import compare, fields_of
from kubeloop_testing.server.apply.shapes import shape_of
from tests.testing.server.apply_helpers import (
    KINDS,
    LATER,
    Object,
    apply,
    config,
    entries,
    obj,
    owners,
    track,
)

# --- invariants; no value is empty, because an empty list or map does not change a full one

keys = st.sampled_from(["a", "b", "c"])
texts = st.sampled_from(["1", "2"])
maps = st.dictionaries(keys, texts, min_size=1, max_size=3)


def named(**optional: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Object]]:
    """Lists of objects with names, each name once."""
    thing: st.SearchStrategy[Object] = st.fixed_dictionaries({}, optional=optional)
    return st.dictionaries(keys, thing, min_size=1, max_size=3).map(
        lambda found: [{"name": name, **fields} for name, fields in found.items()]
    )


containers = named(
    image=texts,
    args=st.lists(texts, min_size=1, max_size=2),
    env=named(value=texts),
    resources=maps.map(lambda found: {"limits": found}),
)
bodies = st.builds(
    lambda metadata, spec: obj("Pod", metadata=metadata, **({"spec": spec} if spec else {})),
    st.fixed_dictionaries(
        {},
        optional={
            "labels": maps,
            "finalizers": st.lists(keys, min_size=1, unique=True),
        },
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "containers": containers,
            "hostname": texts,
            "nodeSelector": maps,
        },
    ),
)
steps = st.lists(
    st.tuples(st.sampled_from(["one", "two", "me"]), st.booleans(), bodies), max_size=4
)
POD = shape_of(KINDS["Pod"][1], api_version="v1", kind="Pod")


def after_steps(history: list[tuple[str, bool, Object]]) -> Object | None:
    """An object after several managers have applied and updated it."""
    live: Object | None = None
    for manager, applying, body in history:
        live = apply(live, body, manager, force=True) if applying else track(live, body, manager)
    return live


def spec_of(value: Object) -> Object:
    return {"spec": value["spec"]} if "spec" in value else {}


def owned_by(of: Object, manager: str, operation: str) -> FieldSet:
    found = [
        FieldSet.parse(each["fieldsV1"])
        for each in entries(of)
        if (each["manager"], each["operation"]) == (manager, operation)
    ]
    return found[0] if found else EMPTY


@given(steps, bodies)
def test_applying_is_idempotent(history: list[tuple[str, bool, Object]], body: Object) -> None:
    once = apply(after_steps(history), body, force=True)

    assert apply(once, body, force=True, now=LATER) is once
    assert apply(once, body, force=False, now=LATER) is once


@given(steps, bodies)
def test_applied_fields_are_in_the_object_and_owned(
    history: list[tuple[str, bool, Object]], body: Object
) -> None:
    after = apply(after_steps(history), body, force=True)

    assert fields_of(body, POD) <= fields_of(after, POD)
    assert fields_of(spec_of(body), POD) <= owned_by(after, "me", "Apply")


@given(steps, bodies)
def test_after_force_no_other_manager_owns_what_changed(
    history: list[tuple[str, bool, Object]], body: Object
) -> None:
    live = after_steps(history)
    after = apply(live, body, force=True)

    taken = compare(spec_of(live or {}), spec_of(after), POD).new_values
    for each in entries(after):
        theirs = FieldSet.parse(each["fieldsV1"])
        assert (each["manager"], each["operation"]) == ("me", "Apply") or not theirs & taken
    # And the same apply by any other manager has no conflicts.
    assert apply(after, body, "another-manager").get("spec") == after.get("spec")


@given(bodies, bodies)
def test_an_empty_apply_removes_exactly_what_only_its_manager_owned(
    theirs: Object, mine: Object
) -> None:
    live = apply(apply(None, theirs, "other"), mine, force=True)
    kept = owned_by(live, "other", "Apply")

    after = apply(live, obj("Pod"))

    assert kept == owned_by(after, "other", "Apply")
    assert kept.leaves() <= fields_of(after, POD)
    assert fields_of(spec_of(after), POD) <= kept
    assert ("me", "Apply") not in owners(after)


@given(
    st.dictionaries(st.sampled_from(["a", "b"]), texts),
    st.dictionaries(st.sampled_from(["c", "d"]), texts),
)
def test_managers_of_different_fields_never_conflict(
    one: dict[str, str], two: dict[str, str]
) -> None:
    live = apply(None, config(**one), "one")
    both = apply(live, config(**two), "two")

    assert both.get("data") == {**one, **two}
    assert apply(apply(both, config(**one), "one"), config(**two), "two") is both


@given(steps)
def test_every_owned_path_exists_and_every_entry_is_well_formed(
    history: list[tuple[str, bool, Object]],
) -> None:
    live = after_steps(history)
    if live is None:
        return

    found = read_managers(entries(live))

    assert len(found) == len(entries(live))
    assert all(entry.fields for entry in found.values())
