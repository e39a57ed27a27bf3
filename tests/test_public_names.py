"""The public surface changes only where a review can see it."""

from __future__ import annotations

import difflib
from inspect import getattr_static
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from public_names import doors, promised, public_names

GOLDEN = Path(__file__).with_name("public_names.txt")


def test_the_public_names_are_those_of_the_golden_file() -> None:
    accepted = GOLDEN.read_text(encoding="utf-8").splitlines()

    found = public_names()

    changes = difflib.unified_diff(accepted, found, "accepted", "found", lineterm="", n=0)
    assert accepted == found, "\n".join(
        ["the public names have changed (to accept them: make names)", *changes]
    )


@pytest.mark.parametrize("door", doors(), ids=lambda door: door.__name__)
def test_every_name_a_door_promises_is_behind_it(door: ModuleType) -> None:
    missing = [name for name in promised(door) if not hasattr(door, name)]

    assert missing == []


def test_has_synced_is_a_property_of_every_public_class_that_has_it() -> None:
    """A method would make `if thing.has_synced:` always true."""
    classes = {
        found
        for door in doors()
        for found in (getattr(door, name) for name in promised(door))
        if isinstance(found, type) and hasattr(found, "has_synced")
    }
    readable = [
        isinstance(getattr_static(found, "has_synced"), property)
        or (issubclass(found, msgspec.Struct) and "has_synced" in found.__struct_fields__)
        for found in classes
    ]

    assert len(classes) > 5
    assert all(readable), sorted(map(repr, classes))


@pytest.mark.parametrize("door", doors(), ids=lambda door: door.__name__)
def test_a_door_promises_each_name_once_and_no_private_one(door: ModuleType) -> None:
    names = promised(door)

    assert len(names) == len(set(names))
    assert [name for name in names if name.startswith("_") and name != "__version__"] == []
