"""Lists the public names of kubeloop, as `tests/public_names.txt` keeps them.

Promises: one name a line, sorted; a name is public when the `__all__` of a room's
door holds it. Of the generated models only the group versions' modules are
listed: what is in them is the API's surface, not ours.
Elsewhere: the comparison is `tests/test_public_names.py`.
"""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["doors", "promised", "public_names"]

PACKAGE = "kubeloop"
MODELS = "kubeloop.wire"


def public_names() -> list[str]:
    """Every public name of the package, in full."""
    names = {f"{door.__name__}.{name}" for door in doors() for name in promised(door)}
    return sorted(names | set(group_versions()))


def doors() -> list[ModuleType]:
    """The front door and the door of each room that exists today."""
    front = import_module(PACKAGE)
    return [front, *(import_module(name) for name, _ in children(front))]


def promised(door: ModuleType) -> list[str]:
    names: list[str] = getattr(door, "__all__", [])
    return names


def group_versions() -> Iterator[str]:
    """The modules of generated models, as `kubeloop.wire.<group>.<version>`, not imported."""
    if MODELS not in {door.__name__ for door in doors()}:
        return
    for group, is_package in children(import_module(MODELS)):
        if is_package:
            yield from (version for version, _ in children(import_module(group)))


def children(parent: ModuleType) -> Iterator[tuple[str, bool]]:
    """The public modules right below `parent`, and whether each is a package."""
    for found in pkgutil.iter_modules(parent.__path__):
        if not found.name.startswith("_"):
            yield f"{parent.__name__}.{found.name}", found.ispkg


if __name__ == "__main__":
    text = "".join(f"{name}\n" for name in public_names())
    Path(sys.argv[1]).write_text(text, encoding="utf-8")
