"""Changes of the public names are visible in a review."""

from __future__ import annotations

import difflib
from inspect import getattr_static
from types import ModuleType

import msgspec
import pytest
from public_names import FILES, exported_names, packages, public_names

PACKAGES = [package for root in FILES for package in packages(root)]


@pytest.mark.parametrize("root", FILES)
def test_the_public_names_are_those_of_the_golden_file(root: str) -> None:
    accepted = FILES[root].read_text(encoding="utf-8").splitlines()

    exported = public_names(root)

    changes = difflib.unified_diff(accepted, exported, "accepted", "exported", lineterm="", n=0)
    assert accepted == exported, "\n".join(
        ["the public names have changed (to accept them: make names)", *changes]
    )


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_exported_name_exists(package: ModuleType) -> None:
    missing = [name for name in exported_names(package) if not hasattr(package, name)]

    assert missing == []


def test_has_synced_is_a_property_of_every_public_class_that_has_it() -> None:
    """With a method, `if informer.has_synced:` would always be true."""
    classes = {
        found
        for package in PACKAGES
        for found in (getattr(package, name) for name in exported_names(package))
        if isinstance(found, type) and hasattr(found, "has_synced")
    }
    readable = [
        isinstance(getattr_static(found, "has_synced"), property)
        or (issubclass(found, msgspec.Struct) and "has_synced" in found.__struct_fields__)
        for found in classes
    ]

    assert len(classes) > 8
    assert all(readable), sorted(map(repr, classes))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_a_package_exports_each_name_once_and_no_private_one(package: ModuleType) -> None:
    names = exported_names(package)

    assert len(names) == len(set(names))
    assert [name for name in names if name.startswith("_") and name != "__version__"] == []
