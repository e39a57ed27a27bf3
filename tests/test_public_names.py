"""The public surface changes only where a review can see it."""

from __future__ import annotations

import difflib
from pathlib import Path
from types import ModuleType

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


@pytest.mark.parametrize("door", doors(), ids=lambda door: door.__name__)
def test_a_door_promises_each_name_once_and_no_private_one(door: ModuleType) -> None:
    names = promised(door)

    assert len(names) == len(set(names))
    assert [name for name in names if name.startswith("_") and name != "__version__"] == []
